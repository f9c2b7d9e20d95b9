"""What a folder, or a repository of the Hugging Face hub, says of the model that is in it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import torch

from pipelined.errors import PipelineError


def located(source: str | Path, name: str, *, revision: str | None = None) -> Path | None:
    """A file of a folder, or of a repository, whence it is fetched; None where it has no such file."""
    from transformers.utils import cached_file

    path = cached_file(str(source), name, revision=revision or "main", _raise_exceptions_for_missing_entries=False)
    return None if path is None else Path(path)


def class_and_config(source: str | Path, model_class: Any, revision: str | None) -> tuple[Any, Any]:
    """The class given, or the one that the configuration names, which has to be one of transformers; and that.

    PipelineError where there is none; no code that comes with a model is run.
    """
    import transformers

    if not Path(source).exists() and (Path(source).is_absolute() or str(source).startswith(".")):
        raise PipelineError(f"there is no folder {source}")
    kind = transformers.AutoConfig if model_class is None else model_class.config_class
    try:
        with quietly():
            config = kind.from_pretrained(str(source), revision=revision or "main")
    except (OSError, ValueError, KeyError) as error:
        raise PipelineError(f"{source} has no configuration that transformers can read: {error}") from error
    named = (config.architectures or ["no class"])[0]
    cls = model_class or getattr(transformers, named, None)
    if not (isinstance(cls, type) and issubclass(cls, transformers.PreTrainedModel)):
        raise PipelineError(
            f"{source} is for {named}, which transformers does not have",
            hint="distribute(..., model_class=...) takes a class of your own",
        )
    if getattr(config, "quantization_config", None) is not None:
        raise PipelineError(f"{source} is quantized", hint="load it with transformers, and dequantize it")
    return cls, config


def dtype_of(config: Any, stored: Iterable[str]) -> torch.dtype:
    """The type that the configuration says, or else the first one of floats among those that safetensors has stored."""
    if (said := getattr(config, "dtype", None)) is not None:
        return getattr(torch, said) if isinstance(said, str) else said
    names = {"F64": torch.float64, "F32": torch.float32, "F16": torch.float16, "BF16": torch.bfloat16}
    found = (names[kind] for kind in stored if kind in names)
    return next(found, torch.get_default_dtype())


def generation_config(source: str | Path, revision: str | None) -> Any:
    """The generation config, or None where there is none."""
    from transformers import GenerationConfig

    if located(source, "generation_config.json", revision=revision) is None:
        return None
    return GenerationConfig.from_pretrained(str(source), revision=revision or "main")


@contextmanager
def quietly() -> Iterator[None]:
    """Without the reports and progress bars of transformers: there are as many as processes, and most is elsewhere."""
    from transformers.utils import logging as theirs

    level, bars = theirs.get_verbosity(), theirs.is_progress_bar_enabled()
    theirs.set_verbosity_error()
    theirs.disable_progress_bar()
    try:
        yield
    finally:
        theirs.set_verbosity(level)
        if bars:
            theirs.enable_progress_bar()
