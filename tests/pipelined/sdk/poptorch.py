"""A stand-in for poptorch that follows its published interface and checks each call; it computes on the CPU.

It is found first on the path of the processes that `test_poptorch.py` starts, and nowhere else.
"""

# ruff: noqa: N802 - poptorch's own names

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from typing import Any, ClassVar

import torch
from torch import nn

HARDWARE_VERSION = 0
"""What `ipuHardwareVersion` answers: no IPU here."""


class Error(Exception):
    """What poptorch raises."""


class MatMulSerializationMode(Enum):
    InputChannels = "input_channels"
    ReducingDim = "reducing_dim"
    OutputChannels = "output_channels"
    Disabled = "none"


class OutputMode(Enum):
    All = 0
    Sum = 1
    Final = 2
    Default = 3


class AutoStage(Enum):
    SameAsIpu = 0
    AutoIncrement = 1


class ReductionType(Enum):
    Mean = 0


class Stages:
    """While a model is traced: the blocks in the order in which they begin."""

    def __init__(self) -> None:
        self.begun: list[tuple[str, int]] = []

    def begin(self, user_id: object, ipu_id: object) -> None:
        assert isinstance(user_id, str), "a block needs a name"
        assert isinstance(ipu_id, int), "a block needs an IPU"
        assert all(ipu_id == ipu for name, ipu in self.begun if name == user_id), "a block is on one IPU"
        if (user_id, ipu_id) not in self.begun:
            self.begun.append((user_id, ipu_id))


class Block(nn.Module):
    stages: Stages | None = None

    def __init__(self, user_id: str | None = None, ipu_id: int | None = None) -> None:
        super().__init__()
        self._user_id, self._ipu_id = user_id, ipu_id

    @staticmethod
    def useAutoId() -> None:
        return None

    def __enter__(self) -> None:
        if Block.stages is not None:
            Block.stages.begin(self._user_id, self._ipu_id)

    def __exit__(self, *_: object) -> None:
        return None


class _BlockHook:
    def __init__(self, user_id: str | None, ipu_id: int | None) -> None:
        self._user_id, self._ipu_id = user_id, ipu_id

    def __call__(self, module: nn.Module, args: Any) -> None:
        if Block.stages is not None:
            Block.stages.begin(self._user_id, self._ipu_id)


def BeginBlock(layer_to_call: Any, user_id: str | None = None, ipu_id: int | None = None) -> Any:
    if not isinstance(layer_to_call, nn.Module):
        raise Error("module is not an instance of torch.nn.Module or function.")
    if any(isinstance(hook, _BlockHook) for hook in layer_to_call._forward_pre_hooks.values()):
        raise Error("module has already been assigned to a block.")
    layer_to_call.register_forward_pre_hook(_BlockHook(user_id, ipu_id))
    return layer_to_call


def BlockFunction(user_id: str | None = None, ipu_id: int | None = None) -> Callable[[Any], Any]:
    def decorate(function: Any) -> Any:
        def inside(*args: Any, **kwargs: Any) -> Any:
            with Block(user_id, ipu_id):
                return function(*args, **kwargs)

        return inside

    return decorate


def removeBlocks(module: Any) -> None:
    assert isinstance(module, nn.Module)
    for part in module.modules():
        hooks = part._forward_pre_hooks
        part._forward_pre_hooks = type(hooks)(
            (key, hook) for key, hook in hooks.items() if not isinstance(hook, _BlockHook)
        )


def recomputationCheckpoint(*tensors: Any) -> Any:
    if len(tensors) == 1 and isinstance(tensors[0], tuple | list):
        return type(tensors[0])(recomputationCheckpoint(*tensors[0]))
    for tensor in tensors:
        if not isinstance(tensor, torch.Tensor):
            raise ValueError("All inputs must be tensors")  # noqa: TRY004 - as poptorch does
    kept.append(len(tensors))
    return tensors[0] if len(tensors) == 1 else tensors


kept: list[int] = []
"""How many tensors each call of `recomputationCheckpoint` kept."""


def serializedMatMul(lhs: torch.Tensor, rhs: torch.Tensor, mode: Any, factor: int = 0) -> torch.Tensor:
    assert isinstance(mode, MatMulSerializationMode)
    assert rhs.shape[-1] % factor == 0 or mode is not MatMulSerializationMode.OutputChannels
    cut.append((mode.name, factor))
    return torch.matmul(lhs, rhs)


cut: list[tuple[str, int]] = []
"""The mode and factor of each serialised product."""


def identity_loss(x: torch.Tensor, reduction: str) -> torch.Tensor:
    return {"sum": torch.sum, "mean": torch.mean, "none": torch.clone}[reduction](x)


def ipuHardwareVersion() -> int:
    return HARDWARE_VERSION


class PipelinedExecution:
    def __init__(self, stage: AutoStage) -> None:
        self.stage = stage


class ShardedExecution(PipelinedExecution):
    pass


class TensorLocationSettings:
    def __init__(self) -> None:
        self.said: dict[str, bool] = {}

    def useOnChipStorage(self, value: bool) -> TensorLocationSettings:
        self.said["onChip"] = value
        return self

    def useReplicatedTensorSharding(self, value: bool) -> TensorLocationSettings:
        self.said["sharded"] = value
        return self


class Options:
    """Notes what it is told; a setter that poptorch does not have is an error, as there."""

    SETTERS = (
        *("autoRoundNumIPUs", "replicationFactor", "deviceIterations", "outputMode", "setExecutionStrategy"),
        *("randomSeed", "useOfflineIpuTarget", "enableExecutableCaching", "setAvailableMemoryProportion"),
    )
    GROUPS: ClassVar[dict[str, tuple[str, ...]]] = {
        "Training": (
            "gradientAccumulation",
            "accumulationAndReplicationReductionType",
            "setAutomaticLossScaling",
        ),
        "Precision": ("enableStochasticRounding", "setPartialsType"),
        "TensorLocations": ("setOptimizerLocation",),
        "_Popart": ("set", "setPatterns"),
    }

    def __init__(self) -> None:
        self.said: dict[str, Any] = {}
        for group, setters in self.GROUPS.items():
            setattr(self, group, _Group(self.said, group, setters))

    def __getattr__(self, name: str) -> Any:
        assert name in self.SETTERS, f"poptorch.Options has no {name}"
        return lambda *values: self.said.__setitem__(name, values)


class _Group:
    def __init__(self, said: dict[str, Any], name: str, setters: tuple[str, ...]) -> None:
        self._said, self._name, self._setters = said, name, setters

    def __getattr__(self, name: str) -> Any:
        assert name in self._setters, f"poptorch.Options.{self._name} has no {name}"
        return lambda *values: self._said.__setitem__(".".join((self._name, name, *map(str, values[:-1]))), values[-1])
