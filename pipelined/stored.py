"""A checkpoint of `torch.distributed.checkpoint`, read without running anything that may be hidden in it."""

from __future__ import annotations

import pickle
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import torch
from torch.distributed.checkpoint import FileSystemReader, load
from torch.distributed.checkpoint.metadata import TensorStorageMetadata

from pipelined.errors import PipelineError
from pipelined.folders import UNFINISHED, steps

METADATA = ".metadata"
MODEL, OPTIMIZER = "model", "optimizer"
"""The parts that a checkpoint of ours has."""

_ALLOWED = {
    "pathlib": {"Path", "PosixPath", "PurePosixPath", "PureWindowsPath", "WindowsPath"},
    "torch": {"Size", *(name for name, value in vars(torch).items() if isinstance(value, torch.dtype))},
    "torch.distributed.checkpoint.filesystem": {"_StorageInfo"},
    "torch.distributed.checkpoint.metadata": {
        "BytesStorageMetadata",
        "ChunkStorageMetadata",
        "Metadata",
        "MetadataIndex",
        "StorageMeta",
        "TensorProperties",
        "TensorStorageMetadata",
        "_MEM_FORMAT_ENCODING",
    },
    "torch.serialization": {"_get_layout"},
}
"""By module what the metadata of a checkpoint is made of."""


def newest(folder: Path) -> Path:
    """The folder itself where it is a checkpoint, or the newest in it; PipelineError where there is none."""
    if (folder / METADATA).is_file():
        return folder
    if there := steps(folder):
        return there[-1]
    if folder.name.startswith(UNFINISHED) or any(folder.glob(f"{UNFINISHED}*")):
        raise PipelineError(f"{folder} holds no checkpoint that was saved to its end")
    raise PipelineError(
        f"{folder} holds no checkpoint", hint="give what save_checkpoint was given, or what it returned"
    )


class Stored(FileSystemReader):
    """A folder with a checkpoint; PipelineError where it is none."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.folder = folder
        self.metadata = self._read()

    def of_model(self) -> Mapping[str, torch.Size]:
        """By key of the model's state dict the size of each tensor."""
        return {key: one.size for key, one in self._tensors(MODEL).items()}

    def of_optimizer(self, names: Iterable[str], device: torch.device) -> dict[str, torch.Tensor]:
        """For the parameters of these names empty tensors to read the optimizer's state into, by `name.key`.

        What has no dimension, such as a count of steps, is in main memory, where optimizers have it.
        """
        chosen = set(names)
        return {
            key: torch.empty(one.size, dtype=one.properties.dtype, device=device if one.size else "cpu")
            for key, one in self._tensors(OPTIMIZER).items()
            if key.rpartition(".")[0] in chosen
        }

    def read_into(self, parts: dict[str, Any], group: Any) -> None:
        """Read these tensors in place, by part and key; every process of the group calls it, each with its own."""
        load(parts, storage_reader=self, process_group=group)

    def read_metadata(self, *args: Any, **kwargs: Any) -> Any:
        self.metadata.storage_meta.load_id = self.load_id
        return self.metadata

    def _tensors(self, part: str) -> dict[str, TensorStorageMetadata]:
        found = self.metadata.state_dict_metadata.items()
        tensors = {name: one for name, one in found if isinstance(one, TensorStorageMetadata)}
        return {name.removeprefix(f"{part}."): one for name, one in tensors.items() if name.startswith(f"{part}.")}

    def _read(self) -> Any:
        path = self.folder / METADATA
        if not path.is_file():
            raise PipelineError(f"{self.folder} holds no checkpoint")
        try:
            with path.open("rb") as file:
                return _Unpickler(file).load()
        except Exception as error:
            raise PipelineError(f"{path} is damaged: {error}", hint="use another checkpoint") from error


class _Unpickler(pickle.Unpickler):
    """Makes nothing but what is allowed."""

    def find_class(self, module: str, name: str) -> Any:
        # Where Python 3.13 keeps them.
        public = "pathlib" if module == "pathlib._local" else module
        if name in _ALLOWED.get(public, ()):
            return super().find_class(public, name)
        raise pickle.UnpicklingError(f"{module}.{name} is no part of a checkpoint's metadata")
