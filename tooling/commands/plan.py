"""Show how a model would be spread over IPUs: which part goes where, what it costs, and what crosses.

The model is built without its weights and nothing is computed, so a large one needs neither memory nor an accelerator.
MODEL is the name of a transformers class, a config.json, a folder that holds one, or a repository of the Hugging Face
hub. No code that comes with a model is run.

With --timeline it shows what every device computes when, how much of the time it waits (the bubble), and how many
activations it holds. A forward pass takes a tick and a backward pass two, whatever the stage; with --weighted they take
as long as the compute of their stage. What is sent takes no time.

Examples:
    mergeready plan BertForMaskedLM --ipus 4
    mergeready plan ./my-checkpoint --layers 3,3,-1,-1
    mergeready plan LlamaForCausalLM --ipus 4 --balance --svg llama.svg
    mergeready plan BertForMaskedLM --ipus 4 --timeline --schedule gpipe --microbatches 16
"""

from __future__ import annotations

import argparse
import json
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tooling.console import Console
from tooling.errors import Exit, UserError

if TYPE_CHECKING:
    from pipelined.config import IPUConfig
    from pipelined.overview import Overview
    from pipelined.timings import Timings

COLOURS = {"F": "blue", "B": "green", "I": "cyan", "W": "yellow", ".": "dim"}


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the command's own options."""
    parser.add_argument("model", metavar="MODEL", help="class, config.json, folder, or hub repository")
    parser.add_argument("--ipus", type=int, metavar="N", help="devices to spread over; 1, or as many as --layers names")
    parser.add_argument("--layers", type=_counts, metavar="N,N,...", help="layers of each device, -1 for what is left")
    parser.add_argument("--balance", action="store_true", help="choose the layers of free devices by compute")
    parser.add_argument("--timeline", action="store_true", help="show what runs when, and how long devices wait")
    parser.add_argument("--schedule", metavar="NAME", help="the timeline's order: 1f1b unless given, gpipe, and others")
    parser.add_argument("--microbatches", type=int, metavar="M", help="the timeline's microbatches, 8 unless given")
    parser.add_argument("--weighted", action="store_true", help="draw stages in the timeline as long as their compute")
    parser.add_argument("--svg", type=Path, metavar="FILE", help="draw the plan, or the timeline, into this file")
    parser.add_argument("--json", action="store_true", help="print the plan as JSON")


def run(options: argparse.Namespace, console: Console) -> int:
    """Build the model empty, plan, and show the plan."""
    try:
        from pipelined.errors import PipelineError
    except ImportError as error:
        raise UserError(str(error), exit=Exit.ENVIRONMENT) from error
    try:
        _show(options, console)
    except PipelineError as error:
        raise UserError(str(error.args[0]), hint=error.hint) from error
    except ValueError as error:
        raise UserError(str(error)) from error
    return Exit.DONE


def _show(options: argparse.Namespace, console: Console) -> None:
    from pipelined.balance_layers import balance_layers
    from pipelined.describe import overview_data, overview_table
    from pipelined.drawing import overview_svg
    from pipelined.overview import overview
    from pipelined.sources import empty_model
    from pipelined.timeline_drawing import timeline_svg

    _check(options)
    model = empty_model(options.model)
    config = _config(options)
    balanced = balance_layers(model, config) if options.balance else None
    if balanced is not None:
        config.layers_per_ipu = list(balanced.layers_per_ipu)
    view = overview(model, config)
    times = _times(options, view)
    if options.svg:
        _write(options.svg, overview_svg(view) if times is None else timeline_svg(times.wanted, view.model))
    if options.json:
        chosen = None if balanced is None else list(balanced.layers_per_ipu)
        data: dict[str, Any] = {"schema": 1, **overview_data(view), "balanced": chosen}
        console.data(json.dumps(data if times is None else {**data, "timeline": times.data()}, indent=2))
        return
    console.print(f"{view.model} over {config.ipus_per_replica} IPUs", "bold")
    for line in overview_table(view).splitlines():
        console.print(line)
    if balanced is not None:
        console.print(f"balanced    {balanced}")
    if times is not None:
        _print_times(times, console)


def _times(options: argparse.Namespace, view: Overview) -> Timings | None:
    from pipelined.timings import timings

    if not options.timeline:
        return None
    microbatches = 8 if options.microbatches is None else options.microbatches
    schedule = "1f1b" if options.schedule is None else options.schedule
    return timings(view, schedule=schedule, microbatches=microbatches, weighted=options.weighted)


def _print_times(times: Timings, console: Console) -> None:
    from pipelined.timeline_text import timeline_legend, timeline_lines, timeline_table

    shown = times.wanted
    ticks = f"{shown.ticks:.1f}" if times.weighted else shown.ticks
    console.print()
    console.print(f"timeline    {shown.schedule}, {shown.microbatches} microbatches, {ticks} ticks")
    console.print(f"bubble      {times.alike.bubble:.1%} if all stages take equally long")
    if times.by_compute is not None:
        console.print(f"            {times.by_compute.bubble:.1%} if stages take as long as they compute")
    for pieces in timeline_lines(shown, shutil.get_terminal_size().columns):
        console.pieces((text, COLOURS.get(kind, "")) for text, kind in pieces)
    console.print()
    for line in timeline_table(shown):
        console.print(line)
    console.print(timeline_legend(shown), "dim")


def _check(options: argparse.Namespace) -> None:
    """Refuse what would be of no effect."""
    for name in ("schedule", "microbatches", "weighted"):
        given = getattr(options, name)
        if not options.timeline and given is not None and given is not False:
            raise UserError(f"--{name} is about the timeline, which is not asked for", hint="add --timeline")


def _config(options: argparse.Namespace) -> IPUConfig:
    from pipelined.config import IPUConfig
    from pipelined.execution import Execution
    from pipelined.schedule import schedule_names

    layers = options.layers or [-1]
    # One that there is not is refused where the timeline is made.
    execution = Execution(schedule=options.schedule) if options.schedule in schedule_names() else Execution()
    ipus = len(layers) if options.ipus is None else options.ipus
    return IPUConfig(layers_per_ipu=layers, ipus_per_replica=ipus, execution=execution)


def _counts(text: str) -> list[int]:
    try:
        return [int(word) for word in text.split(",")]
    except ValueError as error:
        raise argparse.ArgumentTypeError(f"{text!r} is not a list of whole numbers such as 3,3,-1") from error


def _write(path: Path, text: str) -> None:
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise UserError(f"{path} cannot be written: {error.strerror}") from error
