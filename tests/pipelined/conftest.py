"""Models are tested where torch is installed: `nox -s tests_models` installs it, `nox -s tests` does not.

Every test runs offline and on one thread, which is what makes two runs of one model equal bit for bit.
"""

from __future__ import annotations

import os
import tempfile
import warnings
from importlib.util import find_spec
from pathlib import Path

import pytest

os.environ.setdefault("HF_HUB_OFFLINE", "1")
# torch sets it when it first needs it, which is in the middle of some test.
os.environ.setdefault("TORCHINDUCTOR_CACHE_DIR", str(Path(tempfile.gettempdir()) / "torchinductor"))

HAS_TORCH = find_spec("torch") is not None

if HAS_TORCH:
    # What libraries warn of while they are imported is none of ours, and no test is there yet to let it pass.
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import torch
        from transformers import PreTrainedTokenizerBase, Trainer  # noqa: F401

    torch.set_num_threads(1)
else:
    # Doctests are looked for in every module, so it is not only the tests that must not be imported.
    HERE = Path(__file__).parent
    collect_ignore = [str(path) for path in HERE.rglob("*.py") if path.name != "test_without_torch.py"]


def pytest_report_header() -> str:
    """Say aloud when nothing here can be tested."""
    return "models: tested" if HAS_TORCH else "models: NOT tested, torch is not installed (nox -s tests_models has it)"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Let the libraries under our models warn; a warning of ours is an error here as everywhere."""
    here = Path(__file__).parent
    for item in items:
        if here in item.path.parents:
            for library in ("torch", "transformers", "peft", "huggingface_hub"):
                item.add_marker(pytest.mark.filterwarnings(f"ignore::Warning:{library}"))
            # It names the caller of `open`, so no library can be told from another; ruff looks at our own calls.
            item.add_marker(pytest.mark.filterwarnings("ignore::EncodingWarning"))
