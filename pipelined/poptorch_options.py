"""An `IPUConfig` as `poptorch.Options`: pipelined execution to train, sharded execution to infer."""

# ruff: noqa: FBT003 - that is how poptorch's options are set

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from pipelined.errors import PipelineError

if TYPE_CHECKING:
    from types import ModuleType

    from pipelined.config import IPUConfig

MK2_VERSIONS = (2, 21)

POPART_SETTINGS: dict[str, Any] = {
    # Only the tensors that the host needs are streamed back.
    "disableGradAccumulationTensorStreams": True,
    "accumulateOuterFragmentSettings.excludedVirtualGraphs": ["0"],
    "outlineThreshold": 10.0,
    "scheduleNonWeightUpdateGradientConsumersEarly": True,
    "engineOptions": {"opt.useAutoloader": "true", "target.syncReplicasIndependently": "true"},
}


def to_options(config: IPUConfig, *, for_inference: bool, compile_only: bool) -> Any:
    """These settings as `poptorch.Options`.

    PipelineError where poptorch is not installed, RuntimeError where there is no Mk2 IPU and not `compile_only`.
    """
    poptorch = _import("poptorch")
    if not compile_only and poptorch.ipuHardwareVersion() not in MK2_VERSIONS:
        raise RuntimeError("This requires an IPU Mk2 system to run; with compile_only=True it can be compiled here.")
    if config.execute_encoder_on_cpu_for_generation:
        raise NotImplementedError("execute_encoder_on_cpu_for_generation is not supported.")
    options = poptorch.Options()
    options.autoRoundNumIPUs(True)
    mode = config.mode
    try:
        if for_inference:
            _set_inference(options, config.eval(), poptorch)
        else:
            _set_training(options, config.train(), poptorch)
        _set_memory(options, config, poptorch)
    finally:
        config.mode = mode
    if config.seed is not None:
        options.randomSeed(config.seed)
    if compile_only:
        options.useOfflineIpuTarget()
    if config.executable_cache_dir not in ("", "disabled"):
        options.enableExecutableCaching(config.executable_cache_dir)
    _set_popart(options)
    return options


def _import(name: str) -> ModuleType:
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        raise PipelineError(
            f"{name} is not installed",
            hint="it comes with the Poplar SDK: install the wheel in its folder, not a package of that name on PyPI",
        ) from error


def _set_training(options: Any, config: IPUConfig, poptorch: ModuleType) -> None:
    options.replicationFactor(config.replication_factor)
    options.deviceIterations(config.device_iterations)
    options.outputMode(getattr(poptorch.OutputMode, config.output_mode.capitalize()))
    options.setExecutionStrategy(poptorch.PipelinedExecution(poptorch.AutoStage.AutoIncrement))
    options.Training.gradientAccumulation(config.gradient_accumulation_steps)
    # The loss is the mean of the means of micro-batches and replicas.
    options.Training.accumulationAndReplicationReductionType(poptorch.ReductionType.Mean)
    if config.auto_loss_scaling:
        options.Training.setAutomaticLossScaling(True)
    # Small updates to half precision weights survive only when they are rounded up now and then.
    options.Precision.enableStochasticRounding(True)


def _set_inference(options: Any, config: IPUConfig, poptorch: ModuleType) -> None:
    options.replicationFactor(config.inference_replication_factor)
    options.deviceIterations(config.inference_device_iterations)
    options.outputMode(poptorch.OutputMode.All)
    options.setExecutionStrategy(poptorch.ShardedExecution(poptorch.AutoStage.AutoIncrement))
    options.Precision.enableStochasticRounding(False)
    if config.explicit_ir_inference:
        options._Popart.set("enableExplicitIR", True)


def _set_memory(options: Any, config: IPUConfig, poptorch: ModuleType) -> None:
    """Where the optimizer's state lives, and how much of each IPU's memory is left for temporaries."""
    ipus = config._ipus_per_replica
    proportion = config._matmul_proportion
    shares = proportion if isinstance(proportion, list) else [proportion] * ipus
    options.setAvailableMemoryProportion({f"IPU{ipu}": share for ipu, share in enumerate(shares)})
    replicas = config.inference_replication_factor if config.mode == "inference" else config.replication_factor
    location = poptorch.TensorLocationSettings().useOnChipStorage(not config.optimizer_state_offchip)
    options.TensorLocations.setOptimizerLocation(
        location.useReplicatedTensorSharding(config.replicated_tensor_sharding and replicas > 1)
    )
    if config.enable_half_partials:
        import torch

        options.Precision.setPartialsType(torch.float16)


def _set_popart(options: Any) -> None:
    popart = _import("popart")
    for name, value in POPART_SETTINGS.items():
        options._Popart.set(name, value)
    overlap = popart.AccumulateOuterFragmentSchedule.OverlapMemoryOptimized
    options._Popart.set("accumulateOuterFragmentSettings.schedule", int(overlap))
    options._Popart.set("subgraphCopyingStrategy", int(popart.SubgraphCopyingStrategy.JustInTime))
    options._Popart.setPatterns(
        {"TiedGather": True, "TiedGatherAccumulate": True, "UpdateInplacePrioritiesForIpu": True}
    )
