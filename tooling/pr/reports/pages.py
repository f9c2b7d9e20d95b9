"""Pages about the items of the checklist, made from their docstrings, codes and options."""

from __future__ import annotations

from collections.abc import Iterator

from tooling.pr.checklist import ITEMS
from tooling.pr.items import load_item
from tooling.pr.judge import COMMON_CODES


def all_items() -> str:
    """Every item's page in one Markdown document."""
    origin = "Written by `mergeready pr items --format markdown`; edit the items' docstrings instead."
    common = "\n".join(f"| `<item>/{what}` | {text} |" for what, text in COMMON_CODES.items())
    any_item = f"## Any item\n\n| code | what it means |\n|---|---|\n{common}"
    return "\n\n".join(("# Items of the checklist", origin, any_item, *map(item, ITEMS))) + "\n"


def item(name: str) -> str:
    """One item's page in Markdown."""
    return "\n".join(_item_lines(name))


def _item_lines(name: str) -> Iterator[str]:
    module = load_item(name)
    yield f"## {name}\n\n{(module.__doc__ or '').strip()}\n"
    if module.BOX:
        yield f"Its box in a template: *{module.BOX}*\n"
    yield "| code | what it means |\n|---|---|"
    for what, text in module.CODES.items():
        yield f"| `{name}/{what}` | {text} |"
    if module.OPTIONS:
        yield f"\nSettings, in `[tool.mergeready.pr.{name}]`:\n\n| key | default |\n|---|---|"
        for key, default in module.OPTIONS.items():
            yield f"| `{key}` | `{list(default) if isinstance(default, tuple) else default!r}` |"
