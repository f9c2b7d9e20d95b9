"""What a trainer writes and reads: each process its part, in the folders that `transformers.Trainer` makes."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from copy import copy
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import torch
from transformers.trainer import OPTIMIZER_NAME, TRAINING_ARGS_NAME

from pipelined.errors import PipelineError
from pipelined.folders import steps
from pipelined.trainer_session import InSession


class KeptInParts(InSession):
    """A trainer of a model that is spread over a session's processes, as far as files are concerned.

    A checkpoint is a folder that plain transformers loads the weights of, with the state of the optimizer, of the
    scheduler and of random numbers in a form that goes on in any placement.
    """

    def _save(self, output_dir: str | None = None, state_dict: Any = None) -> None:
        """Write what plain transformers loads, each process its part, and beside it what `Trainer` writes."""
        folder = Path(output_dir or self.args.output_dir)
        with self._open():
            self.session.save_pretrained(folder)
        if not self.args.should_save:
            return
        processing = self.processing_class or getattr(self.data_collator, "tokenizer", None)
        if processing is not None:
            processing.save_pretrained(folder)
        torch.save(self.args, folder / TRAINING_ARGS_NAME)

    def _save_optimizer_and_scheduler(self, output_dir: str) -> None:
        self.session.optimizer, self.session.step = self._own_optimizer(), self.state.global_step
        self.session.save_checkpoint(output_dir, keep=1, also={"scheduler": self.lr_scheduler})

    def _load_from_checkpoint(self, resume_from_checkpoint: str, model: Any = None) -> None:
        # With the state of an optimizer the weights come together with it, once there is an optimizer.
        if not steps(Path(resume_from_checkpoint)):
            self.session.load_weights(resume_from_checkpoint)

    def _load_optimizer_and_scheduler(self, checkpoint: str | None) -> None:
        if checkpoint is None:
            return
        if steps(Path(checkpoint)):
            self.session.optimizer = self._own_optimizer()
            self.session.load_checkpoint(checkpoint, also={"scheduler": self.lr_scheduler})
        elif (Path(checkpoint) / OPTIMIZER_NAME).exists():
            raise PipelineError(
                f"{checkpoint} holds the state of an optimizer of one process, which has no names",
                hint="begin anew from its weights: PipelineTrainer(model=folder)",
            )

    def _load_best_model(self) -> None:
        self.session.load_weights(self.state.best_model_checkpoint)

    def _save_rng_state(self, output_dir: str) -> None:
        # A replica's processes draw the same numbers.
        if self.session.ranks.ipu == 0:
            with self._counting_replicas(self.session.ranks.replica):
                super()._save_rng_state(output_dir)

    def _load_rng_state(self, checkpoint: str | None) -> None:
        with self._counting_replicas(self.session.ranks.replica):
            super()._load_rng_state(checkpoint)

    @contextmanager
    def _counting_replicas(self, index: int | None = None) -> Iterator[None]:
        """While this lasts the arguments count replicas, of which this process is that one, or keeps its own index."""
        args, state = self.args, self.args.distributed_state
        self.args = copy(args)
        self.args.distributed_state = SimpleNamespace(
            num_processes=self.session.ranks.replicas,
            process_index=state.process_index if index is None else index,
            local_process_index=state.local_process_index,
            distributed_type=state.distributed_type,
        )
        try:
            yield
        finally:
            self.args = args

    def _own_optimizer(self) -> torch.optim.Optimizer:
        """The optimizer without what accelerate puts around it."""
        optimizer: torch.optim.Optimizer = getattr(self.optimizer, "optimizer", self.optimizer)
        return optimizer
