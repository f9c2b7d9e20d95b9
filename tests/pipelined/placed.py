"""Tiny models whose layers stand where a test wants them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Self

from pipelined import BeginBlock, IPUConfig, PipelineMixin
from tests.pipelined.tiny import tiny_model

LAYERS = {
    "BertForTokenClassification": (["bert.embeddings"], "bert.encoder.layer", ["classifier"]),
    "GPT2ForTokenClassification": (["transformer.wte", "transformer.wpe"], "transformer.h", ["classifier"]),
    "LlamaForCausalLM": (["model.embed_tokens"], "model.layers", ["lm_head"]),
}
"""What comes before the layers, the layers, and what comes after, of some classes with four layers."""


def placed(model: Any, ipus: Mapping[str, int], config: IPUConfig) -> Any:
    """The pipelined version of a model, each part on the IPU that is given for it."""
    cls: Any = type(model)

    class Placed(PipelineMixin, cls):
        def parallelize(self) -> Self:
            super().parallelize()
            for name, ipu in ipus.items():
                BeginBlock(self.get_submodule(name), name, ipu_id=ipu)
            return self

    return Placed.from_transformers(model, config)


def around(name: str, ipu_of_layer: Sequence[int], config: IPUConfig) -> Any:
    """A tiny model of that class, its layers on these IPUs, and what is before and after beside the nearest of them."""
    import transformers

    first, layers, last = LAYERS[name]
    ipus = {
        **dict.fromkeys(first, ipu_of_layer[0]),
        **{f"{layers}.{index}": ipu for index, ipu in enumerate(ipu_of_layer)},
        **dict.fromkeys(last, ipu_of_layer[-1]),
    }
    return placed(tiny_model(getattr(transformers, name)), ipus, config)
