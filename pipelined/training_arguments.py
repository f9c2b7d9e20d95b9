"""`transformers.TrainingArguments` with what is about IPUs, under the names that optimum-graphcore gave it."""

from __future__ import annotations

from dataclasses import dataclass, field

from transformers import TrainingArguments


@dataclass
class IPUTrainingArguments(TrainingArguments):
    """What a script can be told on its command line; without it any `TrainingArguments` do for a `PipelineTrainer`.

    What is left out here is as the `IPUConfig` has it.
    """

    ipu_config_name: str | None = field(default=None, metadata={"help": "Name or folder of the IPUConfig."})
    replication_factor: int | None = field(default=None, metadata={"help": "How many replicas train."})
    inference_replication_factor: int | None = field(default=None, metadata={"help": "How many replicas evaluate."})
    fp32: bool = field(default=False, metadata={"help": "On IPUs: compute in 32 bits, not in 16."})
    loss_scaling: float | None = field(default=None, metadata={"help": "On IPUs: what the loss is multiplied by."})
