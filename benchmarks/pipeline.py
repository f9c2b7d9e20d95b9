"""What a session over several processes costs beside the least that it could: schedules, torch alone, splits by hand.

    nox -s bench -- pipeline
    python benchmarks/pipeline.py --only hand --repeats 30
    python benchmarks/pipeline.py --only peers --write docs/pipelined-peers.md

Both sides of a comparison take turns in the same processes, one thread each, so that a machine that does other things
as well slows them alike. Prints a table a question, medians with their quartiles, and fails where a limit is passed.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import product
from pathlib import Path
from statistics import median, quantiles
from typing import Any

from pipelined_overhead import interval


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="+", choices=list(PARTS), default=list(PARTS), help="the questions to ask")
    parser.add_argument("--repeats", type=int, default=15, help="timed steps of each side (default: %(default)s)")
    parser.add_argument("--microbatches", type=int, nargs="+", default=[4, 8, 16], help="(default: %(default)s)")
    parser.add_argument("--write", type=Path, help="write the table of features here")
    options = parser.parse_args()
    try:
        import torch
        import transformers
    except ModuleNotFoundError:
        print("not run: torch and transformers are not installed (pip install 'mergeready[models]')")
        return 0
    os.environ["OMP_NUM_THREADS"] = "1"
    torch.set_num_threads(1)
    print(f"torch {torch.__version__}, transformers {transformers.__version__}, gloo, one thread a process")
    failed = [failure for name in options.only for failure in _titled(name, options)]
    print("\n" + ("\n".join(failed) if failed else "all limits are kept"))
    return int(bool(failed))


def _titled(name: str, options: argparse.Namespace) -> Sequence[str]:
    load = ", ".join(f"{one:.1f}" for one in os.getloadavg())
    print(f"\n## {name}\n\nload {load} on {os.cpu_count()} processors\n")
    return list(PARTS[name](options))


def schedules(options: argparse.Namespace) -> Iterator[str]:
    """Sleeping blocks: bubbles in ticks, and time beside the ideal and beside torch's own stages."""
    from processes import values
    from sleeping import LIMIT_BARE, LIMIT_IDEAL, PLACED, bubbles, ideal_seconds, step_times

    _row(
        "schedule",
        "microbatches",
        "bubble, ticks",
        "ideal, ms",
        "ours, ms",
        "ours / ideal",
        "torch, ms",
        "ours / torch",
    )
    _row(*["---"] * 8)
    for name in PLACED:
        for count in options.microbatches:
            slept = values(step_times, 2, name, count, options.repeats)
            seen, ideal_bubble = bubbles(name, count, [one.events for one in slept])
            ours, bare, ideal = slept[0].ours, slept[0].bare, ideal_seconds(name, count)
            to_ideal = [one / ideal for one in ours]
            _row(
                *(name, count, f"{seen:.4f}", f"{ideal * 1000:.0f}", f"{median(ours) * 1000:.1f}"),
                *(_spread(to_ideal), f"{median(bare) * 1000:.1f}", _spread(_ratios(ours, bare))),
            )
            if seen != ideal_bubble:
                yield f"{name}, {count} microbatches: a bubble of {seen:.4f} where the order has {ideal_bubble:.4f}"
            yield from _above(f"{name}, {count} microbatches, of the ideal", to_ideal, LIMIT_IDEAL)
            yield from _above(f"{name}, {count} microbatches, of torch's stages", _ratios(ours, bare), LIMIT_BARE)


def hand(options: argparse.Namespace) -> Iterator[str]:
    """The same model cut by hand: time and bytes."""
    from against_hand import LIMIT_RATIO, compare
    from processes import values

    _row(
        "model",
        "schedule",
        "microbatches",
        "by hand, ms",
        "ours / by hand",
        "in processor time",
        "bytes, ours / by hand",
    )
    _row(*["---"] * 7)
    for name, schedule, count in product(("BERT", "Llama"), ("gpipe", "1f1b"), options.microbatches):
        found = values(compare, 2, name, schedule, count, options.repeats, timeout=3000)
        wall = found[0].wall
        spent = {who: [sum(pair) for pair in zip(*(one.processor[who] for one in found), strict=True)] for who in wall}
        sent = {who: sum(one.sent[who] for one in found) for who in wall}
        to_hand, spent_to_hand = _ratios(wall["ours"], wall["hand"]), _ratios(spent["ours"], spent["hand"])
        differences = [one.difference for one in found if one.difference is not None]
        _row(
            *(name, schedule, count, f"{median(wall['hand']) * 1000:.0f}", _spread(to_hand)),
            *(_spread(spent_to_hand), f"{sent['ours']} / {sent['hand']}"),
        )
        yield from _above(f"{name}, {schedule}, {count}, of the split by hand", to_hand, LIMIT_RATIO)
        yield from _above(f"{name}, {schedule}, {count}, of its processor time", spent_to_hand, LIMIT_RATIO)
        if sent["ours"] != sent["hand"]:
            yield f"{name}, {schedule}, {count}: {sent['ours']} bytes sent, by hand {sent['hand']}"
        if max(differences) > 1e-6:
            yield f"{name}, {schedule}, {count}: the losses differ by {max(differences)}"


def glue(options: argparse.Namespace) -> Iterator[str]:
    """Processor time of the code around blocks, forward, beside that of a process's own blocks, forward."""
    from against_hand import LIMIT_GLUE, MODELS, glue_shares
    from processes import values

    kinds = ("blocks", "glue", "ending", "backward", "scheduling", "agreeing", "sharing")
    _row("model", "process", *(f"{kind}, ms" for kind in kinds), "glue / blocks")
    _row(*["---"] * (len(kinds) + 3))
    for name in MODELS:
        for rank, found in enumerate(values(glue_shares, 2, name, 4, max(options.repeats // 3, 3))):
            share = found["glue"] / found["blocks"]
            _row(name, rank, *(f"{found.get(kind, 0) * 1000:.1f}" for kind in kinds), f"{share:.3f}")
            if share > LIMIT_GLUE:
                yield f"{name}, process {rank}: glue takes {share:.3f} of its blocks, limit {LIMIT_GLUE}"


def memory(options: argparse.Namespace) -> Iterator[str]:
    """How far the resident set grows from loading to trained, beside its part of what all takes."""
    from memory_per_rank import LIMIT, peak_of_all, peak_of_rank, save
    from processes import values

    _row("processes", "process", "parameters, MiB", "of these shared", "peak, MiB", "allowed, MiB", "ratio")
    _row(*["---"] * 7)
    with tempfile.TemporaryDirectory() as folder:
        values(save, 1, folder)
        [whole] = values(peak_of_all, 1, folder)
        _row(1, 0, *map(_mebibytes, (whole.parameters, 0, whole.grown, whole.grown)), "1.00")
        for ipus in (2, 4):
            for rank, found in enumerate(values(peak_of_rank, ipus, folder)):
                ratio = found.grown / found.allowed(whole)
                row = map(_mebibytes, (found.parameters, found.shared, found.grown, found.allowed(whole)))
                _row(ipus, rank, *row, f"{ratio:.2f}")
                if ratio > LIMIT:
                    yield f"process {rank} of {ipus} takes {ratio:.2f} of the memory that it may take, limit {LIMIT}"


def peers(options: argparse.Namespace) -> Iterator[str]:
    """What each way to cut a model can do, each tried on the same models."""
    from pipeline_peers import run_all, table, wrong

    found = run_all()
    print(table(found))
    if options.write is not None:
        options.write.write_text(table(found), encoding="utf-8")
    yield from wrong(found)


PARTS: Mapping[str, Callable[[argparse.Namespace], Iterator[str]]] = {
    "schedules": schedules,
    "hand": hand,
    "glue": glue,
    "memory": memory,
    "peers": peers,
}


def _row(*cells: Any) -> None:
    print(f"| {' | '.join(map(str, cells))} |", flush=True)


def _ratios(ours: Sequence[float], others: Sequence[float]) -> list[float]:
    """Of neighbours, which a machine that is busy slows alike."""
    return [one / other for one, other in zip(ours, others, strict=True)]


def _spread(ratios: Sequence[float]) -> str:
    """The median, and the quartiles around it."""
    low, middle, high = quantiles(ratios, n=4)
    return f"{middle:.3f} ({low:.3f} to {high:.3f})"


def _above(what: str, ratios: Sequence[float], limit: float) -> Iterator[str]:
    """A failure where the median is above the limit beyond doubt: on a busy machine few steps say little."""
    low, high = interval(list(ratios))
    if low > limit:
        yield f"{what}: {median(ratios):.3f} (95 % interval {low:.3f} to {high:.3f}), limit {limit}"


def _mebibytes(size: int) -> str:
    return f"{size / 2**20:.0f}"


if __name__ == "__main__":
    sys.exit(main())
