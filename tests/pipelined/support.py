"""The table of models in the README, made from the placements and from the page of models that have been tried."""

from __future__ import annotations

import re
from pathlib import Path

from pipelined.catalog import families

ROOT = Path(__file__).parents[2]
README = ROOT / "README.md"
PAGE = ROOT / "docs" / "models.md"
BEGIN, END = "<!-- models: written by nox -s coverage_of_models -->", "<!-- models: end -->"

TITLES = {
    "bart": "BART",
    "bert": "BERT",
    "convnext": "ConvNeXt",
    "deberta": "DeBERTa",
    "distilbert": "DistilBERT",
    "gpt2": "GPT-2",
    "groupbert": "GroupBERT (our own)",
    "hubert": "HuBERT",
    "lxmert": "LXMERT",
    "mpnet": "MPNet",
    "mt5": "MT5",
    "roberta": "RoBERTa",
    "t5": "T5",
    "vit": "ViT",
    "wav2vec2": "Wav2Vec2",
    "whisper": "Whisper",
}


def support_table() -> str:
    """The families that come with a placement, and how many other classes were tried with what result."""
    rows = [f"| {TITLES[family]} | {', '.join(classes)} |" for family, classes in sorted(families().items())]
    counts = dict(re.findall(r"^\| (\w[\w ]*) \| (\d+) \|", PAGE.read_text(encoding="utf-8"), re.MULTILINE))
    return "\n".join(
        [
            "| family | classes with a placement of their own |",
            "|---|---|",
            *rows,
            "",
            (
                "A configuration with a `base_model_pp_plan` (Llama, Qwen, Mixtral, Gemma and over a hundred others)"
                " needs nothing more."
            ),
            (
                "For any other model `to_pipelined(..., force=True)` finds a placement by running it once:"
                f" of {sum(map(int, counts.values()))} classes of transformers {counts['equal']} are equal to their"
                f" originals bit for bit, {counts['differs']} differ, {counts['refused']} are refused with a reason,"
                f" and {counts['not built']} could not be tried; [each by name](docs/models.md)."
            ),
        ]
    )


def with_table(readme: str) -> str:
    """The README with the table between its two comments written anew."""
    before, _, rest = readme.partition(BEGIN)
    _, _, after = rest.partition(END)
    return f"{before}{BEGIN}\n\n{support_table()}\n\n{END}{after}"
