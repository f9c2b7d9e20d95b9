"""Build a model without weights from whatever names it: a class, a configuration file, a folder, a repository."""

from __future__ import annotations

from difflib import get_close_matches
from pathlib import Path
from typing import Any

import torch

from pipelined.errors import PipelineError


def empty_model(source: str) -> Any:
    """The model on the meta device: its parameters have shapes and no memory.

    The source is the name of a transformers class (with its default configuration), a `config.json`, a folder that
    holds one, or a repository of the Hugging Face hub. No code that comes with a model is run. PipelineError where
    nothing of the kind is found.
    """
    import transformers

    cls = _class_named(source)
    if cls is not None and not Path(source).exists():
        return _build(cls, cls.config_class())
    try:
        config = transformers.AutoConfig.from_pretrained(source)
    except (OSError, ValueError, KeyError) as error:
        near = get_close_matches(source, dir(transformers), n=3)
        raise PipelineError(
            f"{source!r} names no model: {str(error).splitlines()[0]}",
            hint=f"did you mean {', '.join(near)}?" if near else "give a class, a config.json, its folder, or a hub id",
        ) from error
    for name in getattr(config, "architectures", None) or ():
        if (cls := _class_named(name)) is not None:
            return _build(cls, config)
    return _build(transformers.AutoModel, config)


def _class_named(name: str) -> Any:
    """The model class of transformers with this name, or one of our own; None where there is none."""
    import transformers

    from pipelined.models import groupbert

    for module in (transformers, groupbert):
        found = getattr(module, name, None) if name.isidentifier() else None
        if isinstance(found, type) and issubclass(found, transformers.PreTrainedModel):
            return found
    return None


def _build(cls: Any, config: Any) -> Any:
    try:
        with torch.device("meta"):
            model = cls(config) if issubclass(cls, torch.nn.Module) else cls.from_config(config)
        # The usual way asks which experts a token goes to, and without weights there is no answer.
        if any("Experts" in type(module).__name__ for module in model.modules()):
            model.set_experts_implementation("batched_mm")
    except Exception as error:
        raise PipelineError(f"{cls.__name__} could not be built: {error}") from error
    return model.eval()
