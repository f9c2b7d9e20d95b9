"""Show how a model would be spread over IPUs: which part goes where, what it costs, and what crosses.

The model is built without its weights and nothing is computed, so a large one needs neither memory nor an accelerator.
MODEL is the name of a transformers class, a config.json, a folder that holds one, or a repository of the Hugging Face
hub. No code that comes with a model is run.

Examples:
    mergeready plan BertForMaskedLM --ipus 4
    mergeready plan ./my-checkpoint --layers 3,3,-1,-1
    mergeready plan LlamaForCausalLM --ipus 4 --balance --svg llama.svg
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tooling.console import Console
from tooling.errors import Exit, UserError

if TYPE_CHECKING:
    from pipelined.config import IPUConfig


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the command's own options."""
    parser.add_argument("model", metavar="MODEL", help="class, config.json, folder, or hub repository")
    parser.add_argument("--ipus", type=int, metavar="N", help="devices to spread over; 1, or as many as --layers names")
    parser.add_argument("--layers", type=_counts, metavar="N,N,...", help="layers of each device, -1 for what is left")
    parser.add_argument("--balance", action="store_true", help="choose the layers of free devices by compute")
    parser.add_argument("--svg", type=Path, metavar="FILE", help="draw the plan into this file")
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

    model = empty_model(options.model)
    config = _config(options)
    balanced = balance_layers(model, config) if options.balance else None
    if balanced is not None:
        config.layers_per_ipu = list(balanced.layers_per_ipu)
    view = overview(model, config)
    if options.svg:
        _write(options.svg, overview_svg(view))
    if options.json:
        chosen = None if balanced is None else list(balanced.layers_per_ipu)
        data: dict[str, Any] = {"schema": 1, **overview_data(view), "balanced": chosen}
        console.data(json.dumps(data, indent=2))
        return
    console.print(f"{view.model} over {config.ipus_per_replica} IPUs", "bold")
    for line in overview_table(view).splitlines():
        console.print(line)
    if balanced is not None:
        console.print(f"balanced    {balanced}")


def _config(options: argparse.Namespace) -> IPUConfig:
    from pipelined.config import IPUConfig

    layers = options.layers or [-1]
    return IPUConfig(layers_per_ipu=layers, ipus_per_replica=len(layers) if options.ipus is None else options.ipus)


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
