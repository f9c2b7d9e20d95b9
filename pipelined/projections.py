"""Linear layers computed in parts. The weight stays one parameter under its own name; parts read slices of it."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from operator import add
from typing import Any

import torch
from torch import nn
from torch.nn import functional as F  # noqa: N812 - its usual name

from pipelined.blocks import HAS_POPTORCH, MatMulSerializationMode
from pipelined.parts import adopt, begin_blocks, refuse_remainder


class SerializedLinear(nn.Linear):
    """A linear layer whose matrix product poptorch cuts into `factor` smaller ones; elsewhere it is computed whole.

    ValueError where the dimension that is cut is not a multiple of the factor.
    """

    def __init__(
        self,
        in_features: int,
        out_features: int,
        factor: int,
        bias: bool = False,  # noqa: FBT001, FBT002 - as in `nn.Linear`
        mode: Any = MatMulSerializationMode.OutputChannels,
    ) -> None:
        super().__init__(in_features, out_features, bias)
        self._cut(factor, mode)

    @classmethod
    def from_model(
        cls, model: nn.Linear, factor: int, mode: Any = MatMulSerializationMode.OutputChannels
    ) -> SerializedLinear:
        """A serialised version of a linear layer, with the same weight and bias."""
        serialized = cls.__new__(cls)
        adopt(serialized, model)
        serialized._cut(factor, mode)
        return serialized

    def to_model(self) -> nn.Linear:
        """The plain linear layer, with the same weight and bias."""
        plain = nn.Linear.__new__(nn.Linear)
        adopt(plain, self)
        del plain.factor, plain.mode
        return plain

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        if not HAS_POPTORCH:
            return super().forward(x)
        import poptorch

        product = poptorch.serializedMatMul(x, self.weight.t(), self.mode, self.factor)
        return product if self.bias is None else product + self.bias

    def _cut(self, factor: int, mode: Any) -> None:
        if mode is MatMulSerializationMode.OutputChannels:
            refuse_remainder("out_features", self.out_features, factor)
        if mode is MatMulSerializationMode.ReducingDim:
            refuse_remainder("in_features", self.in_features, factor)
        self.factor, self.mode = factor, mode


class SplitProjection(nn.Linear):
    """A linear layer in parts that can lie on several IPUs, cut along its outputs or along its inputs.

    ValueError where the size along that dimension is not a multiple of `serialization_factor`.
    """

    def __init__(
        self,
        linear: nn.Linear,
        serialization_factor: int,
        serialization_mode: Any = MatMulSerializationMode.OutputChannels,
    ) -> None:
        dimensions = {
            MatMulSerializationMode.OutputChannels: "out_features",
            MatMulSerializationMode.ReducingDim: "in_features",
        }
        if serialization_mode not in dimensions:
            raise ValueError(f"serialization_mode can be OutputChannels or ReducingDim, not {serialization_mode}")
        dimension = dimensions[serialization_mode]
        total = getattr(linear, dimension)
        refuse_remainder(dimension, total, serialization_factor)
        adopt(self, linear)
        self.serialization_mode = serialization_mode
        size = total // serialization_factor
        kind = _OutputSplit if dimension == "out_features" else _InputSplit
        self.split_linear_layers = nn.ModuleList(kind(start, size) for start in range(0, total, size))

    @classmethod
    def from_model(
        cls,
        linear: nn.Linear,
        serialization_factor: int,
        serialization_mode: Any = MatMulSerializationMode.OutputChannels,
    ) -> SplitProjection:
        """A split version of a linear layer, with the same weight and bias."""
        return cls(linear, serialization_factor, serialization_mode)

    def to_model(self) -> nn.Linear:
        """The plain linear layer, with the same weight and bias."""
        plain = nn.Linear.__new__(nn.Linear)
        adopt(plain, self)
        del plain.split_linear_layers, plain.serialization_mode
        return plain

    def parallelize(self, splits_per_ipu: Sequence[int], name: str = "Linear") -> SplitProjection:
        """Begin a block at the first split of each IPU; return self."""
        begin_blocks(self.split_linear_layers, splits_per_ipu, name)
        return self

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        parts = [split(x, self.weight) for split in self.split_linear_layers]
        cut_outputs = self.serialization_mode is MatMulSerializationMode.OutputChannels
        product = torch.cat(parts, dim=-1) if cut_outputs else reduce(add, parts)
        return product if self.bias is None else product + self.bias


class _Split(nn.Module):
    """A slice of a linear layer; it owns no parameter."""

    def __init__(self, start: int, size: int) -> None:
        super().__init__()
        self.part = slice(start, start + size)


class _OutputSplit(_Split):
    """Some outputs of a linear layer."""

    def forward(self, x: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
        return F.linear(x, weight[self.part])


class _InputSplit(_Split):
    """What some inputs of a linear layer contribute to all outputs."""

    def forward(self, x: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
        return F.linear(x[..., self.part], weight[:, self.part])
