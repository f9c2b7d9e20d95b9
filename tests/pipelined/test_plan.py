"""What flows between blocks, the stages that follow from it, and the plan that is shown."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import torch
import transformers
from torch import nn

from pipelined import BeginBlock, IPUConfig, to_pipelined
from pipelined.dataflow import Call, Dataflow, Value, dataflow
from pipelined.describe import binary
from pipelined.overview import overview
from pipelined.plan import Plan
from pipelined.sample import sample_inputs
from pipelined.sources import empty_model
from tests.pipelined.tiny import tiny_model
from tooling.cli import main


class Branches(nn.Module):
    """An embedding that two layers read, of which one mutates what it was given outside its block."""

    def __init__(self) -> None:
        super().__init__()
        self.embed, self.left, self.right = nn.Embedding(8, 4), nn.Linear(4, 4), nn.Linear(4, 4)
        self.head = nn.Linear(4, 8)

    def forward(self, ids: torch.Tensor) -> torch.Tensor:
        embedded = self.embed(ids)
        left = self.left(embedded.float().transpose(0, 1)).transpose(0, 1)
        mixed = torch.zeros_like(left)
        mixed += left
        right = self.right(mixed)
        head: torch.Tensor = self.head(right + embedded)
        return head.softmax(-1)


PARTS = (("a", 0), ("b", 1), ("c", 1), ("d", 1), ("e", 0))


def test_the_last_ipu_has_two_stages_where_a_schedule_goes_there_and_back() -> None:
    calls = tuple(Call(name, ipu, frozenset({at - 1} if at else ())) for at, (name, ipu) in enumerate(PARTS))
    flow = Dataflow(calls, tuple(Value(call, (2,), "float32", 8) for call in range(5)), frozenset({4}))

    assert [Plan.of(flow, 2, turning=turning).ipu_of_stage for turning in (False, True)] == [(0, 1, 0), (0, 1, 1, 0)]
    assert Plan.of(flow, 2, turning=True) == Plan((0, 1, 1, 2, 3), (0, 1, 1, 0), ((0,), (2,), (3,)))


def test_a_value_is_consumed_by_what_is_computed_from_it() -> None:
    model = Branches()
    for ipu, name in enumerate(("embed", "left", "right", "head")):
        BeginBlock(model.get_submodule(name), name, ipu_id=ipu % 2)

    flow = dataflow(model, {"ids": torch.tensor([[1, 2]])})

    assert flow == Dataflow(
        calls=(
            Call("embed", 0, frozenset()),
            Call("left", 1, frozenset({0}), 64),
            Call("right", 0, frozenset({1}), 64),
            Call("head", 1, frozenset({0, 2}), 128),
        ),
        values=(
            Value(0, (1, 2, 4), "float32", 32),
            Value(1, (2, 1, 4), "float32", 32),
            Value(2, (1, 2, 4), "float32", 32),
            Value(3, (1, 2, 8), "float32", 64),
        ),
        outputs=frozenset({3}),
    )


def test_stages_follow_the_flow_and_payloads_last_until_they_are_needed() -> None:
    value = Value(0, (1,), "float32", 4)
    flow = Dataflow(
        calls=(
            Call("embed", 0, frozenset()),
            Call("a", 0, frozenset({0})),
            Call("b", 1, frozenset({1})),
            Call("c", 2, frozenset({2, 0})),
            Call("head", 0, frozenset({3})),
        ),
        values=tuple(Value(index, value.shape, value.dtype, value.bytes) for index in range(5)),
        outputs=frozenset({4, 1}),
    )

    plan = Plan.of(flow, 3)

    assert plan == Plan((0, 0, 1, 2, 3), (0, 1, 2, 0), ((0, 1), (0, 1, 2), (1, 3)))
    assert plan.payload_bytes(flow) == (8, 12, 8)


def test_an_empty_ipu_is_no_stage() -> None:
    flow = Dataflow(
        (Call("a", 0, frozenset()), Call("b", 2, frozenset({0}))), (Value(0, (1,), "int64", 8),), frozenset()
    )

    assert Plan.of(flow, 3) == Plan((0, 1), (0, 2), ((0,),))


@pytest.mark.parametrize("name", ["T5ForConditionalGeneration", "DebertaForMaskedLM", "Wav2Vec2ForCTC"])
def test_an_empty_run_shows_the_same_flow_as_a_real_one(name: str) -> None:
    flows = []
    model = tiny_model(getattr(transformers, name))
    inputs = sample_inputs(model)
    if name.startswith("T5"):
        del inputs["attention_mask"]  # it asks what the mask holds
    for device in ("cpu", "meta"):
        pipelined = to_pipelined(model.to(device), IPUConfig(ipus_per_replica=2)).parallelize()
        flows.append(dataflow(pipelined, {key: value.to(device) for key, value in inputs.items()}))

    assert [(call.module, call.consumes) for call in flows[0].calls] == [
        (call.module, call.consumes) for call in flows[1].calls
    ]
    assert (flows[0].values, flows[0].outputs) == (flows[1].values, flows[1].outputs)


def test_a_shared_parameter_counts_once_in_what_an_ipu_carries() -> None:
    model = tiny_model(transformers.GPT2LMHeadModel)

    view = overview(model, IPUConfig())

    assert view.shares[0].parameters == sum(parameter.numel() for parameter in model.parameters())
    assert (view.glue_parameters, view.ipu_of_stage, view.payload_bytes) == (0, (0,), ())


@pytest.mark.parametrize(
    ("size", "text"), [(0, "0 B"), (1023, "1023 B"), (1536, "1.5 KiB"), (3 << 30, "3.0 GiB"), (5 << 50, "5120.0 TiB")]
)
def test_bytes_are_written_as_people_write_them(size: int, text: str) -> None:
    assert binary(size) == text


def test_an_empty_model_takes_no_memory() -> None:
    model = empty_model("LlamaForCausalLM")

    assert {parameter.device.type for parameter in model.parameters()} == {"meta"}


def test_an_empty_mixture_of_experts_can_be_planned() -> None:
    view = overview(empty_model("MixtralForCausalLM"), IPUConfig(ipus_per_replica=2))

    assert (view.ipu_of_stage, len(view.parts)) == ((0, 1), 35)


@pytest.fixture
def checkpoint(tmp_path: Path) -> Path:
    """A folder with the configuration of a small BERT and nothing else."""
    tiny_model(transformers.BertForMaskedLM).config.save_pretrained(tmp_path)
    config = json.loads((tmp_path / "config.json").read_text(encoding="utf-8"))
    text = json.dumps({**config, "architectures": ["BertForMaskedLM"]})
    (tmp_path / "config.json").write_text(text, encoding="utf-8")
    return tmp_path


def test_the_command_shows_parts_ipus_and_boundaries(checkpoint: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code = main(["plan", str(checkpoint), "--ipus", "2"])

    assert (code, capsys.readouterr().out) == (
        0,
        """\
BertForMaskedLM over 2 IPUs
IPU  part                    parameters     bytes  compute
0    bert.embeddings              7,296  28.5 KiB     0.0%
0    bert.encoder.layer.0-1      17,088  66.8 KiB    44.3%
1    bert.encoder.layer.2-3      17,088  66.8 KiB    44.3%
0    cls                          6,400  25.0 KiB    11.3%

IPU  part                      parameters      bytes  compute
0    all, each parameter once      25,664  100.2 KiB    55.7%
1    all, each parameter once      17,088   66.8 KiB    44.3%

stages      IPU 0 -> IPU 1 -> IPU 0
boundaries  7.5 KiB, 7.5 KiB, for input_ids 1x60
""",
    )


def test_the_command_prints_json_and_draws(
    checkpoint: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    picture = tmp_path / "plan.svg"

    code = main(
        ["plan", str(checkpoint / "config.json"), "--layers", "1,-1", "--balance", "--json", "--svg", str(picture)]
    )
    data = json.loads(capsys.readouterr().out)

    assert (code, data["schema"], data["model"], data["balanced"]) == (0, 1, "BertForMaskedLM", [1, 3])
    assert [(part["module"], part["ipu"], part["stage"]) for part in data["parts"]] == [
        ("bert.embeddings", 0, 0),
        *((f"bert.encoder.layer.{index}", int(index > 0), int(index > 0)) for index in range(4)),
        ("cls", 0, 2),
    ]
    assert (data["ipu_of_stage"], data["payload_bytes"]) == ([0, 1, 0], [7680, 7680])
    assert picture.read_text(encoding="utf-8").count("<rect") == 4


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["BertForMaskedLn"], "error: 'BertForMaskedLn' names no model: "),
        (["BertForMaskedLM", "--ipus", "99"], "error: PipelinedBertForMaskedLM has too few layers (12) for 99 IPUs "),
        (["BertForMaskedLM", "--ipus", "0"], "error: `IPUConfig` attribute `ipus_per_replica` must be >= 1."),
        (
            ["BertForMaskedLM", "--layers", "3,x"],
            "error: argument --layers: '3,x' is not a list of whole numbers such as 3,3,-1",
        ),
        (["BertForMaskedLM", "--layers", "3,3"], "error: layers_per_ipu does not define the correct number of layers "),
        (["BertForMaskedLM", "--svg", "/nowhere/plan.svg"], "error: /nowhere/plan.svg cannot be written: No such file"),
    ],
)
def test_the_command_says_what_is_wrong(
    words: list[str], message: str, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    code = main(["plan", *words])

    assert (code, capsys.readouterr().err[: len(message)]) == (2, message)


def test_a_broken_configuration_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "config.json").write_text("{", encoding="utf-8")

    assert (main(["plan", str(tmp_path)]), capsys.readouterr().err.startswith("error: ")) == (2, True)


def test_code_that_comes_with_a_model_is_not_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "config.json").write_text('{"auto_map": {"AutoConfig": "evil.Config"}}', encoding="utf-8")
    (tmp_path / "evil.py").write_text("raise SystemExit('it ran')", encoding="utf-8")

    assert main(["plan", str(tmp_path)]) == 2
    assert "it ran" not in capsys.readouterr().err


def test_a_model_of_our_own_has_a_plan(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["plan", "GroupBertForMaskedLM", "--ipus", "4", "--json"]) == 0

    data: dict[str, Any] = json.loads(capsys.readouterr().out)
    assert data["ipu_of_stage"] == [0, 1, 2, 3, 0]
