"""A stand-in for poptorch that follows its published interface and checks each call; it computes on the CPU.

It is found first on the path of the processes that `test_poptorch.py` starts, and nowhere else.
"""

# ruff: noqa: N802 - poptorch's own names

from __future__ import annotations

import copy
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


class PoplarExecutor:
    """What the model is on the device: a copy, which nobody sees the weights of until they are fetched."""

    def __init__(self, model: nn.Module, options: Options, optimizer: Any = None) -> None:
        assert isinstance(options, Options)
        assert optimizer is None or isinstance(optimizer, optim.OPTIMIZERS), "an optimizer of poptorch's"
        self._user_model, self._options, self._optimizer = model, options, optimizer
        self._device_model: Any = None
        self._device_optimizer: Any = None
        self._shapes: Any = None
        self._attached = False
        calls.append("trainingModel" if optimizer is not None else "inferenceModel")

    def __call__(self, **inputs: torch.Tensor) -> Any:
        shapes = {name: tuple(value.shape) for name, value in inputs.items()}
        traced = self._shapes is None
        if traced:
            self._compile(shapes)
        assert self._attached, "the model is not on the device"
        if shapes != self._shapes:
            raise Error(f"compiled for {self._shapes}, given {shapes}")
        Block.stages = Stages() if traced else None
        outputs = [self._run(part) for part in self._parts(inputs)]
        Block.stages = None
        return outputs[-1] if self._optimizer is not None else _joined(outputs)

    def setOptimizer(self, optimizer: Any) -> None:
        self._optimizer = optimizer
        for own, given in zip(
            getattr(self._device_optimizer, "param_groups", ()), optimizer.param_groups, strict=False
        ):
            own["lr"] = given["lr"]

    def copyWeightsToHost(self) -> None:
        assert self._attached
        _copy(self._device_model, self._user_model)

    def copyWeightsToDevice(self) -> None:
        assert self._attached
        _copy(self._user_model, self._device_model)

    def isAttachedToDevice(self) -> bool:
        return self._attached

    def attachToDevice(self) -> None:
        assert not self._attached, "attached already"
        self._attached = True
        calls.append("attach")

    def detachFromDevice(self) -> None:
        assert self._attached, "not attached"
        self._attached = False
        calls.append("detach")

    def _compile(self, shapes: Any) -> None:
        self._device_model, self._shapes, self._attached = copy.deepcopy(self._user_model), shapes, True
        calls.append(f"compile for {[name for name, _ in blocks_of(self._user_model)]}")
        if self._optimizer is not None:
            twins = dict(zip(self._user_model.parameters(), self._device_model.parameters(), strict=True))
            groups = [
                {**group, "params": [twins[one] for one in group["params"]]} for group in self._optimizer.param_groups
            ]
            self._device_optimizer = type(self._optimizer).__mro__[1](groups)

    def _parts(self, inputs: dict[str, torch.Tensor]) -> list[dict[str, torch.Tensor]]:
        said = self._options.said
        names = ("replicationFactor", "deviceIterations", "Training.gradientAccumulation")
        count = 1
        for name in names:
            value = said.get(name, 1)
            count *= value[0] if isinstance(value, tuple) else value
        cut = {name: value.chunk(count) for name, value in inputs.items()}
        return [{name: parts[index] for name, parts in cut.items()} for index in range(count)]

    def _run(self, inputs: dict[str, torch.Tensor]) -> Any:
        if self._optimizer is None:
            with torch.no_grad():
                return self._device_model(**inputs)
        outputs = self._device_model(**inputs)
        self._pending = [*getattr(self, "_pending", []), outputs[0]]
        accumulated = self._options.said["Training.gradientAccumulation"]
        if len(self._pending) == accumulated:
            self._device_optimizer.zero_grad()
            (sum(self._pending) / accumulated).backward()
            self._device_optimizer.step()
            self._pending = []
        return tuple(one.detach() for one in outputs)


calls: list[str] = []
"""What was made, compiled, attached and detached, in this order."""


def trainingModel(model: nn.Module, options: Options, optimizer: Any) -> PoplarExecutor:
    return PoplarExecutor(model, options, optimizer)


def inferenceModel(model: nn.Module, options: Options) -> PoplarExecutor:
    return PoplarExecutor(model, options)


def blocks_of(model: nn.Module) -> list[tuple[str, nn.Module]]:
    return [
        (str(hook._user_id), part)
        for part in model.modules()
        for hook in part._forward_pre_hooks.values()
        if isinstance(hook, _BlockHook)
    ]


def _copy(source: nn.Module, target: nn.Module) -> None:
    with torch.no_grad():
        for own, other in zip(target.parameters(), source.parameters(), strict=True):
            own.copy_(other)


def _joined(outputs: list[Any]) -> Any:
    return tuple(
        torch.cat([one.reshape(1) if one.dim() == 0 else one for one in parts]) for parts in zip(*outputs, strict=True)
    )


class optim:  # noqa: N801 - a module there
    class AdamW(torch.optim.AdamW):
        def __init__(self, params: Any, *, loss_scaling: Any = None, accum_type: Any = None, **given: Any) -> None:
            for name in ("first_order_momentum_accum_type", "second_order_momentum_accum_type"):
                assert given.pop(name) in (torch.float16, torch.float32)
            super().__init__(params, **given)

    class SGD(torch.optim.SGD):
        def __init__(self, params: Any, *, loss_scaling: Any = None, accum_type: Any = None, **given: Any) -> None:
            super().__init__(params, **given)

    OPTIMIZERS = (AdamW, SGD)


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
