"""The placements that come with the package, and what is refused about a placement."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import transformers
from torch import nn

from pipelined import IncompatibleIPUConfigError, IPUConfig, Placement, PlacementError
from pipelined.allocation import Assignment, allocate
from pipelined.blocks import BlockMark
from pipelined.catalog import from_pipeline_plan, placements
from pipelined.describe import allocation_table
from tests.pipelined.families import original, registered_classes
from tests.pipelined.tiny import tiny_model


def test_every_class_is_placed_as_optimum_graphcore_placed_it() -> None:
    tables = {name: table(tiny_model(original(name)), placements()[name]) for name in registered_classes()}

    written = (Path(__file__).parent / "allocations.txt").read_text(encoding="utf-8")
    assert "\n\n".join(f"{name}\n{text}" for name, text in tables.items()) + "\n" == written


@pytest.mark.parametrize("name", [name for name, placement in placements().items() if placement.tied])
def test_what_a_placement_calls_tied_is_one_tensor(name: str) -> None:
    model = tiny_model(original(name))
    parameters = dict(model.named_parameters(remove_duplicate=False))

    groups: dict[int, list[str]] = {}
    for path, parameter in parameters.items():
        groups.setdefault(id(parameter), []).append(path)

    assert all(any(set(tied) <= set(group) for group in groups.values()) for tied in placements()[name].tied)


@pytest.mark.parametrize(("tied", "ipu"), [(True, 0), (False, 1)])
def test_the_head_of_mt5_follows_its_weight(*, tied: bool, ipu: int) -> None:
    model = tiny_model(transformers.MT5ForConditionalGeneration)
    if not tied:
        model.lm_head.weight = nn.Parameter(model.lm_head.weight.detach().clone())

    found = allocate(model, placements()["MT5ForConditionalGeneration"], IPUConfig(ipus_per_replica=2))

    assert found[-1] == Assignment("lm_head", ipu)


@pytest.mark.parametrize(
    ("ipus", "places"),
    [(1, [0, 0, 0, 0]), (2, [0, 1, 1, 1]), (3, [0, 1, 2, 2]), (4, [1, 2, 3, 3]), (8, [1, 2, 3, 3])],
)
def test_lxmert_takes_four_ipus_and_makes_do_with_fewer(ipus: int, places: list[int]) -> None:
    model = tiny_model(transformers.LxmertForQuestionAnswering)
    found = allocate(model, placements()["LxmertForQuestionAnswering"], IPUConfig(ipus_per_replica=ipus))

    by_name = {one.module: one.ipu for one in found}
    names = ("lxmert.encoder.layer.0", "lxmert.encoder.r_layers.0", "lxmert.encoder.x_layers.0", "answer_head")
    assert [by_name[name] for name in names] == places


def test_a_pipeline_plan_is_a_placement() -> None:
    model = tiny_model(transformers.LlamaForCausalLM)

    assert from_pipeline_plan(model) == Placement(
        first=("model.embed_tokens",), layers=("model.layers",), last=("model.norm",), head=("lm_head",)
    )


def test_every_pipeline_plan_of_transformers_is_read() -> None:
    from pipelined.catalog import is_known
    from tests.pipelined.families import all_classes

    planned = [cls for cls in all_classes().values() if getattr(cls.config_class, "base_model_pp_plan", None)]

    assert len({cls.config_class for cls in planned}) >= 100
    assert [cls.__name__ for cls in planned if not is_known(cls)] == []


class Stack(nn.Module):
    """An embedding, four layers, a head."""

    def __init__(self) -> None:
        super().__init__()
        self.embed = nn.Embedding(8, 4)
        self.layers = nn.ModuleList(nn.Sequential(nn.Linear(4, 4), nn.ReLU()) for _ in range(4))
        self.head = nn.Linear(4, 8)
        self.same_head = self.head


@pytest.mark.parametrize(
    ("placement", "config", "error", "message"),
    [
        (
            {"layers": ["layer"]},
            {},
            PlacementError,
            "the model has no module 'layer'; did you mean layers, layers.3, layers.2?",
        ),
        (
            {"first": ["encoder"]},
            {},
            PlacementError,
            "the model has no module 'encoder'; it begins with embed, layers, layers.0, layers.0.0, layers.0.1",
        ),
        (
            {"first": ["embed"], "layers": ["layers"], "last": ["embed"]},
            {"ipus_per_replica": 2},
            PlacementError,
            (
                "embed is placed twice: on IPU 0 and on IPU 1; name it once; a module that is called several times"
                " still is one block"
            ),
        ),
        (
            {"last": ["head", "same_head"], "layers": ["layers"]},
            {},
            PlacementError,
            (
                "same_head (it is the same module as head) is placed twice: on IPU 0 and on IPU 0; name it once; a"
                " module that is called several times still is one block"
            ),
        ),
        (
            {"layers": ["layers"], "last": ["layers.1.0"]},
            {},
            PlacementError,
            "layers.1.0 is placed, and so is layers.1, which it is a part of; place either the whole or its parts",
        ),
        (
            {"layers": ["layers"], "beside": {"head": "embed"}},
            {},
            PlacementError,
            "head is to go beside embed, which this placement puts nowhere",
        ),
        (
            {"layers": ["layers"]},
            {"ipus_per_replica": 8},
            PlacementError,
            (
                "Stack has too few layers (4) for 8 IPUs with layers_per_ipu=[-1]; ask for no more IPUs than 4, or"
                " write 0 for each IPU that is to stay without a layer"
            ),
        ),
        (
            {"layers": ["layers"]},
            {"layers_per_ipu": [3, -1, -1]},
            PlacementError,
            (
                "Stack has too few layers (4) for 3 IPUs with layers_per_ipu=[3, -1, -1]; ask for no more IPUs than 2,"
                " or write 0 for each IPU that is to stay without a layer"
            ),
        ),
        (
            {"layers": ["layers"]},
            {"layers_per_ipu": [3, 2]},
            IncompatibleIPUConfigError,
            (
                "layers_per_ipu does not define the correct number of layers for the current model: layers_per_ipu=[3,"
                " 2] places 5 layers and the model has 4; let -1 stand for the layers that are left"
            ),
        ),
    ],
)
def test_a_placement_that_does_not_fit_the_model_is_refused(
    placement: dict[str, Any], config: dict[str, Any], error: type[Exception], message: str
) -> None:
    with pytest.raises(error) as raised:
        allocate(Stack(), Placement.from_table(placement), IPUConfig(**config))

    assert str(raised.value) == message


def test_an_ipu_may_stay_empty_when_the_config_says_so() -> None:
    placement = Placement.from_table({"first": ["embed"], "layers": ["layers"], "last": ["head"]})

    found = allocate(Stack(), placement, IPUConfig(layers_per_ipu=[0, 4, 0]))

    assert [one.ipu for one in found] == [0, 1, 1, 1, 1, 2]


def test_a_key_that_no_placement_has_is_named() -> None:
    with pytest.raises(PlacementError) as raised:
        Placement.from_table({"frist": ["embed"]})

    assert str(raised.value) == (
        "a placement has no key frist; the keys are first, layers, start, end, last, back, head, beside, quarters, tied"
    )


def table(model: nn.Module, placement: Placement) -> str:
    """The allocation over two IPUs, as the log has it."""
    found = allocate(model, placement, IPUConfig(ipus_per_replica=2))
    return allocation_table(BlockMark(one.module, one.module, one.ipu) for one in found)
