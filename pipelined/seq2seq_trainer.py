"""`transformers.Seq2SeqTrainer` for a model that is spread over processes."""

from __future__ import annotations

from transformers import Seq2SeqTrainer

from pipelined.process_trainer import ProcessTrainer


class PipelineSeq2SeqTrainer(ProcessTrainer, Seq2SeqTrainer):
    """A `PipelineTrainer` that takes `Seq2SeqTrainingArguments`: with `predict_with_generate` it generates.

    It runs over processes, also where poptorch is installed.
    """
