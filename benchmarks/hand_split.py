"""BERT and Llama cut in two by hand for `torch.distributed.pipelining`, as its tutorial does it."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping
from typing import Any

import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.pipelining import PipelineStage, Schedule1F1B, ScheduleGPipe
from torch.nn.functional import cross_entropy
from transformers.masking_utils import create_bidirectional_mask, create_causal_mask

SCHEDULES: Mapping[str, Any] = {"gpipe": ScheduleGPipe, "1f1b": Schedule1F1B}


class HandSplit:
    """This process's half of a model in a pipeline of two; `step` adds gradients and returns the losses, if here."""

    def __init__(self, model: Any, *, schedule: str, microbatches: int) -> None:
        first, last, self._tied = CUTS[type(model).__name__]
        self.rank, self.microbatches = dist.get_rank(), microbatches
        self.module: Any = (first, last)[self.rank](copy.deepcopy(model))
        stage = PipelineStage(self.module, self.rank, 2, torch.device("cpu"))
        self._schedule = SCHEDULES[schedule](stage, microbatches, loss_fn=self._loss, scale_grads=False)

    def step(self, batch: Mapping[str, torch.Tensor]) -> torch.Tensor | None:
        mask, labels = {"attention_mask": batch["attention_mask"]}, batch["labels"]
        losses: list[torch.Tensor] = []
        given = (batch["input_ids"],) if self.rank == 0 else ()
        self._schedule.step(*given, **mask, target=labels, losses=losses, return_outputs=False)
        if self._tied:
            dist.all_reduce(self.module.tied().grad)
        return torch.stack(losses).sum() if losses else None

    def _loss(self, logits: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
        return self.module.loss(logits, labels) / self.microbatches


class BertFirst(nn.Module):
    """Embeddings and half of the layers."""

    def __init__(self, model: Any) -> None:
        super().__init__()
        layers = model.bert.encoder.layer
        self.config, self.embeddings, self.layers = model.config, model.bert.embeddings, layers[: len(layers) // 2]

    def forward(self, input_ids: torch.Tensor, *, attention_mask: torch.Tensor) -> torch.Tensor:
        hidden = self.embeddings(input_ids)
        mask = create_bidirectional_mask(self.config, hidden, attention_mask)
        for layer in self.layers:
            hidden = layer(hidden, mask)
        return hidden

    def tied(self) -> nn.Parameter:
        return self.embeddings.word_embeddings.weight


class BertLast(nn.Module):
    """The other half, and the head, whose weight is that of the embeddings."""

    def __init__(self, model: Any) -> None:
        super().__init__()
        layers = model.bert.encoder.layer
        self.config, self.layers, self.head = model.config, layers[len(layers) // 2 :], model.cls

    def forward(self, hidden: torch.Tensor, *, attention_mask: torch.Tensor) -> torch.Tensor:
        mask = create_bidirectional_mask(self.config, hidden, attention_mask)
        for layer in self.layers:
            hidden = layer(hidden, mask)
        return self.head(hidden)

    def loss(self, logits: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
        return cross_entropy(logits.view(-1, logits.shape[-1]), labels.view(-1))

    def tied(self) -> nn.Parameter:
        return self.head.predictions.decoder.weight


class LlamaFirst(nn.Module):
    """Embeddings and half of the layers."""

    def __init__(self, model: Any) -> None:
        super().__init__()
        layers = model.model.layers
        self.config, self.embeddings, self.layers = model.config, model.model.embed_tokens, layers[: len(layers) // 2]
        self.rotary = model.model.rotary_emb

    def forward(self, input_ids: torch.Tensor, *, attention_mask: torch.Tensor) -> torch.Tensor:
        return _llama_layers(self, self.embeddings(input_ids), attention_mask)


class LlamaLast(nn.Module):
    """The other half, the norm and the head."""

    def __init__(self, model: Any) -> None:
        super().__init__()
        layers = model.model.layers
        self.config, self.layers, self.norm, self.head = (
            model.config,
            layers[len(layers) // 2 :],
            model.model.norm,
            model.lm_head,
        )
        self.rotary = model.model.rotary_emb

    def forward(self, hidden: torch.Tensor, *, attention_mask: torch.Tensor) -> torch.Tensor:
        return self.head(self.norm(_llama_layers(self, hidden, attention_mask)))

    def loss(self, logits: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
        shifted = nn.functional.pad(labels, (0, 1), value=-100)[:, 1:]
        return cross_entropy(logits.view(-1, logits.shape[-1]), shifted.reshape(-1))


def _llama_layers(stage: Any, hidden: torch.Tensor, attention_mask: torch.Tensor) -> torch.Tensor:
    positions = torch.arange(hidden.shape[1])[None]
    mask = create_causal_mask(stage.config, hidden, attention_mask, None, position_ids=positions)
    rotated = stage.rotary(hidden, position_ids=positions)
    for layer in stage.layers:
        hidden = layer(hidden, attention_mask=mask, position_embeddings=rotated, position_ids=positions)
    return hidden


CUTS: Mapping[str, tuple[Callable[[Any], nn.Module], Callable[[Any], nn.Module], bool]] = {
    "BertForMaskedLM": (BertFirst, BertLast, True),
    "LlamaForCausalLM": (LlamaFirst, LlamaLast, False),
}
"""By class the two halves, and whether they share a parameter."""
