"""What makes a pipelined class of a transformers class."""

from __future__ import annotations

import copy
from inspect import unwrap
from typing import Any, ClassVar, Self

from torch import nn

from pipelined.blocks import removeBlocks
from pipelined.catalog import placement_for
from pipelined.config import IPUConfig
from pipelined.errors import PipelineError
from pipelined.guards import guard, is_parallelized, original_class
from pipelined.place import place
from pipelined.placement import Placement
from pipelined.sharing import share, share_into


class PipelineMixin:
    """Gives a model class `parallelize` and `deparallelize`; inherit from it together with the original class.

    A subclass may override the two, or state its `placement`, or do neither: then the placement is the one that is
    known for the original class, or else one found by running the model on a small batch.

    While a model is parallelized its state dict has the same keys and tensors as ever. `deparallelize` puts back all
    that `parallelize` changed: modules and their classes, parameters, buffers, hooks, `requires_grad`.
    """

    placement: ClassVar[Any] = None
    """The `Placement` that a subclass states."""

    _ipu_config: IPUConfig | None = None
    _hooks: list[Any]

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        guard(cls)

    @classmethod
    def from_transformers(cls, model: nn.Module, ipu_config: IPUConfig) -> Any:
        """The pipelined version of a model, on the model's own parameters and in its train or eval mode.

        PipelineError where the model is not of the original class, or is parallelized.
        """
        _refuse_other(cls, model)
        pipelined: Any
        if _has_own_constructor(cls):
            build: Any = cls
            pipelined = build(copy.deepcopy(model.config)).train(model.training)
            pipelined.generation_config = copy.deepcopy(getattr(model, "generation_config", None))
            share_into(pipelined, model)
        else:
            pipelined = share(model)
            _become(pipelined, cls)
        pipelined.ipu_config = copy.deepcopy(ipu_config)
        return pipelined

    @classmethod
    def from_pretrained_transformers(
        cls, model_name_or_path: str, ipu_config: IPUConfig, *model_args: Any, **kwargs: Any
    ) -> Any:
        """`from_pretrained` of the original class, as a pipelined model; further arguments are passed on to it."""
        loader: Any = cls
        pipelined = loader.from_pretrained(model_name_or_path, *model_args, **kwargs)
        pipelined.ipu_config = copy.deepcopy(ipu_config)
        return pipelined

    @classmethod
    def from_peft(cls, model: nn.Module, ipu_config: IPUConfig) -> Any:
        """A PEFT model around the pipelined version of its base model, on the same base and adapter parameters."""
        _refuse_other(cls, model.get_base_model())
        pipelined = share(model)
        base = pipelined.get_base_model()
        _become(base, cls)
        base.ipu_config = copy.deepcopy(ipu_config)
        return pipelined

    @classmethod
    def from_model(cls, model: nn.Module, ipu_config: IPUConfig | None = None) -> Any:
        """As `from_transformers`, with a default config where none is given."""
        return cls.from_transformers(model, IPUConfig() if ipu_config is None else ipu_config)

    @property
    def ipu_config(self) -> IPUConfig:
        """The config that says how the model is spread; AttributeError where it has none."""
        if self._ipu_config is None:
            raise AttributeError("No IPUConfig was found. Please set the ipu_config attribute")
        return self._ipu_config

    @ipu_config.setter
    def ipu_config(self, value: IPUConfig) -> None:
        if not isinstance(value, IPUConfig):
            raise TypeError(f"ipu_config must be an instance of IPUConfig, but {type(value)} was provided")
        self._ipu_config = value

    def parallelize(self) -> Self:
        """Begin a block at each part that the placement names, and return self.

        A class that overrides this calls it first, and collects in `self._hooks` the handles of hooks that it adds.
        PipelineError where the model is parallelized already; then, as after every failure, the model is unchanged.
        """
        self._hooks = []
        config = self.ipu_config
        placement: Placement | None = type(self).placement
        if placement is None and unwrap(type(self).parallelize) is unwrap(PipelineMixin.parallelize):
            placement = placement_for(self, original_class(type(self)))
        if placement is not None:
            self._hooks += place(self, placement, config)
        return self

    def deparallelize(self) -> Self:
        """Undo `parallelize` and return self; PipelineError where it has not run."""
        for hook in self.__dict__.get("_hooks", ()):
            hook.remove()
        removeBlocks(self)
        return self

    def num_parameters(
        self,
        only_trainable: bool = False,  # noqa: FBT001, FBT002 - a published signature
        exclude_embeddings: bool = False,  # noqa: FBT001, FBT002
    ) -> int:
        """How many parameters there are, tied ones counted once; all of them, or those that train, or no embeddings."""
        model: Any = self
        left_out: set[int] = set()
        if exclude_embeddings:
            embeddings = (module for module in model.modules() if isinstance(module, nn.Embedding))
            left_out = {id(parameter) for module in embeddings for parameter in module.parameters()}
        counted = (parameter for parameter in model.parameters() if id(parameter) not in left_out)
        return sum(parameter.numel() for parameter in counted if parameter.requires_grad or not only_trainable)


def _become(model: Any, cls: Any) -> None:
    """Make a model an instance of a subclass of its class."""
    from transformers import PreTrainedModel

    model.__class__ = cls
    # transformers learns which outputs a class can record when its constructor runs, on whatever instance.
    if issubclass(cls, PreTrainedModel):
        PreTrainedModel.__init__(cls.__new__(cls), model.config)


def _has_own_constructor(cls: type) -> bool:
    """Whether the class builds something that the original does not."""
    before = cls.__mro__[: cls.__mro__.index(original_class(cls))]
    return any("__init__" in vars(base) for base in before)


def _refuse_other(cls: type, model: nn.Module) -> None:
    original = original_class(cls)
    if not isinstance(model, original):
        raise PipelineError(
            f"{cls.__name__} is the pipelined version of {original.__name__}, and this is a {type(model).__name__}",
            hint="to_pipelined(model, ipu_config) finds the class that fits",
        )
    if is_parallelized(model):
        raise PipelineError(f"{type(model).__name__} is parallelized", hint="call deparallelize() first")
