"""Go through every class of the installed transformers: `nox -s coverage_of_models`.

Each class is built from a tiny configuration, pipelined over two IPUs with whatever placement is found for it, and held
to what the original computes. The result is written to `docs/models.md`, and one class that differs is a failure.
"""

from __future__ import annotations

import logging
import os
import signal
import sys
import warnings
from collections import Counter
from collections.abc import Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from itertools import groupby
from multiprocessing import get_context
from typing import Any

import torch
import transformers

from pipelined import IPUConfig, PipelineError
from pipelined.sample import sample_inputs
from tests.pipelined.equality import differences
from tests.pipelined.families import all_classes
from tests.pipelined.support import PAGE, README, with_table
from tests.pipelined.tiny import tiny_config, tiny_model

SECONDS = 20
PARAMETERS = 30_000_000


@dataclass(frozen=True)
class Verdict:
    """What came of one class: `equal`, `differs`, `refused` by us, or `not built` because no tiny model runs."""

    name: str
    family: str
    kind: str
    reason: str = ""


class TookTooLongError(BaseException):
    """Not an Exception, which whoever tries one batch after another would take for a refusal."""


def main() -> int:
    """Try all classes, or those named; write the page when all were tried; 1 where one differs."""
    names = sys.argv[1:] or sorted(name for name in all_classes() if not name.endswith("PreTrainedModel"))
    # Not forked: a child of a process that has threads may wait for one of them for ever.
    with ProcessPoolExecutor(mp_context=get_context("spawn"), initializer=_be_quiet) as pool:
        verdicts = list(pool.map(try_class, names, chunksize=8))
    if not sys.argv[1:]:
        PAGE.write_text(page(verdicts), encoding="utf-8")
        README.write_text(with_table(README.read_text(encoding="utf-8")), encoding="utf-8")
    print(dict(Counter(verdict.kind for verdict in verdicts)))
    differing = [verdict for verdict in verdicts if verdict.kind == "differs" or sys.argv[1:]]
    print("\n".join(f"{verdict.kind}: {verdict.name}: {verdict.reason}" for verdict in differing))
    return int(any(verdict.kind == "differs" for verdict in verdicts))


def try_class(name: str) -> Verdict:
    """Build, compare, and say how it went."""
    cls = all_classes()[name]
    family = cls.__module__.split(".")[2]
    # In processor time: what else the machine does decides nothing.
    signal.signal(signal.SIGPROF, _give_up)
    signal.setitimer(signal.ITIMER_PROF, SECONDS)
    try:
        model = _runnable(cls)
    except (Exception, TookTooLongError) as error:  # noqa: BLE001 - what cannot be made small raises anything
        return Verdict(name, family, "not built", _one_line(error))
    try:
        found = differences(model, IPUConfig(ipus_per_replica=2), force=True)
    except PipelineError as error:
        return Verdict(name, family, "refused", _one_line(error))
    except TookTooLongError as error:
        return Verdict(name, family, "not built", _one_line(error))
    except Exception as error:  # noqa: BLE001 - that a pipelined model fails is a finding too
        return Verdict(name, family, "differs", _one_line(error))
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
    return Verdict(name, family, "differs", "; ".join(found)) if found else Verdict(name, family, "equal")


def page(verdicts: Iterable[Verdict]) -> str:
    """The page of the docs: counts, then by kind the classes of each family."""
    verdicts = list(verdicts)
    counts = Counter(verdict.kind for verdict in verdicts)
    torch_version = torch.__version__.partition("+")[0]
    lines = [
        "# Models that have been tried",
        "",
        "Written by `nox -s coverage_of_models`; do not edit.",
        f"It went through {len(verdicts)} classes of transformers {transformers.__version__}: all that have a forward.",
        f"With torch {torch_version}, each was built from a tiny configuration and spread over two IPUs.",
        "",
        "| result | classes | what it means |",
        "|---|---|---|",
        *(f"| {kind} | {counts[kind]} | {meaning} |" for kind, meaning in KINDS.items()),
        "",
    ]
    for kind in KINDS:
        lines += _section(kind, [verdict for verdict in verdicts if verdict.kind == kind])
    return "\n".join(lines)


KINDS = {
    "equal": "every output is equal bit for bit, parallelized and afterwards, and all that was changed came back",
    "differs": "something is not as the original has it",
    "refused": "it says why it cannot be spread: most have no layers that repeat",
    "not built": "no tiny model of this class could be built and run here, so nothing is known",
}


def _section(kind: str, verdicts: list[Verdict]) -> Iterator[str]:
    yield from (f"## {kind.capitalize()}", "")
    if not verdicts:
        yield from ("None.", "")
        return
    for family, group in groupby(sorted(verdicts, key=lambda one: (one.family, one.name)), key=lambda one: one.family):
        if kind == "equal":
            yield f"- {family}: {', '.join(one.name for one in group)}"
        else:
            yield from (f"- {family}: {one.name}: {one.reason}" for one in group)
    yield ""


def _runnable(cls: Any) -> Any:
    """A tiny model of the class that has run on a sample batch."""
    with torch.device("meta"):
        size = sum(parameter.numel() for parameter in cls(tiny_config(cls.config_class)).parameters())
    if size > PARAMETERS:
        raise ValueError(f"its tiny configuration still has {size} parameters")
    model = tiny_model(cls)
    sample_inputs(model)
    return model


def _one_line(error: BaseException) -> str:
    """The message without what changes from run to run and without what Markdown would take for markup."""
    text = " ".join(str(error).split()) or type(error).__name__
    return "".join(letter if letter.isprintable() and letter not in "<>|`*_[]" else " " for letter in text)[
        :160
    ].strip()


def _give_up(*_: object) -> None:
    raise TookTooLongError(f"took more than {SECONDS} s")


def _be_quiet() -> None:
    os.environ["HF_HUB_OFFLINE"] = "1"
    torch.set_num_threads(1)
    warnings.simplefilter("ignore")
    logging.disable(logging.CRITICAL)


if __name__ == "__main__":
    sys.exit(main())
