"""`transformers.Trainer` for a model that is spread over processes: same arguments, same callbacks, same numbers.

Trainer's own loop runs in every process, on the same batches. What it does to a whole model goes through a `Session`:
the forward and backward pass, the norm of the gradients, evaluation, saving and loading.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from copy import copy, deepcopy
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import torch
from torch import nn
from transformers import Trainer, TrainingArguments
from transformers.models.auto.modeling_auto import MODEL_FOR_CAUSAL_LM_MAPPING_NAMES
from transformers.trainer import OPTIMIZER_NAME, TRAINING_ARGS_NAME

from pipelined.config import IPUConfig
from pipelined.distributed import distribute
from pipelined.errors import PipelineError
from pipelined.folders import steps
from pipelined.guards import as_original, original_class
from pipelined.held_optimizer import keep_held, only_held
from pipelined.loading import Pretrained
from pipelined.randomness import keyed
from pipelined.registry import without_peft
from pipelined.replicas import ReplicaAccelerator
from pipelined.routed import Routed
from pipelined.session import Session
from pipelined.trainer_limits import refuse_unsupported


class PipelineTrainer(Trainer):
    """A `transformers.Trainer` with an `ipu_config` besides; start the script with `torchrun`, one process an IPU.

    The model may be one of transformers, a pipelined one, one of PEFT, or the folder or repository of a pretrained one,
    of which each process then reads its part alone. `gradient_accumulation_steps` is the number of microbatches that
    are in the pipeline together, `per_device_train_batch_size` the samples in each. Losses, metrics and what callbacks
    see are the same in every process, and those of a `Trainer` in one process, but that dropout is drawn from streams
    that depend on no placement.

    `model` is the pipelined model; whoever calls it, in every process, has it computed by all.
    """

    args: Any
    accelerator: ReplicaAccelerator
    label_smoother: Any
    current_flos: float
    _loss_only = False

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
        self.ipu_config = _for_training(_chosen(ipu_config, model, args), args)
        self._opened: ExitStack | None = None
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
        with self._open():
            return super().evaluate(*args, **kwargs)

    def predict(self, *args: Any, **kwargs: Any) -> Any:
        """As in `Trainer`."""
        with self._open():
            return super().predict(*args, **kwargs)

    def create_accelerator_and_postprocess(self) -> None:
        """As in `Trainer`, but that a replica counts as one process."""
        super().create_accelerator_and_postprocess()
        self.accelerator = ReplicaAccelerator.of(self.accelerator)
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

    def prediction_step(self, model: Any, inputs: Any, prediction_loss_only: Any, ignore_keys: Any = None) -> Any:
        """As in `Trainer`, the same in every process of a replica; a loss is that of the replica's batch."""
        plain = type(self).compute_loss is Trainer.compute_loss and not (self.label_smoother or self.compute_loss_func)
        self._loss_only = prediction_loss_only and plain
        # Trainer multiplies losses by the number of replicas, and takes their mean: too much, where models count
        # no items.
        averaged, self.args.average_tokens_across_devices = self.args.average_tokens_across_devices, False
        try:
            return super().prediction_step(model, inputs, prediction_loss_only, ignore_keys=ignore_keys)
        finally:
            self._loss_only, self.args.average_tokens_across_devices = False, averaged

    def get_total_train_batch_size(self, args: TrainingArguments) -> int:
        """The samples of a step in all replicas."""
        return self._train_batch_size * args.gradient_accumulation_steps * self.session.ranks.replicas  # type: ignore[no-any-return, unused-ignore]

    def store_flos(self) -> None:
        """As in `Trainer`: a replica's operations count once."""
        done = torch.tensor(float(self.current_flos), dtype=torch.float64, device=self.args.device)
        self.state.total_flos += self.accelerator.gather(done).sum().item()
        self.current_flos = 0

    def _move_model_to_device(self, model: Any, device: Any) -> None:
        """Nothing: the session has moved what this process holds, and the rest is nowhere."""

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
        if self.session.ranks.ipu == 0:
            with self._as_replica():
                super()._save_rng_state(output_dir)

    def _load_rng_state(self, checkpoint: str | None) -> None:
        with self._as_replica():
            super()._load_rng_state(checkpoint)

    @contextmanager
    def _as_replica(self) -> Iterator[None]:
        """While this lasts the arguments count replicas, whose processes draw the same random numbers."""
        args, ranks = self.args, self.session.ranks
        self.args = copy(args)
        kind = args.distributed_state.distributed_type
        self.args.distributed_state = SimpleNamespace(
            num_processes=ranks.replicas, process_index=ranks.replica, distributed_type=kind
        )
        try:
            yield
        finally:
            self.args = args

    def _own_optimizer(self) -> torch.optim.Optimizer:
        """The optimizer without what accelerate puts around it."""
        optimizer: torch.optim.Optimizer = getattr(self.optimizer, "optimizer", self.optimizer)
        return optimizer

    def _spread(self, model: Any, args: TrainingArguments) -> Any:
        """The pipelined model, over the processes."""
        if self._opened is not None:
            self._opened.close()
        # Looking for what flows must not change what a data loader or a collator draws.
        with keyed(0):
            timeout = float(args.ddp_timeout)
            self.session: Session = distribute(model, self.ipu_config, device=args.device, timeout=timeout)
        if self._opened is not None:
            self._opened.enter_context(self.session)
        self._routed = Routed(self.session.model, self._outside)
        return self.session.model

    def _take(self, model: Any) -> None:
        """Work with this model from now on."""
        self.accelerator.spread(self.session, self._routed)
        self.model = self.model_wrapped = self.callback_handler.model = model
        name = original_class(type(without_peft(model))).__name__
        # Trainer goes by the name of the class.
        if self.label_smoother is not None and name in MODEL_FOR_CAUSAL_LM_MAPPING_NAMES.values():
            self.label_smoother = partial(self.label_smoother, shift_labels=True)

    @contextmanager
    def _open(self) -> Iterator[None]:
        """While this lasts the session is open; it may be already."""
        if self._opened is not None:
            yield
            return
        with ExitStack() as opened:
            opened.enter_context(self.session)
            self._opened = opened
            try:
                yield
            finally:
                self._opened = None

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

    def _outside(self, inputs: dict[str, Any]) -> Any:
        """What the model returns to whoever calls it: all processes compute it, and all get it."""
        has_loss = any(inputs.get(name) is not None for name in self.label_names) or self.can_return_loss
        # A loss is that of all samples at once, and no mean of the means of some.
        microbatches = 1 if has_loss else None
        keep = _only_loss if self._loss_only else None
        with self._open(), self._routed.inside():
            return self.session.evaluate(inputs, microbatches=microbatches, keep=keep)


def _only_loss(output: Any) -> Any:
    """The output without anything but its loss, which is all that is asked for."""
    return type(output)(loss=output["loss"]) if isinstance(output, dict) else output[:1]


def _chosen(given: IPUConfig | None, model: Any, args: Any) -> IPUConfig:
    """The config: as given, the model's own, or one pipeline over all processes."""
    found: IPUConfig | None = given if given is not None else getattr(model, "_ipu_config", None)
    return IPUConfig(ipus_per_replica=args.world_size) if found is None else deepcopy(found)


def _for_training(config: IPUConfig, args: Any) -> IPUConfig:
    """The config as these arguments complete it, and the arguments as it completes them."""
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
