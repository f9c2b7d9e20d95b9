"""What a session's processes spend their time on, by a clock that the test turns."""

from __future__ import annotations

import json
import os
from typing import Any

import torch
import transformers

from pipelined.config import IPUConfig
from pipelined.distributed import distribute
from pipelined.execution import Execution
from pipelined.profile import Profile, Share
from pipelined.spans import Spans, sent, span, turn
from pipelined.throughput import Throughput, tokens_of
from tests.pipelined.processes import run
from tests.pipelined.tiny import tiny_model


def ticking(*readings: float) -> Any:
    return iter(readings).__next__


def test_time_counts_for_the_innermost_span_and_outside_all_for_none() -> None:
    spans = Spans(ticking(0, 1, 3, 7, 15, 31))
    with spans.recording(), span("scheduling"), span("glue"), span("blocks"):
        pass

    assert spans.seconds == {"scheduling": 1 + 16, "glue": 2 + 8, "blocks": 4}


def test_a_span_that_turns_counts_the_rest_for_another_kind() -> None:
    spans = Spans(ticking(0, 1, 3))
    with spans.recording(), span("glue"):
        turn("ending")

    assert spans.seconds == {"glue": 1, "ending": 2}


def test_an_error_closes_its_spans() -> None:
    spans = Spans(ticking(0, 1, 3, 7, 15))
    with spans.recording(), span("glue"):
        try:
            with span("blocks"):
                raise ValueError
        except ValueError:
            sent(0, 1, 16)

    assert (spans.seconds, spans.sent) == ({"glue": 1 + 4, "blocks": 2}, {(0, 1): 16})


def test_nothing_is_counted_where_nothing_records() -> None:
    spans = Spans(ticking())
    with span("blocks"):
        turn("ending")
        sent(0, 1, 16)

    assert (spans.seconds, spans.sent) == ({}, {})


def test_a_step_lasts_until_the_next_one_begins_or_until_its_own_end() -> None:
    throughput = Throughput(ticking(0, 2, 4, 6, 100, 104))
    read = []
    for _ in range(3):
        throughput.begin()
        throughput.end(samples=8, tokens=80)
        read.append((throughput.step_seconds, throughput.samples_per_second, throughput.tokens_per_second))

    # What lies between the second and the third step is one slow step of three.
    assert read == [(2, 4, 40), (3, 3, 30), (4, 2, 20)]
    assert str(throughput) == "step 3, 4.000 s a step, 20 tokens/s"
    assert (throughput.steps, throughput.samples, throughput.tokens) == (3, 24, 240)


def test_tokens_are_those_of_the_main_input() -> None:
    class Model:
        main_input_name = "input_ids"

    ids, pixels = torch.zeros(4, 10, dtype=torch.long), torch.zeros(4, 3, 8, 8)

    assert [tokens_of(Model(), {"input_ids": ids}), tokens_of(Model(), {"input_ids": pixels})] == [40, 0]
    assert tokens_of(Model(), {"pixel_values": pixels}) == 0


PROFILE = Profile(
    steps=2,
    schedule="1f1b",
    microbatches=4,
    bubble=0.2,
    tokens_per_second=1234.5,
    shares=(
        Share(0, 0, {"blocks": 1.0, "glue": 0.25, "backward": 1.75, "waiting": 0.5, "scheduling": 0.5}, {(0, 1): 4096}),
        Share(1, 1, {"blocks": 1.0, "ending": 0.5, "backward": 1.5, "waiting": 0.75, "sharing": 0.25}, {(1, 0): 2048}),
    ),
)


def test_a_profile_reads_as_a_table() -> None:
    assert PROFILE.text().splitlines() == [
        "training steps: 2 of 4 microbatches, 1f1b, 2.000 s each, 1,234 tokens/s",
        "",
        "process              0       1",
        "IPU                  0       1",
        "busy             75.0%   75.0%",
        "  blocks         25.0%   25.0%  forward of its own blocks",
        "  glue            6.2%    0.0%  forward of the code around them",
        "  ending          0.0%   12.5%  after the model's last block: the loss",
        "  backward       43.8%   37.5%  backward",
        "  updating        0.0%    0.0%  the optimizer",
        "idle             12.5%   25.0%",
        "  waiting        12.5%   18.8%  for a message from another stage",
        "  agreeing        0.0%    0.0%  with the others on what to run, a dry run included",
        "  sharing         0.0%    6.2%  losses, norms and gradients with the others",
        "neither          12.5%    0.0%",
        "  scheduling     12.5%    0.0%  what torch's schedule does in between",
        "",
        "the schedule itself has IPUs wait 20.0% of the time",
        "process 0 sent 4,096 bytes from stage 0 to stage 1, 2,048 a step",
        "process 1 sent 2,048 bytes from stage 1 to stage 0, 1,024 a step",
    ]


def test_a_profile_is_json_too() -> None:
    data = json.loads(json.dumps(PROFILE.data()))

    assert (data["bubble"], [one["busy"] for one in data["processes"]]) == (0.2, [0.75, 0.75])
    assert data["processes"][0]["sent"] == [{"from": 0, "to": 1, "bytes": 4096}]


def profiled() -> dict[str, Any]:
    """What is recorded of two steps of a tiny BERT in two processes."""
    model = tiny_model(transformers.BertForMaskedLM)
    config = IPUConfig(ipus_per_replica=2, execution=Execution(microbatches=2))
    ids = torch.arange(4 * 6).reshape(4, 6)
    batch = {"input_ids": ids, "labels": ids}
    with distribute(model, config, profile=True, optimizer=torch.optim.SGD) as pipe:
        pipe.train_step(batch)
        pipe.profile()
        pipe.train_step(batch)
        pipe.train_step(batch)
        found = pipe.profile()
        hidden = 2 * 6 * model.config.hidden_size * 4
        return {
            "own": found.shares[int(os.environ["RANK"])].process,
            "steps": (found.steps, pipe.statistics.steps, pipe.statistics.tokens),
            "kinds": [sorted(kind for kind, seconds in share.seconds.items() if seconds) for share in found.shares],
            "payloads": [{key: size / hidden for key, size in share.sent.items()} for share in found.shares],
            "bubble": found.bubble,
        }


def test_a_session_tells_what_its_processes_did_since_it_was_asked_last() -> None:
    found = run(profiled, processes=2)

    always = ["agreeing", "backward", "blocks", "glue", "scheduling", "sharing", "updating", "waiting"]
    for rank, one in enumerate(found):
        assert one["own"] == rank
        assert one["steps"] == (2, 3, 3 * 4 * 6)
        assert one["kinds"] == [sorted([*always, "ending"]), always]
        # Two steps of two microbatches, of which each sends one hidden state there and one gradient back.
        assert one["payloads"] == [{(0, 1): 4, (2, 1): 4}, {(1, 2): 4, (1, 0): 4}]
    assert found[0]["bubble"] == found[1]["bubble"]
