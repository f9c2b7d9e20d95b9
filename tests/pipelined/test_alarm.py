"""One process fails, and all do: with its message, in less than ten seconds, and none is left."""

from __future__ import annotations

import os
import signal
import time
from typing import Any

import pytest
import torch
import transformers

from pipelined import IPUConfig, PipelineError
from pipelined.distributed import distribute
from pipelined.execution import Execution
from pipelined.sample import sample_inputs
from tests.pipelined.processes import outcomes, run
from tests.pipelined.tiny import tiny_model

MICROBATCHES = 4


def fail_in_a_step(how: str, rank: int) -> tuple[str, str, str, bool]:
    """What this process raised in the step in which that one failed, what it raises then, and whether it was quick."""
    own, model = int(os.environ["RANK"]), tiny_model(transformers.LlamaForCausalLM)
    batches = [llama_batch(model)] * MICROBATCHES
    config = IPUConfig(ipus_per_replica=int(os.environ["WORLD_SIZE"]), execution=Execution(microbatches=MICROBATCHES))
    with distribute(model, config) as pipe:
        pipe.forward_backward(batches)
        if own == rank:
            break_down(pipe, how)
        began = time.monotonic()
        first = raised_by(lambda: pipe.forward_backward(batches))
        quick = time.monotonic() - began < 10
        return (*first, raised_by(lambda: pipe.forward_backward(batches))[1], quick)


def break_down(pipe: Any, how: str) -> None:
    """Have a layer or a gradient of this process fail in the next step."""
    layer = next(
        module for module in pipe.model.modules() if type(module).__name__.endswith("Attention") and held(module)
    )
    if how == "backward":
        next(iter(layer.parameters())).register_hook(lambda _: fail("a bad gradient"))
    elif how == "kill":
        layer.register_forward_pre_hook(lambda *_: os.kill(os.getpid(), signal.SIGKILL))
    else:
        layer.register_forward_pre_hook(lambda *_: fail("a bad layer"))


def held(module: torch.nn.Module) -> bool:
    return not any(parameter.is_meta for parameter in module.parameters())


def fail(words: str) -> None:
    raise ArithmeticError(words)


def raised_by(step: Any) -> tuple[str, str]:
    try:
        step()
    except Exception as error:  # noqa: BLE001 - what it is, is what is tested
        return type(error).__name__, str(error)
    return "nothing", ""


def llama_batch(model: Any) -> dict[str, torch.Tensor]:
    inputs: dict[str, torch.Tensor] = sample_inputs(model, padded=True)
    return {**inputs, "labels": inputs["input_ids"]}


@pytest.mark.parametrize(
    ("how", "rank", "processes", "words"),
    [
        ("forward", 0, 2, "a bad layer"),
        ("forward", 2, 4, "a bad layer"),
        ("backward", 1, 2, "a bad gradient"),
    ],
)
def test_all_raise_what_one_raised(how: str, rank: int, processes: int, words: str) -> None:
    message = f"process {rank}: ArithmeticError: {words}"
    after = f"this pipeline has failed and cannot go on: {message}"

    results = run(fail_in_a_step, processes=processes, how=how, rank=rank)

    expected = [("PipelineError", message, after, True)] * processes
    expected[rank] = ("ArithmeticError", words, after, True)
    assert results == expected


def fail_behind_what_is_being_sent() -> tuple[str, bool]:
    """What is raised where the head is back on the first IPU, which fails while it sends; and if that was quick."""
    model = tiny_model(transformers.BertForMaskedLM)
    batch = {**sample_inputs(model), "labels": torch.full_like(sample_inputs(model)["input_ids"], 10**6)}
    with distribute(model, IPUConfig(ipus_per_replica=2, execution=Execution(microbatches=MICROBATCHES))) as pipe:
        began = time.monotonic()
        raised = raised_by(lambda: pipe.forward_backward([batch] * MICROBATCHES))
        return raised[1], time.monotonic() - began < 10


def fail_between_steps() -> str:
    """What ends the session in a process where another leaves it with an error of its own."""
    model = tiny_model(transformers.LlamaForCausalLM)
    batch = llama_batch(model)
    try:
        with distribute(model, IPUConfig(ipus_per_replica=2)) as pipe:
            if pipe.ranks.ipu == 1:
                raise KeyboardInterrupt("enough")
            pipe.evaluate(batch)
    except BaseException as error:  # noqa: BLE001 - what it is, is what is tested
        return f"{type(error).__name__}: {error}"
    return ""


def test_an_error_of_the_script_in_one_process_is_what_the_others_hear() -> None:
    assert run(fail_between_steps, processes=2) == [
        "PipelineError: process 1: KeyboardInterrupt: enough",
        "KeyboardInterrupt: enough",
    ]


def test_a_message_under_way_keeps_nobody_waiting_for_one_that_failed() -> None:
    first, second = run(fail_behind_what_is_being_sent, processes=2)

    assert first == ("Target 1000000 is out of bounds.", True)
    assert second == ("process 0: IndexError: Target 1000000 is out of bounds.", True)


def test_all_raise_when_one_is_killed() -> None:
    ended = outcomes(fail_in_a_step, processes=4, patience=60, how="kill", rank=3)

    assert [one.exit_code for one in ended] == [0, 0, 0, -signal.SIGKILL]
    for one in ended[:3]:
        kind, message, after, quick = one.returned
        assert (kind, "has lost another process of the pipeline" in message, quick) == ("PipelineError", True, True)
        assert after == f"this pipeline has failed and cannot go on: {message}"


def disagree() -> list[tuple[str, str]]:
    """What is raised by inputs that cannot be run or differ, and that the session lives on after each."""
    own, model = int(os.environ["RANK"]), tiny_model(transformers.LlamaForCausalLM)
    good = llama_batch(model)
    shorter = {name: value[:, :5] for name, value in good.items()}
    other = {**good, "input_ids": good["input_ids"].flip(1)}
    unknown = {**good, "no_such_argument": 1, "attention_mask": torch.ones(3, 4, 5, 6, 7)}
    found = []
    with distribute(model, IPUConfig(ipus_per_replica=2, execution=Execution(microbatches=2))) as pipe:
        for batch in (shorter, other, unknown):
            chosen = batch if own == 1 else good
            found.append(raised_by(lambda chosen=chosen: pipe.forward_backward([chosen] * 2)))
        found.append(raised_by(lambda: pipe.forward_backward([{**good, "labels": None}] * 2)))
    return found


def test_inputs_that_differ_are_told_apart_before_anything_is_sent() -> None:
    first, second = run(disagree, processes=2)

    assert [kind for kind, _ in first] == [kind for kind, _ in second] == ["PipelineError"] * 4
    for index, words in enumerate(["(2, 5)", "content", "process 1: "]):
        assert words in first[index][1]
        assert first[index] == second[index]
    assert first[3][1] in (
        "the model returned no loss; give it labels",
        "process 1: PipelineError: the model returned no loss; give it labels",
    )


def test_a_wrong_number_of_processes_is_refused_with_the_command_that_is_right() -> None:
    with pytest.raises(PipelineError) as caught:
        distribute(tiny_model(transformers.LlamaForCausalLM), IPUConfig(ipus_per_replica=2, replication_factor=2))

    assert str(caught.value) == (
        "2 IPUs in each of 2 replicas need 4 processes, and there are 1; start the script with torchrun"
        " --nproc-per-node 4"
    )
