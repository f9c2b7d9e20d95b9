"""The example that a user runs first: it says what it promises, and it is so."""

from __future__ import annotations

import re
import subprocess
import sys
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path

import pytest
import torch
import transformers

from pipelined import demo
from tests.pipelined.processes import run

STEPS = 3


def show(folder: str) -> tuple[int, str]:
    torch.manual_seed(5)
    with redirect_stdout(StringIO()) as said:
        return demo.main(["--steps", str(STEPS), "--layers", "2", "--output", folder]), said.getvalue()


def test_the_demo_trains_compares_saves_and_loads(tmp_path: Path) -> None:
    (code, printed), second = run(show, processes=2, folder=str(tmp_path / "model"))

    said = re.sub(r"[\d,]+ tokens/s", "N tokens/s", re.sub(r"\d\.\d+(e-\d+)?", "N", printed))
    assert (code, second) == (0, (0, ""))
    assert re.sub(r"'the red cat .*'", "'the red cat ...'", said) == (
        "a GPT-2 of 2 layers, 3 steps of 16 x 48 letters, 2 processes\n"
        "step 3/3  loss N  N tokens/s\n"
        "loss of the last step: N over 2 processes, N in one\n"
        "largest difference in any of 3 steps: N\n"
        "it writes: 'the red cat ...'\n"
        f"saved to {tmp_path / 'model'}; plain transformers loads it, and it computes the same: True\n"
    )
    assert transformers.AutoModelForCausalLM.from_pretrained(tmp_path / "model").config.n_layer == 2


def test_a_folder_that_cannot_be_is_said_in_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "taken").touch()
    options = ["--steps", "1", "--layers", "1", "--output", str(tmp_path / "taken")]

    done = subprocess.run(
        [sys.executable, "-m", "pipelined.demo", *options], capture_output=True, text=True, check=False
    )

    assert (done.returncode, "Traceback" in done.stderr) == (1, False)
    assert done.stderr.splitlines()[-1].startswith("python -m pipelined.demo: [Errno 17] File exists")


def test_a_number_that_cannot_be_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stopped:
        demo.main(["--steps", "0"])

    assert stopped.value.code == 2
    assert "argument --steps: '0' is not a whole number >= 1" in capsys.readouterr().err
