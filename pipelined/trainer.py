"""The trainer of this machine: over IPUs where poptorch is installed, over processes everywhere else."""

from __future__ import annotations

from pipelined.blocks import HAS_POPTORCH

if HAS_POPTORCH:
    from pipelined.poptorch_trainer import PoptorchTrainer as PipelineTrainer
else:
    from pipelined.process_trainer import ProcessTrainer as PipelineTrainer

__all__ = ["IPUTrainer", "PipelineTrainer"]

IPUTrainer = PipelineTrainer
"""What optimum-graphcore called it."""
