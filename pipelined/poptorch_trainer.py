"""`transformers.Trainer` for a model on IPUs: `poptorch` compiles the whole step, Trainer's loop feeds it batches.

A batch of the data loader is what a step takes: microbatches, replicas and iterations on the device together. The
optimizer's state and the weights are on the device while it trains, and are fetched before anybody reads them.
"""

from __future__ import annotations

import logging
from copy import copy
from typing import Any

import poptorch
import torch
from torch import nn
from transformers import Trainer, TrainingArguments

from pipelined.config import IPUConfig
from pipelined.errors import PipelineError
from pipelined.microbatches import loss_of, rows_of
from pipelined.registry import to_pipelined
from pipelined.trainer_config import config_for

logger = logging.getLogger(__name__)

OPTIMIZERS = {"adamw": "AdamW", "sgd": "SGD", "rmsprop": "RMSprop"}
"""By what `optim` begins with the optimizer of poptorch's."""


class PoptorchTrainer(Trainer):
    """A `transformers.Trainer` with an `ipu_config` besides, which trains and evaluates on IPUs.

    `per_device_train_batch_size` is what one replica computes at once, and `gradient_accumulation_steps` how many of
    these make a step. It computes in 16 bits, unless `IPUTrainingArguments(fp32=True)`. Gradients are not clipped. A
    step needs a full batch: of the data for training what is left over is dropped, and what is evaluated has to fill
    its batches.
    """

    args: Any
    model: Any
    optimizer: Any

    def __init__(
        self,
        model: nn.Module | None = None,
        args: TrainingArguments | None = None,
        *others: Any,
        ipu_config: IPUConfig | None = None,
        **named: Any,
    ) -> None:
        args = copy(TrainingArguments("tmp_trainer") if args is None else args)
        self.ipu_config = config_for(ipu_config, model, args)
        # A step of the loop is one of the device, which accumulates by itself and checkpoints by itself.
        args.gradient_accumulation_steps, args.activation_checkpointing = 1, False
        if args.label_smoothing_factor or named.get("compute_loss_func") is not None:
            raise PipelineError("on IPUs the model computes the loss", hint="compute it in the model's forward")
        super().__init__(model, args, *others, **named)
        pipelined = to_pipelined(self.model, self.ipu_config, force=True)
        pipelined.config.return_dict = False
        if not getattr(args, "fp32", False):
            pipelined.half()
        pipelined.parallelize()
        self.model = self.model_wrapped = self.callback_handler.model = pipelined
        self._compiled: dict[bool, Any] = {}
        self._attached: bool | None = None
        """Whether what is on the device now trains; None where nothing is."""

    def create_optimizer(self, model: Any = None) -> Any:
        """An optimizer of poptorch's, of the parameters in two groups as in `Trainer`."""
        if self.optimizer is None:
            kind, options = self._optimizer_options()
            decayed = set(self.get_decay_parameter_names(self.model))
            trained = [(name, one) for name, one in self.model.named_parameters() if one.requires_grad]
            groups = [
                {"params": [one for name, one in trained if name in decayed], "weight_decay": self.args.weight_decay},
                {"params": [one for name, one in trained if name not in decayed], "weight_decay": 0.0},
            ]
            self.optimizer = getattr(poptorch.optim, kind)(groups, lr=self.args.learning_rate, **options)
        return self.optimizer

    def training_step(self, model: Any, inputs: Any, num_items_in_batch: Any = None) -> torch.Tensor:
        """The loss of one step on the device: forward, backward and update."""
        on_device = self._on_device(training=True)
        # The scheduler has changed the rate since.
        on_device.setOptimizer(self._own_optimizer())
        loss = loss_of(on_device(**self._prepare_inputs(inputs)))
        if loss is None:
            raise PipelineError("the model returned no loss", hint="give it labels")
        return loss.detach().float().mean()

    def prediction_step(self, model: Any, inputs: Any, prediction_loss_only: Any, ignore_keys: Any = None) -> Any:
        """As in `Trainer`, computed on the device."""
        return super().prediction_step(self._answer, inputs, prediction_loss_only, ignore_keys=ignore_keys)

    def _answer(self, **inputs: Any) -> Any:
        inputs.pop("num_items_in_batch", None)
        full = self.args.eval_batch_size * self.ipu_config.batch_size_factor(for_inference=True)
        if (rows := rows_of(inputs)) != full:
            raise PipelineError(
                f"a batch of {rows} samples was to be evaluated, and the device computes {full} at once",
                hint=f"evaluate a multiple of {full} samples, or set dataloader_drop_last",
            )
        outputs = self._on_device(training=False)(**inputs)
        return tuple(one.float() if one.dtype == torch.float16 else one for one in outputs)

    def _get_dataloader(
        self, dataset: Any, description: str, batch_size: int, *args: Any, is_training: bool = False, **kwargs: Any
    ) -> Any:
        factor = self.ipu_config.batch_size_factor(for_inference=not is_training)
        before, self.args = self.args, copy(self.args)
        self.args.dataloader_drop_last = is_training or before.dataloader_drop_last
        try:
            size = batch_size * factor
            return super()._get_dataloader(dataset, description, size, *args, is_training=is_training, **kwargs)
        finally:
            self.args = before

    def get_total_train_batch_size(self, args: TrainingArguments) -> int:
        """The samples of a step in all replicas."""
        samples: int = self._train_batch_size * self.ipu_config.batch_size_factor()
        return samples

    def _clip_grad_norm(self, model: Any) -> None:
        """Nothing: gradients never leave the device."""

    def _get_grad_norm(self, model: Any, grad_norm: Any = None) -> None:
        """None: gradients never leave the device."""

    def _save(self, output_dir: str | None = None, state_dict: Any = None) -> None:
        self._fetch()
        super()._save(output_dir, state_dict=state_dict)
        if self.args.should_save:
            self.ipu_config.save_pretrained(output_dir or self.args.output_dir)

    def _load_best_model(self) -> None:
        # What is loaded reaches the device when the model is attached again.
        self._detach()
        super()._load_best_model()

    def _on_device(self, *, training: bool) -> Any:
        """The compiled model for training or for inference, on the device, with the weights as they are now."""
        if self._attached is training:
            return self._compiled[training]
        self._detach()
        self.model.deparallelize()
        self.model.ipu_config.mode = "training" if training else "inference"
        self.model.parallelize()
        self.model.train(training)
        if training not in self._compiled:
            options = self.ipu_config.to_options(for_inference=not training)
            self._compiled[training] = (
                poptorch.trainingModel(self.model, options=options, optimizer=self._own_optimizer())
                if training
                else poptorch.inferenceModel(self.model, options=options)
            )
        else:
            self._compiled[training].attachToDevice()
            self._compiled[training].copyWeightsToDevice()
        self._attached = training
        return self._compiled[training]

    def _detach(self) -> None:
        """Leave the device, with the weights."""
        self._fetch()
        if self._attached is not None and self._compiled[self._attached].isAttachedToDevice():
            self._compiled[self._attached].detachFromDevice()
        self._attached = None

    def _fetch(self) -> None:
        """Bring trained weights into the model's parameters."""
        if self._attached:
            self._compiled[True].copyWeightsToHost()

    def _own_optimizer(self) -> Any:
        return getattr(self.optimizer, "optimizer", self.optimizer)

    def _optimizer_options(self) -> tuple[str, dict[str, Any]]:
        """The name of poptorch's optimizer and what it is to be told; PipelineError where it has none of this kind."""
        asked = str(getattr(self.args.optim, "value", self.args.optim))
        kind = next((name for start, name in OPTIMIZERS.items() if asked.startswith(start)), None)
        if kind is None or "8bit" in asked:
            raise PipelineError(
                f"poptorch has no optimizer for optim={asked}", hint=f"choose one of {', '.join(OPTIMIZERS)}"
            )
        half = torch.float32 if getattr(self.args, "fp32", False) else torch.float16
        options: dict[str, Any] = {"loss_scaling": getattr(self.args, "loss_scaling", None), "accum_type": half}
        if kind == "AdamW":
            options |= {
                "betas": (self.args.adam_beta1, self.args.adam_beta2),
                "eps": self.args.adam_epsilon,
                "first_order_momentum_accum_type": half,
                "second_order_momentum_accum_type": torch.float32,
            }
        return kind, options
