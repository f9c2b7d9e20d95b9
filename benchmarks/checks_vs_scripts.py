"""Plant faults in real trees, one at a time, and see who finds them: `mergeready check`, or the tree's own scripts.

We have found a fault if a finding is there that was not before, with the right code, in every file where it has to be.
For a fault that shows in other files than were edited, `mergeready check --changed` has to report it there too. A
script has found a fault if it says anything else than of the tree without it. Every kind is planted in files with CRLF
ends as well, in a tree that has no others. Ends with status 1 if we miss a fault.

    nox -s bench -- checks_vs_scripts --tree ../diffusers --tree4 ../transformers-4.26 --tree5 ../transformers-5.24.0
"""

from __future__ import annotations

import argparse
import gc
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from itertools import groupby
from pathlib import Path
from random import Random
from types import ModuleType
from typing import NamedTuple

from corpus import add_options, clone, git, unpacked
from faults import (
    copied_code,
    dependency_table,
    doc_toc,
    dummy_objects,
    import_direction,
    init_order,
    lazy_inits,
    lists,
    star_inits,
)
from faults.model import Fault, Files, Kind, choose
from rich.console import Console
from rich.progress import track
from scripts import DIFFUSERS, TRANSFORMERS_4, Script
from trial import Result, Trial, differences

from checks.engine import load_rule
from checks.settings import RULE_NAMES


class Stage(NamedTuple):
    """Faults of some kinds in one tree. `prepare` changes the tree beforehand, `ends` are the line ends it then has."""

    name: str
    tree: AbstractContextManager[Path]
    library: str
    modules: tuple[ModuleType, ...]
    scripts: tuple[Script, ...]
    per_kind: int
    prepare: Callable[[Path], None] = lambda _: None
    ends: str = "\n"


def main() -> None:
    options = parse_options()
    began = time.perf_counter()
    results: list[Result] = []
    complaints: list[str] = []
    for stage in stages(options):
        found, wrong = run(stage, options.seed, options.only)
        print(summary(stage.name, found), flush=True)
        results += found
        complaints += wrong
    print()
    print("\n".join(table(results)))
    print(f"{summary('in all', results)} in {time.perf_counter() - began:.0f} s")
    unplanted = rule_codes() - {result.kind.code for result in results}
    complaints += [f"not planted: {code}" for code in sorted(unplanted) if not options.only]
    complaints += [
        f"MISSED: {result.kind.code}, {result.kind.name}: {result.fault.place}"
        for result in results
        if not result.found
    ]
    print("\n".join(complaints))
    sys.exit(bool(complaints))


def parse_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add_options(parser)
    parser.add_argument("--tree4", type=Path, help="a checkout of transformers 4.26, or of a fork of it")
    parser.add_argument("--tree5", type=Path, help="an unpacked source archive of transformers 5")
    parser.add_argument("--seed", type=int, default=1, help="decides which faults are planted (default: 1)")
    parser.add_argument("--per-kind", type=int, default=1, help="faults of each kind, besides CRLF (default: 1)")
    parser.add_argument("--only", default="", metavar="WORDS", help="kinds with these words in their name or code")
    return parser.parse_args()


def stages(options: argparse.Namespace) -> Iterator[Stage]:
    """What is planted where. The scripts for trees of transformers are those that do not import the library."""
    inits = (lazy_inits, init_order, dummy_objects)
    diffusers = (copied_code, doc_toc, dependency_table, *inits)
    name, number = "src/diffusers", options.per_kind
    yield Stage("diffusers", clone(options.tree), name, diffusers, DIFFUSERS, number)
    yield Stage("diffusers, CRLF", clone(options.tree), name, diffusers, DIFFUSERS, 1, with_crlf, "\r\n")
    yield Stage("diffusers, imports", clone(options.tree), name, (import_direction,), (), number, with_table)
    name = "src/transformers"
    if options.tree4:
        modules = (lists, dependency_table, *inits)
        yield Stage("transformers 4", clone(options.tree4), name, modules, TRANSFORMERS_4, number, with_sorted_list)
    if options.tree5:
        yield Stage("transformers 5", unpacked(options.tree5), name, (star_inits, lists), (), number)


def run(stage: Stage, seed: int, only: str) -> tuple[list[Result], list[str]]:
    """Plant the faults of a stage; the second value says what its preparation has changed and should not."""
    kinds = [kind for module in stage.modules for kind in module.kinds() if only in f"{kind.code} {kind.name}"]
    if not kinds:
        return [], []
    rules = sorted({kind.code.partition("/")[0] for kind in kinds})
    with stage.tree as root:
        before = Trial(root, rules, (), "\n").findings if stage.ends != "\n" else None
        stage.prepare(root)
        faults = planned(stage, kinds, root, seed)
        trial = Trial(root, rules, stage.scripts, stage.ends)
        console = Console(stderr=True)
        shown = track(faults, stage.name, console=console, transient=True, disable=not console.is_terminal)
        results = [trial.run(kind, fault) for kind, fault in shown]
        trial.close()
        wrong = [] if before is None else differences(before, trial.findings)
        return results, [f"{stage.name}: {each}" for each in wrong]


def planned(stage: Stage, kinds: Sequence[Kind], root: Path, seed: int) -> list[tuple[Kind, Fault]]:
    """The faults of a stage, the same ones for the same seed."""
    files = Files(root, git(root, "ls-files", "-z").split("\0"), stage.library)
    gc.disable()  # syntax trees are many objects that are all needed: looking for garbage takes longer than the rest
    faults = [
        (kind, fault)
        for kind in kinds
        for fault in choose(kind.plant(files, Random(f"{seed} {kind.code} {kind.name}")), stage.per_kind)
    ]
    gc.enable()
    return faults


def with_crlf(root: Path) -> None:
    """Give every file of the tree CRLF ends, but for the scripts themselves."""
    for path in git(root, "ls-files", "-z", "src", "docs", "setup.py").split("\0"):
        file = root / path
        if file.suffix in (".py", ".md", ".yml") and file.is_file() and not file.is_symlink():
            file.write_bytes(file.read_bytes().replace(b"\r\n", b"\n").replace(b"\n", b"\r\n"))
    git(root, "-c", "core.autocrlf=false", "commit", "--quiet", "--all", "--no-verify", "--message", "CRLF")


def with_table(root: Path) -> None:
    """Give the tree a table of who may import whom."""
    (root / import_direction.SETTINGS).write_text(import_direction.TABLE, encoding="utf-8")
    git(root, "add", import_direction.SETTINGS)
    git(root, "commit", "--quiet", "--no-verify", "--message", "Say who may import whom")


def with_sorted_list(root: Path) -> None:
    """Put the list of files with examples in order: that release did not keep to one."""
    file = root / "utils" / "documentation_tests.txt"
    lines = file.read_text(encoding="utf-8").splitlines()
    file.write_text("".join(f"{line}\n" for line in sorted(lines)), encoding="utf-8")
    git(root, "commit", "--quiet", "--all", "--no-verify", "--message", "In order")


def rule_codes() -> set[str]:
    """Every code of every rule."""
    return {f"{name}/{what}" for name in RULE_NAMES for what in load_rule(name).CODES}


def table(results: Iterable[Result]) -> Iterator[str]:
    """A line for each kind: how many were planted, found by us, and found by the scripts."""
    yield f"{'':<80}{'planted':>9}{'found':>9}{'scripts':>9}{'helped':>9}"
    ordered = sorted(results, key=lambda result: (result.kind.code, result.kind.name))
    for code, of_code in groupby(ordered, key=lambda result: result.kind.code):
        yield code
        for name, of_kind in groupby(of_code, key=lambda result: result.kind.name):
            yield f"    {name:<76}" + "".join(f"{number:>9}" for number in counts(list(of_kind)))


def summary(name: str, results: Sequence[Result]) -> str:
    planted, found, scripts, helped = counts(results)
    return f"{name}: {planted} planted, {found} found by mergeready, {scripts} by the scripts (with help: {helped})"


def counts(results: Sequence[Result]) -> tuple[int, int, int, int]:
    """Planted, found by us, by the scripts as they are shipped, and by those that were helped as well."""
    shipped = [result for result in results if any(not script.helped for script in result.scripts)]
    helped = [result for result in results if result.scripts]
    return len(results), sum(result.found for result in results), len(shipped), len(helped)


if __name__ == "__main__":
    main()
