"""Embeddings looked up in parts, so that the gradient of a large vocabulary needs less memory at once.

The weight stays one parameter under its own name, and parts read slices of it: the state dict, ties and optimizers
notice nothing, and the parts can lie on several IPUs.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from operator import add
from typing import Any

import torch
from torch import nn
from torch.nn import functional as F  # noqa: N812 - its usual name

from pipelined.parts import adopt, begin_blocks, refuse_remainder


class SerializedEmbedding(nn.Embedding):
    """An embedding that looks its indices up in one slice of the vocabulary after the other.

    It has the weight and the hooks of the embedding that it is made of. ValueError where the number of embeddings is
    not a multiple of `serialization_factor`. The gradient of the padding row stays zero.
    """

    def __init__(self, embedding: nn.Embedding, serialization_factor: int) -> None:
        refuse_remainder("num_embeddings", embedding.num_embeddings, serialization_factor)
        adopt(self, embedding)
        self.serialization_factor = serialization_factor
        rows = embedding.num_embeddings // serialization_factor
        starts = range(0, embedding.num_embeddings, rows)
        self.split_embeddings = nn.ModuleList(_EmbeddingSplit(start, rows) for start in starts)

    @classmethod
    def from_model(cls, embedding: nn.Embedding, serialization_factor: int) -> SerializedEmbedding:
        """A serialised version; one of a subclass of `nn.Embedding` still scales or shifts as the subclass does."""
        own = type(embedding)
        kind: Any = cls if own is nn.Embedding else type(f"Serialized{own.__name__}", (own, cls), {})
        serialized: SerializedEmbedding = kind.__new__(kind)
        SerializedEmbedding.__init__(serialized, embedding, serialization_factor)
        return serialized

    def to_model(self) -> nn.Embedding:
        """The embedding that this was made of, with the same weight."""
        original: Any = next(base for base in type(self).__mro__ if not issubclass(base, SerializedEmbedding))
        plain: nn.Embedding = original.__new__(original)
        adopt(plain, self)
        del plain.split_embeddings, plain.serialization_factor
        return plain

    def parallelize(self, splits_per_ipu: Sequence[int], name: str = "Embedding") -> SerializedEmbedding:
        """Begin a block at the first split of each IPU; return self."""
        begin_blocks(self.split_embeddings, splits_per_ipu, name)
        return self

    def forward(self, indices: torch.Tensor) -> torch.Tensor:
        return reduce(add, (split(indices, self.weight, self.padding_idx) for split in self.split_embeddings))


class SharedEmbedding(nn.Module):
    """One embedding for both stacks of an encoder-decoder model, looked up once for the two."""

    def __init__(self, shared: nn.Embedding) -> None:
        super().__init__()
        self.shared = shared

    def forward(
        self,
        input_ids: torch.Tensor | None,
        decoder_input_ids: torch.Tensor | None,
        encoder_embed_scale: float | None = None,
        decoder_embed_scale: float | None = None,
    ) -> tuple[torch.Tensor | None, torch.Tensor | None]:
        """The embeddings of both sequences, each (batch, length, size) and scaled; None where no ids are given."""
        given = [ids for ids in (input_ids, decoder_input_ids) if ids is not None]
        looked_up = iter(self.shared(torch.cat(given, dim=1)).split([ids.size(1) for ids in given], dim=1))
        encoder = None if input_ids is None else next(looked_up) * (encoder_embed_scale or 1)
        decoder = None if decoder_input_ids is None else next(looked_up) * (decoder_embed_scale or 1)
        return encoder, decoder


class _EmbeddingSplit(nn.Module):
    """Some rows of an embedding; it owns no parameter."""

    def __init__(self, start: int, rows: int) -> None:
        super().__init__()
        self.start, self.rows = start, rows

    def forward(self, indices: torch.Tensor, weight: torch.Tensor, padding_idx: int | None) -> torch.Tensor:
        local = indices - self.start
        inside = (local >= 0) & (local < self.rows)
        padding = None if padding_idx is None else padding_idx - self.start
        if padding is not None and not 0 <= padding < self.rows:
            padding = None
        rows = weight[self.start : self.start + self.rows]
        found = F.embedding(torch.where(inside, local, 0), rows, padding)
        return torch.where(inside.unsqueeze(-1), found, 0)
