"""What users may write against the Python interface: checked by mypy, never run.

A line that no longer type-checks is a change of the public interface.
"""

from __future__ import annotations

from typing import assert_type

import pipelined
from tooling.cli import main

assert_type(main(["check", "--format", "json"]), int)
assert_type(main(), int)
assert_type(pipelined.__all__, list[str])

config = pipelined.IPUConfig(
    layers_per_ipu=[1, -1], ipus_per_replica=2, execution=pipelined.Execution(schedule="gpipe")
)
assert_type(config.ipus_per_replica, int)
assert_type(config.layers_per_ipu, list[int])
assert_type(config.train(), pipelined.IPUConfig)
assert_type(config.batch_size_factor(for_inference=True), int)
assert_type(pipelined.IPUConfig.from_pretrained("folder"), pipelined.IPUConfig)
assert_type(pipelined.get_layer_ipu(config, 4), list[int])
assert_type(pipelined.split_encoder_decoder_ipu_config(config, 1, 1).encoder, pipelined.IPUConfig)
assert_type(pipelined.Placement(first=("embeddings",), layers=("encoder.layer",)).layers, tuple[str, ...])
