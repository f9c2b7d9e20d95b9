"""When the steps of a schedule run, how that is drawn, and what `plan --timeline` makes of it."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipelined.order import Order, Step
from pipelined.schedule import compute_order
from pipelined.timeline import Timeline, timeline
from pipelined.timeline_drawing import timeline_svg
from pipelined.timeline_text import timeline_legend, timeline_lines, timeline_table
from tooling.cli import main


def drawn(found: Timeline, width: int) -> list[str]:
    """The lines as a terminal of this width shows them."""
    return ["".join(text for text, _ in pieces) for pieces in timeline_lines(found, width)]


@pytest.mark.parametrize("schedule", ["gpipe", "1f1b"])
@pytest.mark.parametrize("stages", range(1, 10))
def test_the_bubble_of_gpipe_and_1f1b_is_what_it_is_known_to_be(schedule: str, stages: int) -> None:
    for microbatches in (*range(1, 18), 64):
        found = timeline(compute_order(range(stages), microbatches, schedule=schedule))

        idle = sum(int(lane.idle) for lane in found.lanes)
        assert found.ticks == 3 * (microbatches + stages - 1)
        assert Fraction(idle, stages * int(found.ticks)) == Fraction(stages - 1, microbatches + stages - 1)
        assert found.bubble == pytest.approx((stages - 1) / (microbatches + stages - 1))


@pytest.mark.parametrize("microbatches", [1, 2, 4, 16])
def test_1f1b_holds_as_many_microbatches_as_there_are_stages_to_come_and_gpipe_all(microbatches: int) -> None:
    one, all_forward = (timeline(compute_order(range(4), microbatches, schedule=name)) for name in ("1f1b", "gpipe"))

    assert [lane.held for lane in one.lanes] == [min(microbatches, count) for count in (4, 3, 2, 1)]
    assert [lane.held for lane in all_forward.lanes] == [microbatches] * 4


def test_forward_passes_alone_hold_nothing() -> None:
    found = timeline(compute_order((0, 1), 3, training=False))

    assert ([lane.held for lane in found.lanes], found.ticks) == ([0, 0], 4)


def test_an_ipu_that_comes_twice_sets_the_pace() -> None:
    found = timeline(compute_order((0, 1, 0), 4))

    # Drawn by hand: IPU 0 has twice the work and never waits.
    assert drawn(found, 80) == [
        "IPU 0  F0 F1 f0 b0--- f1 b1--- B0--- B1--- F2 F3 f2 b2--- f3 b3--- B2--- B3---",
        "IPU 1  ...F0 F1 ......B0--- ...B1--- .........F2 F3 ......B2--- ...B3--- ......",
    ]
    assert timeline_table(found) == [
        "IPU      busy    idle   bubble  held",
        "0          24       0     0.0%     3",
        "1          12      12    50.0%     2",
    ]


def test_a_stage_that_costs_more_takes_longer() -> None:
    found = timeline(compute_order((0, 1), 2, schedule="gpipe"), costs=(100, 300))

    times = [[(str(span.step), span.start, span.end) for span in lane.spans] for lane in found.lanes]
    assert times == [
        [("0F0", 0, 0.5), ("0F1", 0.5, 1), ("0B0", 6.5, 7.5), ("0B1", 9.5, 10.5)],
        [("1F0", 0.5, 2), ("1F1", 2, 3.5), ("1B0", 3.5, 6.5), ("1B1", 6.5, 9.5)],
    ]
    assert [(lane.busy, lane.idle) for lane in found.lanes] == [(3, 7.5), (9, 1.5)]


def test_the_halves_of_a_backward_pass_fill_the_bubble() -> None:
    found = timeline(compute_order((0, 1), 3, schedule="interleaved-zero-bubble"))

    assert drawn(found, 80) == [
        "IPU 0  F0 F1 ...I0 W0 F2 I1 W1 I2 W2",
        "IPU 1  ...F0 I0 F1 I1 W0 F2 I2 W1 W2",
    ]
    assert timeline_legend(found) == (
        "F forward, I backward for inputs, W backward for weights, . waiting; held: activations at once"
    )


def test_an_ipu_without_a_stage_waits_all_the_time() -> None:
    found = timeline(compute_order((0, 2), 1))

    assert drawn(found, 80)[1] == "IPU 1  .................."
    assert (found.lanes[1].busy, found.lanes[1].idle, found.lanes[1].held) == (0, 6, 0)


def test_an_order_that_waits_for_itself_is_no_timeline() -> None:
    steps = (Step(0, "B", 0), Step(0, "F", 0))

    with pytest.raises(ValueError, match="the steps of this 1f1b wait for each other"):
        timeline(Order("1f1b", (0,), 1, (steps,)))


def test_a_narrow_terminal_gets_less_of_each_step_and_then_one_line_below_the_other() -> None:
    found = timeline(compute_order((0, 1), 3))

    assert [drawn(found, width) for width in (43, 42, 30, 15)] == [
        [
            "IPU 0  F0 F1 ......B0--- F2 B1--- ...B2---",
            "IPU 1  ...F0 B0--- F1 B1--- F2 B2--- ......",
        ],
        [
            "IPU 0  F0F1....B0- F2B1- ..B2-",
            "IPU 1  ..F0B0- F1B1- F2B2- ....",
        ],
        [
            "IPU 0  FF..B0FB1.B2",
            "IPU 1  .FB0FB1FB2..",
        ],
        [
            "IPU 0  FF..B0FB",
            "IPU 1  .FB0FB1F",
            "",
            "IPU 0  1.B2",
            "IPU 1  B2..",
        ],
    ]


@given(
    st.lists(st.integers(0, 11), min_size=1, max_size=6),
    st.integers(1, 12),
    st.integers(1, 200),
    st.booleans(),
)
def test_no_line_is_longer_than_the_terminal_is_wide(
    stages: list[int], microbatches: int, width: int, weighted: bool
) -> None:
    found = timeline(compute_order(stages, microbatches), range(1, len(stages) + 1) if weighted else None)

    lines = drawn(found, width)

    assert max(map(len, lines)) <= max(width, len("IPU 11  F"))
    assert [line.split("  ")[0] for line in lines[: len(found.lanes)]] == [f"IPU {lane.ipu}" for lane in found.lanes]


def test_the_picture_has_a_box_a_step_and_one_an_ipu() -> None:
    found = timeline(compute_order((0, 1, 0), 4))

    picture = ET.fromstring(timeline_svg(found, "A<B>"))  # noqa: S314 - our own

    assert len(picture.findall("{*}rect")) == 2 + 3 * 2 * 4
    assert [picture.findtext("{*}title"), *(text.text for text in picture.findall("{*}text"))][:3] == [
        "A<B>: 1f1b, 4 microbatches, 25.0% bubble",
        "IPU 0: 0.0% bubble, holds 3 activations",
        "0F0",
    ]
    assert picture.findall("{*}rect")[1].findtext("{*}title") == "stage 0, microbatch 0, forward: ticks 0 to 1"


@pytest.fixture(autouse=True)
def terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    """A terminal of 80 columns."""
    monkeypatch.setenv("COLUMNS", "80")


def test_the_command_draws_the_timeline_below_the_plan(capsys: pytest.CaptureFixture[str]) -> None:
    code = main(["plan", "BertForMaskedLM", "--ipus", "4", "--timeline", "--microbatches", "4"])

    out = capsys.readouterr().out
    assert (code, out[out.index("stages ") :]) == (
        0,
        """\
stages      IPU 0 -> IPU 1 -> IPU 2 -> IPU 3 -> IPU 0
boundaries  384.0 KiB, 384.0 KiB, 384.0 KiB, 384.0 KiB, for input_ids 1x128

timeline    1f1b, 4 microbatches, 26 ticks
bubble      42.3% if all stages take equally long
            43.8% if stages take as long as they compute
IPU 0  F0F1F2F3f0b0- f1b1- f2b2- B0- f3b3- B1- B2- ....B3-
IPU 1  ..F0F1F2F3............B0- ..B1- ..B2- ......B3- ....
IPU 2  ....F0F1F2........B0- F3B1- ..B2- ......B3- ........
IPU 3  ......F0F1....B0- F2B1- F3B2- ......B3- ............

IPU      busy    idle   bubble  held
0          24       2     7.7%     5
1          12      14    53.8%     4
2          12      14    53.8%     3
3          12      14    53.8%     2
F forward, B backward, . waiting; small letters: not the first stage of the IPU; held: activations at once
""",
    )


def test_the_command_draws_stages_as_long_as_they_compute(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["--layers", "2,10", "--timeline", "--microbatches", "4", "--schedule", "gpipe", "--weighted"]
    code = main(["plan", "BertForSequenceClassification", *words])

    out = capsys.readouterr().out
    assert (code, out[out.index("timeline ") :]) == (
        0,
        """\
timeline    gpipe, 4 microbatches, 21.0 ticks
bubble      20.0% if all stages take equally long
            42.9% if stages take as long as they compute
IPU 0  FFFF...........................B0........B1........B2........B3
IPU 1  .F0-- F1-- F2-- F3-- B0------- B1------- B2------- B3------- ..

IPU      busy    idle   bubble  held
0         4.0    17.0    81.0%     4
1        20.0     1.0     4.8%     4
F forward, B backward, . waiting; held: activations at once
""",
    )


def test_the_command_colours_the_kinds_of_steps(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("FORCE_COLOR", "1")
    main(["plan", "BertForSequenceClassification", "--ipus", "2", "--timeline", "--microbatches", "1"])

    assert [line for line in capsys.readouterr().out.splitlines() if line.startswith("IPU 1")] == [
        "IPU 1  \x1b[2m...\x1b[0m\x1b[34mF0 \x1b[0m\x1b[32mB0--- \x1b[0m\x1b[2m......\x1b[0m"
    ]


def test_the_command_prints_the_timeline_as_json_and_draws_it(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    picture = tmp_path / "timeline.svg"
    words = ["--ipus", "2", "--timeline", "--microbatches", "1", "--json", "--svg", str(picture)]

    code = main(["plan", "BertForSequenceClassification", *words])

    data = json.loads(capsys.readouterr().out)
    assert (code, data["ipu_of_stage"], data["timeline"]) == (
        0,
        [0, 1],
        {
            "schedule": "1f1b",
            "microbatches": 1,
            "weighted": False,
            "ticks": 6,
            "bubble": 0.5,
            "bubble_alike": 0.5,
            "bubble_by_compute": pytest.approx(0.5),
            "lanes": [
                {
                    "ipu": 0,
                    "busy": 3,
                    "idle": 3,
                    "bubble": 0.5,
                    "held": 1,
                    "steps": [{"step": "0F0", "start": 0, "end": 1}, {"step": "0B0", "start": 4, "end": 6}],
                },
                {
                    "ipu": 1,
                    "busy": 3,
                    "idle": 3,
                    "bubble": 0.5,
                    "held": 1,
                    "steps": [{"step": "1F0", "start": 1, "end": 2}, {"step": "1B0", "start": 2, "end": 4}],
                },
            ],
        },
    )
    assert picture.read_text(encoding="utf-8").count("<rect") == 2 + 4


def test_the_command_gives_a_schedule_that_goes_there_and_back_its_stages(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["--ipus", "2", "--timeline", "--schedule", "zbv-zero-bubble", "--json"]

    code = main(["plan", "BertForMaskedLM", *words])

    assert (code, json.loads(capsys.readouterr().out)["ipu_of_stage"]) == (0, [0, 1, 1, 0])


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (
            ["--microbatches", "0"],
            "error: --microbatches is about the timeline, which is not asked for\nhint: add --ti",
        ),
        (["--schedule", "gpipe"], "error: --schedule is about the timeline, which is not asked for\nhint: add --timel"),
        (["--weighted"], "error: --weighted is about the timeline, which is not asked for\nhint: add --timeline\n"),
        (["--timeline", "--microbatches", "0"], "error: 0 microbatches cannot be run\nhint: ask for 1 or more\n"),
        (["--timeline", "--microbatches", "x"], "error: argument --microbatches: invalid int value: 'x'"),
        (
            ["--timeline", "--schedule", "\x1b[1m"],
            "error: there is no schedule '\\x1b[1m'\nhint: choose one of gpipe, ",
        ),
        (
            ["--timeline", "--schedule", "looped-bfs"],
            "error: looped-bfs needs stages that go round the IPUs, as in 0",
        ),
        (["--timeline", "--svg", "/nowhere/plan.svg"], "error: /nowhere/plan.svg cannot be written: No such file"),
    ],
)
def test_the_command_says_what_is_wrong_with_a_timeline(
    words: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    code = main(["plan", "BertForMaskedLM", "--ipus", "2", *words])

    assert (code, capsys.readouterr().err[: len(message)]) == (2, message)
