"""Load models of a folder in a session, and say what was read; called in several processes."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import partial
from typing import Any, ClassVar

import pytest
import torch
import transformers
from safetensors import safe_open

from pipelined import IPUConfig, PipelineError
from pipelined.distributed import distribute
from pipelined.loading import Pretrained


class Watched:
    """A file of tensors that notes the names of those that are read."""

    read: ClassVar[list[str]] = []

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        self.file = safe_open(*args, **kwargs)

    def keys(self) -> Any:
        return self.file.keys()

    def get_slice(self, name: str) -> Any:
        return WatchedSlice(self.file.get_slice(name), name)


class WatchedSlice:
    def __init__(self, stored: Any, name: str) -> None:
        self.stored, self.name = stored, name

    def __getitem__(self, index: Any) -> Any:
        Watched.read.append(self.name)
        return self.stored[index]

    def __getattr__(self, name: str) -> Any:
        return getattr(self.stored, name)


def loaded(folders: dict[str, str], *, ipus: int) -> dict[str, Any]:
    """By case what a session has of a model that it loads, compared with what the original class loads."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("pipelined.weights.safe_open", Watched)
        return {case: _loaded(folder, ipus) for case, folder in folders.items()}


def _loaded(folder: str, ipus: int) -> Any:
    plain = _plain(folder)
    expected = dict(plain.named_parameters(remove_duplicate=False))
    Watched.read = []
    with distribute(folder, IPUConfig(ipus_per_replica=ipus)) as pipe:
        held, read = pipe.parameters(), sorted(Watched.read)
        here = {name: one for name, one in pipe.model.named_parameters() if not one.is_meta}
        pairs = zip(pipe.model.named_buffers(), plain.named_buffers(), strict=True)
        return {
            "read": read,
            "held": sorted(held),
            "nothing else": here.keys() == held.keys(),
            "equal": all(
                torch.equal(one, expected[name]) and one.dtype == expected[name].dtype for name, one in held.items()
            ),
            "buffers": all(ours[0] == theirs[0] and torch.equal(ours[1], theirs[1]) for ours, theirs in pairs),
            "tied": len(list(pipe.model.parameters())) == len(list(plain.parameters())),
            "configs": pipe.model.config.to_dict() == plain.config.to_dict(),
            "evaluating": not any(module.training for module in pipe.model.modules()),
        }


def _plain(folder: str) -> Any:
    config = transformers.AutoConfig.from_pretrained(folder)
    return getattr(transformers, config.architectures[0]).from_pretrained(folder)


def refused(folders: dict[str, str], *, ipus: int) -> dict[str, str]:
    """By case what is raised where a folder does not fit; {rank} in its name stands for this process."""
    config, rank = IPUConfig(ipus_per_replica=ipus), os.environ["RANK"]
    return {case: _raised(partial(distribute, folder.format(rank=rank), config)) for case, folder in folders.items()}


def _raised(call: Callable[[], Any]) -> str:
    try:
        call()
    except PipelineError as error:
        return str(error)
    return "nothing"


def begun_afresh(folder: str, *, ipus: int) -> dict[str, torch.Tensor]:
    """The whole model, of which the folder lacks the head."""
    given = Pretrained(folder, transformers.BertForSequenceClassification, torch.bfloat16, initialize_missing=True)
    with distribute(given, IPUConfig(ipus_per_replica=ipus, seed=3)) as pipe:
        return pipe.state_dict(everywhere=True)


def everything(good: dict[str, str], bad: dict[str, str], headless: str, *, ipus: int) -> tuple[Any, ...]:
    """All of these: a group of processes takes seconds to start."""
    return loaded(good, ipus=ipus), refused(bad, ipus=ipus), begun_afresh(headless, ipus=ipus)
