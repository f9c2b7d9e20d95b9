"""Where poptorch is installed its own blocks, checkpoints and options are used, and used as it wants them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent


def test_poptorchs_own_blocks_begin_in_order_and_none_is_left() -> None:
    layers = [[f"bert.encoder.layer.{index}", index // 2] for index in range(4)]

    assert with_poptorch("blocks") == {
        "poptorch's own": True,
        "equal": True,
        "begun": [["bert.embeddings", 0], *layers, ["cls", 0]],
        "kept": [1, 1, 1],
        "cut": [["OutputChannels", 4]],
        "left": [],
    }


def test_a_config_becomes_poptorchs_options() -> None:
    common = {
        "autoRoundNumIPUs": "True",
        "useOfflineIpuTarget": "",
        "enableExecutableCaching": "cache",
        "randomSeed": "0",
        "Precision.setPartialsType": "torch.float16",
        "_Popart.set.disableGradAccumulationTensorStreams": "True",
        "_Popart.set.accumulateOuterFragmentSettings.excludedVirtualGraphs": "['0']",
        "_Popart.set.outlineThreshold": "10.0",
        "_Popart.set.scheduleNonWeightUpdateGradientConsumersEarly": "True",
        "_Popart.set.engineOptions": "{'opt.useAutoloader': 'true', 'target.syncReplicasIndependently': 'true'}",
        "_Popart.set.accumulateOuterFragmentSettings.schedule": "3",
        "_Popart.set.subgraphCopyingStrategy": "1",
        "_Popart.setPatterns": (
            "{'TiedGather': True, 'TiedGatherAccumulate': True, 'UpdateInplacePrioritiesForIpu': True}"
        ),
    }

    assert with_poptorch("options") == [
        common
        | {
            "replicationFactor": "2",
            "deviceIterations": "3",
            "outputMode": "OutputMode.All",
            "setExecutionStrategy": "PipelinedExecution(AutoIncrement)",
            "setAvailableMemoryProportion": "{'IPU0': 0.1, 'IPU1': 0.3}",
            "Training.gradientAccumulation": "16",
            "Training.accumulationAndReplicationReductionType": "ReductionType.Mean",
            "Training.setAutomaticLossScaling": "True",
            "Precision.enableStochasticRounding": "True",
            "TensorLocations.setOptimizerLocation": "{'onChip': False, 'sharded': True}",
        },
        common
        | {
            "replicationFactor": "1",
            "deviceIterations": "5",
            "outputMode": "OutputMode.All",
            "setExecutionStrategy": "ShardedExecution(AutoIncrement)",
            "setAvailableMemoryProportion": "{'IPU0': 0.2}",
            "Precision.enableStochasticRounding": "False",
            "TensorLocations.setOptimizerLocation": "{'onChip': False, 'sharded': False}",
            "_Popart.set.enableExplicitIR": "True",
        },
    ]


def test_what_poptorch_cannot_do_here_is_said() -> None:
    assert with_poptorch("refusals") == [
        "RuntimeError: This requires an IPU Mk2 system to run; with compile_only=True it can be compiled here.",
        "NotImplementedError: execute_encoder_on_cpu_for_generation is not supported.",
        "Error: module has already been assigned to a block.",
    ]


def test_a_trainer_trains_and_evaluates_on_ipus_and_fetches_weights_before_they_are_read() -> None:
    compiled = [f"bert.encoder.layer.{index}" for index in range(2)]
    compile_both = f"compile for {['bert.embeddings', *compiled, 'bert.pooler', 'classifier']}"
    switches = ["detach", "attach"] * 6

    assert with_poptorch("trainer") == {
        "trainer": "PoptorchTrainer",
        "equal": True,
        "evaluated": True,
        "calls": ["trainingModel", compile_both, "detach", "inferenceModel", compile_both, *switches],
        "refused": (
            "a batch of 2 samples was to be evaluated, and the device computes 4 at once; evaluate a multiple of 4"
            " samples, or set dataloader_drop_last"
        ),
    }


def with_poptorch(what: str) -> Any:
    """What `with_poptorch.py` prints, in a process that finds the stand-in first."""
    path = os.pathsep.join([str(HERE / "sdk"), *filter(None, [os.environ.get("PYTHONPATH")])])
    ended = subprocess.run(
        [sys.executable, "-W", "ignore", str(HERE / "with_poptorch.py"), what],
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
    )
    assert ended.returncode == 0, ended.stderr
    return json.loads(ended.stdout.splitlines()[-1])
