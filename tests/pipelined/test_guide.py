"""The guide's example: a class that overrides `parallelize` by hand works, word for word but for import and paths."""

from __future__ import annotations

import logging
from typing import Any

import pytest
import transformers

from pipelined import (
    BeginBlock,
    IPUConfig,
    PipelineMixin,
    get_layer_ipu,
    recomputation_checkpoint,
    register,
    registry,
    to_pipelined,
)
from pipelined.blocks import blocks
from tests.pipelined.outcomes import full_inputs, outcome, same
from tests.pipelined.structure import structure
from tests.pipelined.tiny import tiny_model

logger = logging.getLogger(__name__)


@pytest.fixture
def guide_class(monkeypatch: pytest.MonkeyPatch) -> Any:
    """The class of the guide, registered for as long as a test lasts."""
    monkeypatch.setattr(registry, "_PIPELINED", {})

    @register(transformers.ViTForImageClassification)
    class PipelinedViTForImageClassification(transformers.ViTForImageClassification, PipelineMixin):
        def parallelize(self) -> Any:
            super().parallelize()
            logger.info("---------- Device Allocation -----------")
            logger.info("Embedding  --> IPU 0")
            self.vit.embeddings = BeginBlock(self.vit.embeddings, "Embedding", ipu_id=0)

            layer_ipu = get_layer_ipu(self.ipu_config.layers_per_ipu, self.vit.layers)
            for index, layer in enumerate(self.vit.layers):
                if self.ipu_config.recompute_checkpoint_every_layer:
                    h = recomputation_checkpoint(layer)
                    self._hooks.append(h)
                ipu = layer_ipu[index]
                logger.info(f"Encoder {index:<2} --> IPU {ipu}")
                self.vit.layers[index] = BeginBlock(layer, f"Encoder{index}", ipu_id=ipu)

            last_ipu = self.ipu_config.ipus_per_replica - 1
            logger.info(f"Head       --> IPU {last_ipu}")
            logger.info("---------------------------------------")
            self.vit.layernorm = BeginBlock(self.vit.layernorm, "LayerNorm", ipu_id=last_ipu)
            self.classifier = BeginBlock(self.classifier, "Classifier", ipu_id=last_ipu)  # type: ignore[has-type]
            return self

    return PipelinedViTForImageClassification


@pytest.mark.parametrize("config", [{"layers_per_ipu": [1, 3]}, {"ipus_per_replica": 2}])
@pytest.mark.parametrize("recompute", [False, True])
def test_the_guides_example_works(guide_class: Any, config: dict[str, Any], *, recompute: bool) -> None:
    model = tiny_model(transformers.ViTForImageClassification)
    inputs = full_inputs(model)
    expected = outcome(model, inputs)
    ipu_config = IPUConfig(**config, recompute_checkpoint_every_layer=recompute)

    pipelined = to_pipelined(model, ipu_config)
    before = structure(pipelined)
    parallelized = pipelined.parallelize()

    assert type(parallelized) is guide_class
    cut = 1 if config == {"layers_per_ipu": [1, 3]} else 2
    layers = [(f"Encoder{index}", int(index >= cut)) for index in range(4)]
    assert [(mark.user_id, mark.ipu_id) for mark in blocks(pipelined)] == [
        ("Embedding", 0),
        *layers,
        ("LayerNorm", 1),
        ("Classifier", 1),
    ]
    assert same(outcome(pipelined, inputs), expected)

    assert pipelined.deparallelize() is pipelined
    assert blocks(pipelined) == ()
    assert structure(pipelined) == before
    assert same(outcome(pipelined, inputs), expected)
