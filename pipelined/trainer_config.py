"""The `IPUConfig` of a trainer, and what it and the `TrainingArguments` say about the same things."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

from pipelined.config import IPUConfig
from pipelined.errors import PipelineError


def config_for(given: IPUConfig | None, model: Any, args: Any) -> IPUConfig:
    """A config of the trainer's own, completed by the arguments; arguments are completed by it where they say nothing.

    It is the one given, the model's own, the one that the arguments name, or one pipeline over all processes.
    PipelineError where config and arguments contradict each other.
    """
    config = _chosen(given, model, args)
    for name in ("replication_factor", "inference_replication_factor"):
        if getattr(args, name, None) is not None:
            setattr(config, name, getattr(args, name))
    if args.gradient_accumulation_steps == 1:
        args.gradient_accumulation_steps = config.gradient_accumulation_steps
    config.gradient_accumulation_steps = args.gradient_accumulation_steps
    if config.execution.microbatches not in (None, args.gradient_accumulation_steps):
        raise PipelineError(
            f"execution has {config.execution.microbatches} microbatches, and the trainer makes"
            f" {args.gradient_accumulation_steps}",
            hint="leave microbatches out; gradient_accumulation_steps says how many there are",
        )
    if config.seed is None:
        config.seed = args.seed
    if args.activation_checkpointing:
        config.recompute_checkpoint_every_layer = True
    return config


def _chosen(given: IPUConfig | None, model: Any, args: Any) -> IPUConfig:
    own: IPUConfig | None = given if given is not None else getattr(model, "_ipu_config", None)
    if own is not None:
        return deepcopy(own)
    if getattr(args, "ipu_config_name", None):
        return IPUConfig.from_pretrained(args.ipu_config_name)
    return IPUConfig(ipus_per_replica=args.world_size)
