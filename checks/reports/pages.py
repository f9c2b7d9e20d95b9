"""Pages about rules, made from their docstrings, codes, options and examples."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from checks.engine import load_rule
from checks.model import Example


def all_rules(names: Iterable[str]) -> str:
    """Every rule's page in one Markdown document."""
    origin = "Written by `mergeready rules --format markdown`; edit the rules' docstrings instead."
    return "\n\n".join(("# Rules", origin, *map(rule, names))) + "\n"


def rule(name: str) -> str:
    """One rule's page in Markdown."""
    return "\n".join(_rule_lines(name))


def _rule_lines(name: str) -> Iterator[str]:
    module = load_rule(name)
    yield f"## {name}\n\n{(module.__doc__ or '').strip()}\n"
    yield "| code | what it means | fixable |\n|---|---|---|"
    for what, text in module.CODES.items():
        yield f"| `{name}/{what}` | {text} | {'yes' if what in module.FIXABLE else ''} |"
    if module.OPTIONS:
        yield f"\nSettings, in `[tool.mergeready.rules.{name}]`:\n\n| key | default |\n|---|---|"
        for key, default in module.OPTIONS.items():
            yield f"| `{key}` | `{default!r}` |"
    for example in module.EXAMPLES:
        yield from _example_lines(example)


def _example_lines(example: Example) -> Iterator[str]:
    yield f"\n**{example.title[:1].upper()}{example.title[1:]}**"
    if example.settings:
        yield f"\nwith settings `{dict(example.settings)!r}`"
    yield from _files(example.tree)
    yield f"\nsays {', '.join(f'`{line}`' for line in example.says)}." if example.says else "\nsays nothing."
    if example.mended:
        yield "\nThe fix gives:"
        yield from _files(example.mended)


def _files(tree: Mapping[str, str | None]) -> Iterator[str]:
    for path, text in tree.items():
        if text is None:
            yield f"\n`{path}` is deleted."
        else:
            language = {"py": "python", "yml": "yaml", "toml": "toml"}.get(path.rpartition(".")[2], "text")
            yield f'\n```{language} title="{path}"\n{text.rstrip()}\n```'
