"""`transformers.Trainer` for a model that is spread over processes: same arguments, same callbacks, same numbers.

Trainer's own loop runs in every process, on the same batches. What it does to a whole model goes through a `Session`:
the forward and backward pass, the norm of the gradients, evaluation, saving and loading.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import torch
from torch import nn
from transformers import ProgressCallback, TrainingArguments
from transformers.models.auto.modeling_auto import MODEL_FOR_CAUSAL_LM_MAPPING_NAMES

from pipelined.config import IPUConfig
from pipelined.distributed import distribute
from pipelined.errors import PipelineError
from pipelined.guards import as_original, original_class
from pipelined.held_optimizer import keep_held, only_held
from pipelined.loading import Pretrained
from pipelined.randomness import keyed
from pipelined.registry import without_peft
from pipelined.replicas import ReplicaAccelerator
from pipelined.routed import Routed
from pipelined.trainer_checkpoints import KeptInParts
from pipelined.trainer_config import config_for
from pipelined.trainer_evaluation import EvaluatedTogether
from pipelined.trainer_limits import refuse_unsupported
from pipelined.trainer_progress import RateProgress


class ProcessTrainer(EvaluatedTogether, KeptInParts):
    """A `transformers.Trainer` with an `ipu_config` besides; start the script with `torchrun`, one process an IPU.

    The model may be one of transformers, a pipelined one, one of PEFT, or the folder or repository of a pretrained one,
    of which each process then reads its part alone. `gradient_accumulation_steps` is the number of microbatches that
    are in the pipeline together, `per_device_train_batch_size` the samples in each. Losses, metrics and what callbacks
    see are the same in every process, and those of a `Trainer` in one process, but that dropout is drawn from streams
    that depend on no placement.

    `model` is the pipelined model; whoever calls it, in every process, has it computed by all.
    """

    accelerator: ReplicaAccelerator
    label_smoother: Any
    current_flos: float

    def __init__(
        self,
        model: nn.Module | str | Path | Pretrained | None = None,
        args: TrainingArguments | None = None,
        *others: Any,
        ipu_config: IPUConfig | None = None,
        **named: Any,
    ) -> None:
        args = TrainingArguments("tmp_trainer") if args is None else args
        refuse_unsupported(args)
        # A process drives one device, whatever else the machine has.
        args._n_gpu = min(args.n_gpu, 1)
        self.ipu_config = config_for(ipu_config, model, args)
        self._microbatches: Sequence[Any] = ()
        self._losses: deque[torch.Tensor] = deque()
        if isinstance(model, str | Path | Pretrained):
            loaded = self._spread(model, args)
            with as_original(without_peft(loaded)):
                super().__init__(loaded, args, *others, **named)
        else:
            super().__init__(model, args, *others, **named)
            known = list(self.model.parameters())
            loaded = self._spread(self.model, args)
            if self.optimizer is not None:
                keep_held(self.optimizer, known, self.session)
        self._take(loaded)
        # In a notebook there is another kind of bar, and a user may have given one.
        for bar in [one for one in self.callback_handler.callbacks if type(one) is ProgressCallback]:
            self.remove_callback(bar)
            self.add_callback(RateProgress(lambda: self.session.statistics, self.session.ranks.replicas))

    def train(self, *args: Any, **kwargs: Any) -> Any:
        """As in `Trainer`; activation checkpointing is the session's."""
        asked, self.args.activation_checkpointing = self.args.activation_checkpointing, False
        try:
            with self._open():
                return super().train(*args, **kwargs)
        finally:
            self.args.activation_checkpointing = asked

    def evaluate(self, *args: Any, **kwargs: Any) -> Any:
        """As in `Trainer`."""
        with self._open(), self._counting_replicas():
            return super().evaluate(*args, **kwargs)

    def predict(self, *args: Any, **kwargs: Any) -> Any:
        """As in `Trainer`."""
        with self._open(), self._counting_replicas():
            return super().predict(*args, **kwargs)

    def create_accelerator_and_postprocess(self) -> None:
        """As in `Trainer`, but that a replica counts as one process."""
        super().create_accelerator_and_postprocess()
        self.accelerator = ReplicaAccelerator.of(self.accelerator)
        # It was bound before.
        self.gather_function = self.accelerator.gather_for_metrics
        if hasattr(self, "session"):
            self.accelerator.spread(self.session, self._routed)

    def call_model_init(self, trial: Any = None) -> Any:
        """A new model, spread over the processes once the trainer is there."""
        model = super().call_model_init(trial)
        if hasattr(self, "session"):
            self._take(self._spread(model, self.args))
        return self.model if hasattr(self, "session") else model

    def create_optimizer(self, model: Any = None) -> Any:
        """As in `Trainer`, but of the parameters that this process holds."""
        with only_held(self.model):
            return super().create_optimizer(model)

    def get_batch_samples(self, *args: Any, **kwargs: Any) -> Any:
        """As in `Trainer`; what it returns goes through the pipeline together, at the first call of `training_step`."""
        self._losses.clear()
        self._microbatches, items = super().get_batch_samples(*args, **kwargs)
        return self._microbatches, items

    def training_step(self, model: Any, inputs: Any, num_items_in_batch: Any = None) -> torch.Tensor:
        """The loss of one microbatch; those of a step are computed together, with their gradients."""
        if not self._losses:
            self._losses.extend(self._forward_backward(inputs, num_items_in_batch))
        return self._losses.popleft()

    def get_total_train_batch_size(self, args: TrainingArguments) -> int:
        """The samples of a step in all replicas."""
        samples: int = self._train_batch_size * args.gradient_accumulation_steps
        return samples * self.session.ranks.replicas

    def store_flos(self) -> None:
        """As in `Trainer`: a replica's operations count once."""
        done = torch.tensor(float(self.current_flos), dtype=torch.float64, device=self.args.device)
        self.state.total_flos += self.accelerator.gather(done).sum().item()
        self.current_flos = 0

    def _get_dataloader(self, *args: Any, **kwargs: Any) -> Any:
        # Workers draw by the index of their process: of a replica they must draw the same.
        with self._counting_replicas(self.session.ranks.replica):
            return super()._get_dataloader(*args, **kwargs)

    def _move_model_to_device(self, model: Any, device: Any) -> None:
        """Nothing: the session has moved what this process holds, and the rest is nowhere."""

    def _spread(self, model: Any, args: TrainingArguments) -> Any:
        """The pipelined model, over the processes."""
        # Looking for what flows must not change what a data loader or a collator draws.
        with keyed(0):
            timeout = float(args.ddp_timeout)
            self._enter(distribute(model, self.ipu_config, device=args.device, timeout=timeout))
        found = self.session.model
        self._routed = Routed(found, self._outside)
        if callable(getattr(found, "generate", None)):
            found.__dict__["generate"] = self._generate
        return found

    def _take(self, model: Any) -> None:
        """Work with this model from now on."""
        self.accelerator.spread(self.session, self._routed)
        self.model = self.model_wrapped = self.callback_handler.model = model
        name = original_class(type(without_peft(model))).__name__
        # Trainer goes by the name of the class.
        if self.label_smoother is not None and name in MODEL_FOR_CAUSAL_LM_MAPPING_NAMES.values():
            self.label_smoother = partial(self.label_smoother, shift_labels=True)

    def _generate(self, *args: Any, **kwargs: Any) -> Any:
        """What the model generates for whoever calls its `generate`: all processes compute it, and all get it."""
        model = self.session.model
        del model.__dict__["generate"]
        try:
            with self._open(), self._routed.aside():
                return self.session.generate(*args, **kwargs)
        finally:
            model.__dict__["generate"] = self._generate

    def _forward_backward(self, inputs: Any, num_items_in_batch: Any) -> list[torch.Tensor]:
        """The losses of the step's microbatches, of which `inputs` is the first; the gradients are there then."""
        if not self._microbatches or inputs is not self._microbatches[0]:
            raise PipelineError(
                "training_step was given other inputs than the data loader's, which are in the pipeline together",
                hint="change them in the data collator or in _prepare_inputs",
            )
        self.model.train()
        if callable(getattr(self.optimizer, "train", None)):
            self.optimizer.train()
        batches = [dict(self._prepare_inputs(one)) for one in self._microbatches]
        # Random numbers then go on where they were after a checkpoint.
        self.session.step = self.state.global_step
        with self._routed.inside(lambda given: self._loss(given, num_items_in_batch)):
            return list(self.session.accumulate(batches).unbind())

    def _loss(self, inputs: dict[str, Any], num_items_in_batch: Any) -> torch.Tensor:
        """What Trainer differentiates for one microbatch."""
        with self.compute_loss_context_manager():
            loss: torch.Tensor = self.compute_loss(self.model, inputs, num_items_in_batch=num_items_in_batch)
        scaled = getattr(self, "loss_is_scaled_for_ga", None)
        if scaled is None:
            by_items = self.model_accepts_loss_kwargs and num_items_in_batch is not None
            scaled = by_items or self.compute_loss_func is not None
        return loss if scaled else loss / self.current_gradient_accumulation_steps
