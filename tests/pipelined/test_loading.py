"""Folders are loaded as the original class loads them, each process its part, or refused by all in the same words."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
import transformers
from safetensors.torch import load_file, save_file

from tests.pipelined.loading import begun_afresh, everything
from tests.pipelined.processes import run
from tests.pipelined.tiny import tiny_model

Tensors = dict[str, torch.Tensor]

REFUSED = {
    "missing": "/missing lacks bert.encoder.layer.0.output.LayerNorm.bias,"
    " bert.encoder.layer.0.output.LayerNorm.weight, bert.encoder.layer.0.output.dense.bias,"
    " bert.encoder.layer.0.output.dense.weight of BertForMaskedLM;"
    " Pretrained(..., initialize_missing=True) in place of the name starts them afresh",
    "shape": "bert.encoder.layer.3.output.dense.bias has shape [31] in /shape, and [32] in BertForMaskedLM",
    "short": "/short/model-00002-of-00005.safetensors is damaged",
    "lacking": "/lacking lacks model-00002-of-00005.safetensors, which its index names; save or download it again",
    "outside": "/outside/model.safetensors.index.json names files that are not beside it",
    "pickled": "/pickled holds no model.safetensors and no model.safetensors.index.json;"
    " load the model with transformers, and save it with save_pretrained",
    "unknown": "/unknown is for NobodysModel, which transformers does not have;"
    " distribute(..., model_class=...) takes a class of your own",
    "quantized": "/quantized is quantized; load it with transformers, and dequantize it",
    "nothing": "there is no folder /nothing",
    "only-{rank}": "process 1: PipelineError: there is no folder /only-1",
}


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Models as others have saved them: whole and in shards, of today and of years ago, and damaged ones."""
    root = tmp_path_factory.mktemp("models")
    bert = tiny_model(transformers.BertForMaskedLM)
    bert.save_pretrained(root / "bert", max_shard_size="40KB")
    bert.save_pretrained(root / "whole")
    tiny_model(transformers.MixtralForCausalLM).save_pretrained(root / "mixtral")
    given = {"embedding_size": 8, "hidden_sizes": [8, 16, 24, 32], "depths": [1, 1, 1, 1], "layer_type": "basic"}
    resnet = tiny_model(transformers.ResNetForImageClassification, **given)
    for buffer in resnet.buffers():
        buffer.add_(3)
    resnet.save_pretrained(root / "resnet")
    tiny_model(transformers.LlamaForCausalLM, tie_word_embeddings=True).save_pretrained(root / "llama")
    _changed(root, "whole", "old", _gamma)
    _changed(
        root, "llama", "twice", lambda tensors: tensors | {"lm_head.weight": tensors["model.embed_tokens.weight"] + 0}
    )
    _changed(
        root, "llama", "apart", lambda tensors: tensors | {"lm_head.weight": tensors["model.embed_tokens.weight"] + 1}
    )
    _changed(
        root, "whole", "missing", lambda tensors: {key: one for key, one in tensors.items() if "0.output" not in key}
    )
    _changed(root, "whole", "headless", lambda tensors: {key: one for key, one in tensors.items() if "cls" not in key})
    _changed(
        root, "whole", "shape", lambda tensors: tensors | {"bert.encoder.layer.3.output.dense.bias": torch.ones(31)}
    )
    _damage(root)
    return root


@pytest.fixture(scope="module")
def found(folders: Path) -> list[Any]:
    """What came of all of them in each of two processes."""
    good = {case: str(folders / case) for case in ("bert", "mixtral", "resnet", "old", "twice", "apart")}
    names = (
        "missing",
        "shape",
        "short",
        "lacking",
        "outside",
        "pickled",
        "unknown",
        "quantized",
        "nothing",
        "only-{rank}",
    )
    bad = {case: str(folders / case) for case in names}
    return run(everything, processes=2, good=good, bad=bad, headless=str(folders / "headless"), ipus=2)


def test_each_process_has_what_the_original_class_loads(found: list[Any]) -> None:
    wanted = ("nothing else", "equal", "buffers", "tied", "configs", "evaluating")

    for loaded, _, _ in found:
        assert {case: {key: one[key] for key in wanted} for case, one in loaded.items()} == {
            case: dict.fromkeys(wanted, True) for case in loaded
        }
    assert [len(loaded) for loaded, _, _ in found] == [6, 6]


def test_a_process_reads_no_parameter_that_it_does_not_hold(folders: Path, found: list[Any]) -> None:
    of_bert = [loaded["bert"] for loaded, _, _ in found]
    of_resnet = [loaded["resnet"] for loaded, _, _ in found]
    statistics = [
        key for key in load_file(folders / "resnet" / "model.safetensors") if "running" in key or "num_b" in key
    ]

    assert [one["read"] for one in of_bert] == [one["held"] for one in of_bert]
    assert [one["read"] for one in of_resnet] == [sorted(one["held"] + statistics) for one in of_resnet]
    assert not set(of_bert[0]["held"]) & set(of_bert[1]["held"])


def test_what_does_not_fit_is_refused_in_the_same_words_everywhere(folders: Path, found: list[Any]) -> None:
    said = [{case: text.replace(str(folders), "") for case, text in refused.items()} for _, refused, _ in found]

    assert said[0] == said[1]
    # What comes after the colon are the words of safetensors.
    assert {case: text.partition(": Error")[0] for case, text in said[0].items()} == REFUSED


def test_what_is_missing_can_begin_afresh_alike_in_every_placement(folders: Path, found: list[Any]) -> None:
    alone = begun_afresh(str(folders / "headless"), ipus=1)
    saved = load_file(folders / "headless" / "model.safetensors")

    for _, _, state in found:
        assert state.keys() == alone.keys()
        assert all(torch.equal(one, state[key]) for key, one in alone.items())
    assert {one.dtype for one in alone.values()} == {torch.bfloat16}
    assert all(torch.equal(alone[key], one.bfloat16()) for key, one in saved.items())
    assert sorted(alone.keys() - saved.keys()) == [
        "bert.pooler.dense.bias",
        "bert.pooler.dense.weight",
        "classifier.bias",
        "classifier.weight",
    ]
    assert alone["classifier.weight"].std() > 0


def _changed(root: Path, source: str, name: str, change: Callable[[Tensors], Tensors]) -> None:
    """The same model with other tensors."""
    shutil.copytree(root / source, root / name)
    file = root / name / "model.safetensors"
    save_file(change(load_file(file)), file, metadata={"format": "pt"})


def _gamma(tensors: Tensors) -> Tensors:
    """As BERT was saved when its layer norms were TensorFlow's."""
    new = {"LayerNorm.weight": "LayerNorm.gamma", "LayerNorm.bias": "LayerNorm.beta"}
    return {
        next((key.replace(*pair) for pair in new.items() if pair[0] in key), key): one for key, one in tensors.items()
    }


def _damage(root: Path) -> None:
    """Folders that nobody could load."""
    for name in ("short", "lacking", "outside"):
        shutil.copytree(root / "bert", root / name)
    shards = sorted((root / "short").glob("*.safetensors"))
    shards[1].write_bytes(shards[1].read_bytes()[:-10])
    sorted((root / "lacking").glob("*.safetensors"))[1].unlink()
    _edit(
        root / "outside" / "model.safetensors.index.json",
        lambda index: index["weight_map"].update(x="../whole/model.safetensors"),
    )
    for name in ("pickled", "unknown", "quantized", "only-0"):
        shutil.copytree(root / "whole", root / name)
    (root / "pickled" / "model.safetensors").rename(root / "pickled" / "pytorch_model.bin")
    _edit(root / "unknown" / "config.json", lambda config: config.update(architectures=["NobodysModel"]))
    _edit(
        root / "quantized" / "config.json",
        lambda config: config.update(quantization_config={"quant_method": "gptq", "bits": 4}),
    )


def _edit(path: Path, change: Callable[[Any], Any]) -> None:
    values = json.loads(path.read_text(encoding="utf-8"))
    change(values)
    path.write_text(json.dumps(values), encoding="utf-8")
