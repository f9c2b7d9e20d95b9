"""Training that goes on from a checkpoint is as training that never stopped, and saving is safe to interrupt."""

from __future__ import annotations

import pickle
import shutil
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import torch
import transformers
from peft import PeftModel

from pipelined import PipelineError
from tests.pipelined.processes import run
from tests.pipelined.resuming import batch_for, elsewhere, halving, in_two, made, session
from tests.pipelined.tiny import tiny_model

REFUSED = {
    "nothing": "/nothing holds no checkpoint; give what save_checkpoint was given, or what it returned",
    "begun": "/begun holds no checkpoint that was saved to its end",
    "half": "/half lacks session.pt: it is half a checkpoint, or none of a session's",
    "torn": "/torn/.metadata is damaged: pickle data was truncated; use another checkpoint",
    "hostile": "/hostile/.metadata is damaged: builtins.eval is no part of a checkpoint's metadata;"
    " use another checkpoint",
    "also": "the checkpoint has no state of 'scheduler'; it has none",
    "keep": "keep=0 would delete what is saved; keep 1 or more",
    "model": "/step-00000002 is a checkpoint of another model, of class BertForMaskedLM:"
    " bert.embeddings.LayerNorm.bias is [32] there, not here; bert.embeddings.LayerNorm.weight is [32] there, not here;"
    " bert.embeddings.position_embeddings.weight is [64, 32] there, not here, and 134 more",
    "seed": "the checkpoint was trained with seed 7, and this session has 8;"
    " IPUConfig(seed=7) goes on with the same random numbers",
}
CASES = ["bert", "t5", "resnet", "lora"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("sessions")


@pytest.fixture(scope="module")
def both(folder: Path) -> Any:
    """What came of all that is asked of two processes, in each of them."""
    return run(in_two, processes=2, cases=CASES, folder=str(folder))


@pytest.fixture(scope="module")
def found(both: Any) -> Any:
    """What came of training, in each of two processes."""
    return [interrupted for interrupted, _ in both]


def test_losses_random_numbers_and_weights_go_on_as_if_nothing_had_happened(found: Any) -> None:
    for process in found:
        assert {case: one["after"] for case, one in process.items()} == {
            case: one["before"] for case, one in process.items()
        }
        assert {case: one["same"] for case, one in process.items()} == dict.fromkeys(CASES, True)


def test_every_entry_of_the_state_dict_belongs_to_one_process_and_all_have_their_plain_names(found: Any) -> None:
    for case in CASES:
        own = [process[case]["own"] for process in found]

        assert sorted(own[0] + own[1]) == sorted(made(case).state_dict())
        assert found[0][case]["state"].keys() == made(case).state_dict().keys()


def test_training_goes_on_at_other_numbers_of_stages_and_replicas(folder: Path, found: Any) -> None:
    expected = {case: pytest.approx(one["before"][0], abs=1e-6) for case, one in found[0].items()}
    four, one = {"bert": (4, 1), "t5": (2, 2), "lora": (4, 1)}, {"resnet": (1, 1), "lora": (1, 1)}

    assert (
        run(elsewhere, processes=4, placements=four, folder=str(folder))
        == [{case: expected[case] for case in four}] * 4
    )
    assert elsewhere(one, folder=str(folder)) == {case: expected[case] for case in one}


def test_where_one_process_cannot_write_all_say_so_and_training_goes_on(folder: Path, both: Any) -> None:
    refused = ["process 1: OSError: [Errno 28] No space left on device"] * 2

    assert [raised for _, raised in both] == [refused, refused]
    assert [path.name for path in (folder / "full").glob("*")] == ["step-00000001"]


def test_the_original_class_loads_what_a_session_saves(folder: Path, found: Any) -> None:
    classes: dict[str, Any] = {
        "bert": transformers.BertForMaskedLM,
        "t5": transformers.T5ForConditionalGeneration,
        "resnet": transformers.ResNetForImageClassification,
    }
    for case, cls in classes.items():
        plain, info = cls.from_pretrained(folder / case / "saved", output_loading_info=True)
        state = found[0][case]["state"]

        assert not any(info.values())
        assert plain.state_dict().keys() == state.keys()
        assert all(torch.equal(one, state[key]) for key, one in plain.state_dict().items())
        assert plain.config.architectures == [cls.__name__]


def test_of_a_model_with_adapters_peft_loads_what_a_session_saves(folder: Path, found: Any) -> None:
    saved = folder / "lora" / "saved"
    adapted = PeftModel.from_pretrained(tiny_model(transformers.LlamaForCausalLM), str(saved))
    state = found[0]["lora"]["state"]

    assert sorted(path.name for path in saved.iterdir()) == [
        "README.md",
        "adapter_config.json",
        "adapter_model.safetensors",
        "ipu_config.json",
    ]
    assert all(torch.equal(one, state[key]) for key, one in adapted.state_dict().items())


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Checkpoints of one step, and of a second one."""
    root = tmp_path_factory.mktemp("saved")
    with session("bert", ipus=1) as pipe:
        for _ in range(2):
            pipe.train_step(batch_for("bert"))
            pipe.save_checkpoint(root)
    return root


def test_of_several_checkpoints_the_newest_loads_unless_one_is_named_and_so_many_as_wanted_are_kept(
    saved: Path,
) -> None:
    with session("bert", ipus=1, shifted=True) as pipe:
        pipe.load_checkpoint(saved)
        newest = pipe.step
        pipe.load_checkpoint(saved / "step-00000001")
        named = pipe.step
        paths = []
        for pipe.step in (3, 10, 4):
            paths.append(pipe.save_checkpoint(saved.parent / "kept", keep=2).name)

    assert (newest, named) == (2, 1)
    assert paths == ["step-00000003", "step-00000010", "step-00000004"]
    assert sorted(path.name for path in (saved.parent / "kept").iterdir()) == ["step-00000004", "step-00000010"]


def test_what_is_no_checkpoint_of_this_session_is_refused_and_changes_nothing(saved: Path, tmp_path: Path) -> None:
    step = saved / "step-00000002"
    half, torn, hostile = (Path(shutil.copytree(step, tmp_path / name)) for name in ("half", "torn", "hostile"))
    (half / "session.pt").unlink()
    (torn / ".metadata").write_bytes((torn / ".metadata").read_bytes()[:100])
    (hostile / ".metadata").write_bytes(pickle.dumps(_Hostile()))
    (tmp_path / "begun" / ".saving").mkdir(parents=True)
    with session("bert", ipus=1) as pipe:
        before = pipe.state_dict()
        scheduler = {"scheduler": halving(pipe)}
        refused = {name: _refusal(partial(pipe.load_checkpoint, tmp_path / name)) for name in list(REFUSED)[:5]}
        refused["also"] = _refusal(partial(pipe.load_checkpoint, saved, also=scheduler))
        refused["keep"] = _refusal(partial(pipe.save_checkpoint, tmp_path, keep=0))
        assert all(torch.equal(one, before[key]) for key, one in pipe.state_dict().items())
        assert pipe.step == 0
        pipe.load_checkpoint(saved)
    for name, other in {"model": session("t5", ipus=1), "seed": session("bert", ipus=1, seed=8)}.items():
        with other as pipe:
            refused[name] = _refusal(partial(pipe.load_checkpoint, saved))
    said = {name: text.replace(str(tmp_path), "").replace(str(saved), "") for name, text in refused.items()}

    assert said == REFUSED


def test_a_checkpoint_that_cannot_be_read_to_its_end_ends_the_session(saved: Path, tmp_path: Path) -> None:
    cut = Path(shutil.copytree(saved / "step-00000002", tmp_path / "cut"))
    with (cut / "__0_0.distcp").open("r+b") as file:
        file.truncate(1000)
    with session("bert", ipus=1) as pipe:
        first = _refusal(partial(pipe.load_checkpoint, cut))
        second = _refusal(partial(pipe.train_step, batch_for("bert")))

    assert first.startswith("process 0: RuntimeError: ")
    assert second.startswith("this pipeline has failed and cannot go on: process 0: PipelineError: ")


def _refusal(call: Callable[[], object]) -> str:
    with pytest.raises(PipelineError) as caught:
        call()
    return str(caught.value)


class _Hostile:
    def __reduce__(self) -> tuple[Any, ...]:
        return eval, ("1",)
