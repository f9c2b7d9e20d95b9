"""Three ways to cut a transformers model over processes, each asked for logits, a step of training, and tokens."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any

import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.pipelining import ScheduleGPipe, SplitPoint, pipeline
from torch.nn.functional import cross_entropy

from pipelined import Execution, IPUConfig
from pipelined.distributed import distribute

MICROBATCHES = 2
Batch = Mapping[str, torch.Tensor]
Step = Callable[[], dict[str, torch.Tensor]]
"""Runs forward and backward over a batch and returns the gradients here, by the model's own names."""


class Ours:
    """`pipelined.distribute`."""

    def __init__(self, model: Any, folder: str) -> None:
        ipus = dist.get_world_size()
        config = IPUConfig(
            layers_per_ipu=[-1] * ipus, ipus_per_replica=ipus, execution=Execution(microbatches=MICROBATCHES)
        )
        self.pipe = distribute(model, config, optimizer=lambda held: torch.optim.SGD(held, 0.1)).__enter__()

    def logits(self, batch: Batch) -> torch.Tensor | None:
        return self.pipe.evaluate(batch).logits

    def gradients(self, batch: Batch, labels: torch.Tensor) -> dict[str, torch.Tensor]:
        self.pipe.train_step({**batch, "labels": labels})
        return {name: one.grad for name, one in self.pipe.parameters().items() if one.grad is not None}

    def tokens(self, batch: Batch, **options: Any) -> torch.Tensor:
        return self.pipe.generate(**batch, **options)

    def weights(self) -> dict[str, torch.Tensor]:
        return {name: one.detach() for name, one in self.pipe.parameters().items()}


class Logits(nn.Module):
    """What a tracer can trace best: tensors in, one tensor out."""

    def __init__(self, model: Any) -> None:
        super().__init__()
        self.model = model

    def forward(self, **batch: torch.Tensor) -> torch.Tensor:
        return self.model(**batch, use_cache=False).logits if _may_cache(self.model) else self.model(**batch).logits


class Tracer:
    """`torch.distributed.pipelining.pipeline`, split before layers; traced for the first batch that comes."""

    def __init__(self, model: Any, folder: str) -> None:
        self.model, self._schedules = model, {}
        self.stage: Any = None
        self.optimizer: Any = None

    def logits(self, batch: Batch) -> torch.Tensor | None:
        with torch.no_grad():
            return self._step(batch, None)

    def gradients(self, batch: Batch, labels: torch.Tensor) -> dict[str, torch.Tensor]:
        if self.optimizer is not None:
            self.optimizer.zero_grad()
        self._step(batch, labels)
        held = dict(self.stage.submod.named_parameters())
        self.optimizer = self.optimizer or torch.optim.SGD(held.values(), 0.1)
        found = {name.removeprefix("model."): one.grad.clone() for name, one in held.items() if one.grad is not None}
        self.optimizer.step()
        return found

    def tokens(self, batch: Batch, **options: Any) -> torch.Tensor:
        self.stage = self._traced(batch)
        return self.stage.submod.generate(**batch, **options)

    def weights(self) -> dict[str, torch.Tensor]:
        return {name.removeprefix("model."): one.detach() for name, one in self.stage.submod.named_parameters()}

    def _step(self, batch: Batch, labels: torch.Tensor | None) -> torch.Tensor | None:
        if self.stage is None:
            self.stage = self._traced(batch)
        training = labels is not None
        schedule = ScheduleGPipe(
            self.stage, MICROBATCHES, loss_fn=_loss_of(self.model) if training else None, scale_grads=True
        )
        # Its first stage takes no argument that it does not use itself.
        names = inspect.signature(self.stage.submod.forward).parameters
        given = {name: one for name, one in batch.items() if name in names} if self.stage.is_first else {}
        target = {"target": labels} if training and self.stage.is_last else {}
        return schedule.step(**given, **target)

    def _traced(self, batch: Batch) -> Any:
        part = {name: one[: len(one) // MICROBATCHES] for name, one in batch.items()}
        module = Logits(self.model)
        layers = [name for name, one in module.named_modules() if type(one).__name__ in LAYERS]
        count = dist.get_world_size()
        cuts = {layers[len(layers) * stage // count]: SplitPoint.BEGINNING for stage in range(1, count)}
        try:
            cut = pipeline(module, mb_args=(), mb_kwargs=dict(part), split_spec=cuts)
        except Exception:  # noqa: BLE001 - whatever the tracer cannot do
            # From a batch without padding more models can be traced.
            full = {name: torch.ones_like(one) if name == "attention_mask" else one for name, one in part.items()}
            cut = pipeline(module, mb_args=(), mb_kwargs=full, split_spec=cuts)
        return cut.build_stage(dist.get_rank(), torch.device("cpu"))


class InTree:
    """`from_pretrained(..., distributed_config=DistributedConfig(pp_size=...))` of transformers."""

    def __init__(self, model: Any, folder: str) -> None:
        from transformers.distributed import DistributedConfig

        config = DistributedConfig(pp_size=dist.get_world_size())
        self.model = type(model).from_pretrained(folder, distributed_config=config).train(model.training)
        self.optimizer = torch.optim.SGD(self.model.parameters(), 0.1)

    def logits(self, batch: Batch) -> torch.Tensor | None:
        with torch.no_grad():
            return self.model(**batch).logits

    def gradients(self, batch: Batch, labels: torch.Tensor) -> dict[str, torch.Tensor]:
        self.optimizer.zero_grad()
        output = self.model(**batch, labels=labels)
        loss = output.loss if output.loss is not None else _loss_of(self.model)(output.logits, labels)
        loss.backward()
        self.optimizer.step()
        return {name: one.grad for name, one in self.model.named_parameters() if one.grad is not None}

    def tokens(self, batch: Batch, **options: Any) -> torch.Tensor:
        return self.model.generate(**batch, **options)

    def weights(self) -> dict[str, torch.Tensor]:
        return {name: one.detach() for name, one in self.model.named_parameters()}


CUTTERS: Mapping[str, Callable[[Any, str], Any]] = {
    "pipelined": Ours,
    "torch: pipeline()": Tracer,
    "transformers: pp_size": InTree,
}

LAYERS = ("BertLayer", "GPT2Block", "LlamaDecoderLayer", "T5Block")


def _may_cache(model: Any) -> bool:
    return hasattr(model.config, "use_cache") and type(model).__name__ != "BertForMaskedLM"


def _loss_of(model: Any) -> Callable[[torch.Tensor, torch.Tensor], torch.Tensor]:
    """The model's own loss, from its logits."""

    def loss(logits: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
        if "CausalLM" in type(model).__name__ or "LMHead" in type(model).__name__:
            labels = nn.functional.pad(labels, (0, 1), value=-100)[:, 1:]
        return cross_entropy(logits.reshape(-1, logits.shape[-1]), labels.reshape(-1))

    return loss
