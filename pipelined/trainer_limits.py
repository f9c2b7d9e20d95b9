"""What arguments of a trainer a pipeline has no answer to; each is refused before anything is built."""

from __future__ import annotations

from typing import Any

from pipelined.errors import PipelineError


def refuse_unsupported(args: Any) -> None:
    """PipelineError for the first of these `TrainingArguments` that would not do what it says."""
    for given, hint in _unsupported(args).items():
        raise PipelineError(f"{given} does not go with a pipeline over processes", hint=hint)


def _unsupported(args: Any) -> dict[str, str]:
    """By argument that is set the way out."""
    checkpointing = sorted(set(getattr(args, "activation_checkpointing_kwargs", None) or {}) - {"use_reentrant"})
    optimizer = str(getattr(args.optim, "value", args.optim))
    hints = {
        "fp16": "set bf16, whose gradients need no scaling",
        "fp16_full_eval": "set bf16, or load the model in the type that you want",
        "bf16_full_eval": "set bf16, or load the model in the type that you want",
        "deepspeed": "leave it out: the IPUConfig says how the model is spread",
        "fsdp": "leave it out: the IPUConfig says how the model is spread",
        "parallelism_config": "leave it out: the IPUConfig says how the model is spread",
        "torch_compile": "leave it out",
        "auto_find_batch_size": "set per_device_train_batch_size: one process alone cannot change it",
        "eval_use_gather_object": "leave it out",
        "use_liger_kernel": "leave it out",
        "save_on_each_node": "leave it out: all processes write into a folder that they share",
        "enable_jit_checkpoint": "set save_steps: processes are not told to stop at the same step",
    }
    found = {f"{name}={getattr(args, name)}": hint for name, hint in hints.items() if getattr(args, name, None)}
    if checkpointing:
        found[f"activation_checkpointing_kwargs with {checkpointing[0]}"] = "leave it out: every layer is checkpointed"
    if getattr(args, "train_sampling_strategy", None) == "batch_rebalance":
        found["train_sampling_strategy=batch_rebalance"] = "set group_by_length"
    if "lomo" in optimizer or "layerwise" in optimizer:
        found[f"optim={optimizer}"] = "choose an optimizer that steps after the backward pass"
    if args.accelerator_config.dispatch_batches:
        found["dispatch_batches=True"] = "leave it out: every process reads the data"
    return found
