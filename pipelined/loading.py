"""Load a pretrained model so that each process reads only the parameters that it holds.

The model is built without weights first, from the headers of its files alone: transformers renames, converts and ties
as it always does, and what is wrong with the files comes to light before anything is read. Once it is known who holds
what, the same machinery reads the rest.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import torch
from torch import nn

from pipelined.errors import PipelineError
from pipelined.holders import Holders
from pipelined.hub import class_and_config, dtype_of, generation_config, quietly
from pipelined.randomness import keyed
from pipelined.weights import Unread, unread

logger = logging.getLogger(__name__)

SHOWN = 5
"""How many names of many a message gives."""


@dataclass
class Pretrained:
    """A folder, or a repository of the Hugging Face hub, as a model whose weights are read where they are needed.

    The class is the one that its configuration names, of transformers itself, or the one given. Parameters that the
    files lack are an error, unless they are to be initialized: then with the same numbers in every process.
    """

    source: str | Path
    model_class: Any = None
    dtype: torch.dtype | None = None
    revision: str | None = None
    initialize_missing: bool = False
    _tensors: dict[str, Unread] = field(default_factory=dict)
    _made: dict[str, torch.Tensor] = field(default_factory=dict)
    _conversions: list[Any] = field(default_factory=list)

    def skeleton(self, *, seed: int) -> Any:
        """The model with its buffers, and with parameters on the meta device; PipelineError where files do not fit.

        What the files lack is initialized with random numbers of the seed.
        """
        cls, config = class_and_config(self.source, self.model_class, self.revision)
        self._tensors = unread(self.source, revision=self.revision)
        model = self._built(cls, config, seed)
        if twice := self._twice(model):
            for name in twice:
                del self._tensors[name]
            model = self._built(cls, config, seed)
        for path, module in model.named_modules():
            for own, parameter in module._parameters.items():
                if parameter is not None and not parameter.is_meta:
                    self._made[f"{path}.{own}" if path else own] = parameter.detach()
                    module._parameters[own] = nn.Parameter(parameter.detach().to("meta"), parameter.requires_grad)
        if (generation := generation_config(self.source, self.revision)) is not None:
            model.generation_config = generation
        model.config._name_or_path = str(self.source)
        return model

    def fill(self, model: Any, held: Holders, ipu: int, device: torch.device) -> None:
        """Read what this IPU holds of a skeleton, and all buffers, straight to the device."""
        from transformers.core_model_loading import convert_and_load_state_dict_in_model
        from transformers.modeling_utils import LoadStateDictConfig

        mine = set(held.held_by(ipu))
        before = dict(model.named_parameters(remove_duplicate=False))
        places = {name: device if held.names.get(name) in {*mine, None} else "meta" for name in model.state_dict()}
        with quietly():
            found, _ = convert_and_load_state_dict_in_model(
                model,
                self._tensors,
                LoadStateDictConfig(device_map=places, dtype=self.dtype, weight_mapping=self._conversions),
            )
        if found.conversion_errors:
            name, reason = next(iter(found.conversion_errors.items()))
            raise PipelineError(f"{name} of {self.source} cannot be converted: {reason.splitlines()[-1]}")
        for name in self._made.keys() & mine:
            _set(model, name, nn.Parameter(self._made[name].to(device)))
        # They keep files open.
        self._tensors.clear()
        self._made.clear()
        _tie(model, held, there=before.keys() - found.missing_keys)
        for name, parameter in model.named_parameters(remove_duplicate=False):
            parameter.requires_grad_(before[name].requires_grad)

    def _built(self, cls: Any, config: Any, seed: int) -> Any:
        """The model as transformers loads it from tensors that are empty."""
        from transformers.conversion_mapping import get_model_conversion_mapping

        self.dtype = self.dtype or dtype_of(config, (one.stored.get_dtype() for one in self._tensors.values()))
        empty = {name: replace(one, empty=True) for name, one in self._tensors.items()}
        options = {"dtype": self.dtype, "output_loading_info": True, "ignore_mismatched_sizes": True}
        with quietly(), keyed(seed):
            model, found = cls.from_pretrained(None, config=config, state_dict=empty, **options)
        self._refuse(cls, found)
        self._conversions = get_model_conversion_mapping(model)
        return model

    def _refuse(self, cls: Any, found: Mapping[str, Any]) -> None:
        """Raise where files and model do not fit; warn of what the files hold besides."""
        wrong = sorted((name, tuple(there), tuple(wanted)) for name, there, wanted in found["mismatched_keys"])
        missing, unexpected = sorted(found["missing_keys"]), sorted(found["unexpected_keys"])
        if wrong:
            name, there, wanted = wrong[0]
            more = f", and {len(wrong) - 1} more differ" if len(wrong) > 1 else ""
            raise PipelineError(
                f"{name} has shape {list(there)} in {self.source}, and {list(wanted)} in {cls.__name__}{more}"
            )
        if missing and not self.initialize_missing:
            besides = f", and holds {_some(unexpected)} besides" if unexpected else ""
            raise PipelineError(
                f"{self.source} lacks {_some(missing)} of {cls.__name__}{besides}",
                hint="Pretrained(..., initialize_missing=True) in place of the name starts them afresh",
            )
        if unexpected:
            logger.warning("%s has no use for %s of %s", cls.__name__, _some(unexpected), self.source)

    def _twice(self, model: Any) -> list[str]:
        """Which tensors the files hold although they are tied to another that they hold too.

        Those that differ from the other are not tied, as transformers does it, and are none of these.
        """
        from transformers.core_model_loading import WeightConverter, rename_source_key

        tied = {
            one: other
            for one, other in model.all_tied_weights_keys.items()
            if _get(model, one) is not _get(model, other)
        }
        if not tied:
            return []
        converters = [one for one in self._conversions if isinstance(one, WeightConverter)]
        renamings = [one for one in self._conversions if not isinstance(one, WeightConverter)]
        known = model.state_dict()
        files = {
            rename_source_key(name, renamings, converters, model.base_model_prefix, known)[0]: name
            for name in self._tensors
        }
        twice = []
        for one, other in tied.items():
            if self._tensors[files[one]].equals(self._tensors[files[other]]):
                twice.append(files[one])
            else:
                del model.all_tied_weights_keys[one]
        return twice


def _tie(model: nn.Module, held: Holders, there: set[str]) -> None:
    """Put the parameter that was read under one of its names under the others."""
    groups: dict[str, list[str]] = {}
    for name, first in held.names.items():
        groups.setdefault(first, []).append(name)
    for first, names in groups.items():
        source = _get(model, next((name for name in names if name in there), first))
        for name in names:
            _set(model, name, source)


def _get(model: nn.Module, name: str) -> Any:
    path, _, own = name.rpartition(".")
    return getattr(model.get_submodule(path), own)


def _set(model: nn.Module, name: str, parameter: nn.Parameter) -> None:
    path, _, own = name.rpartition(".")
    setattr(model.get_submodule(path), own, parameter)


def _some(names: list[str]) -> str:
    more = f" and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
    return ", ".join(names[:SHOWN]) + more
