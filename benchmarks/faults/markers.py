"""Ways to spell the marker of a copy wrong, or to have it say what is not so."""

from __future__ import annotations

import re
from collections.abc import Callable
from random import Random

from faults.copies import Copy, copies, dotted, origin
from faults.model import DEFINITIONS, Files

Marking = Callable[[Files, Copy, Random], str | None]
"""Makes the text of a copy's file with the marker changed, None where that cannot be done to this marker."""


def name_misspelt(_: Files, copy: Copy, random: Random) -> str:
    """The last name of the path lacks a letter or has one too many."""
    wrong = random.choice((copy.target[:-1], f"{copy.target}s"))
    return copy.marked(f"# Copied from {wrong} {copy.clause}".rstrip())


def wrong_scope(files: Files, copy: Copy, random: Random) -> str | None:
    """The method is looked for in a class of the module that does not have it."""
    path, _, method = copy.target.rpartition(".")
    module_path, _, name = path.rpartition(".")
    found = origin(files, copy.target)
    if found is None or name == found.path.rpartition("/")[2].removesuffix(".py"):
        return None
    others = [
        node.name
        for node in found.module.tree.body
        if isinstance(node, DEFINITIONS) and origin(files, f"{module_path}.{node.name}.{method}") is None
    ]
    if not others:
        return None
    return copy.marked(f"# Copied from {module_path}.{random.choice(others)}.{method} {copy.clause}".rstrip())


def no_such_module(_: Files, copy: Copy, __: Random) -> str:
    """The path leads through a module that is not there."""
    package, rest = copy.target.split(".", 1)
    return copy.marked(f"# Copied from {package}.gone.{rest} {copy.clause}".rstrip())


def spaced_arrow(_: Files, copy: Copy, __: Random) -> str | None:
    """There are spaces around an arrow."""
    return _with_clause(copy, copy.clause.replace("->", " -> ", 1))


def two_headed_arrow(_: Files, copy: Copy, __: Random) -> str | None:
    """An arrow is spelt `=>`."""
    return _with_clause(copy, copy.clause.replace("->", "=>", 1))


def joined_by_and(_: Files, copy: Copy, __: Random) -> str | None:
    """Two replacements are joined by `and`."""
    return _with_clause(copy, re.sub(",", " and", copy.clause, count=1))


def no_expression(_: Files, copy: Copy, __: Random) -> str | None:
    """What is to be replaced is no regular expression."""
    return _with_clause(copy, copy.clause.replace("->", "(->", 1))


def idle_clause(_: Files, copy: Copy, random: Random) -> str:
    """A replacement has nothing to replace."""
    idle = random.choice(("NeverThere->SomethingElse", "Qwertz->Azerty"))
    return copy.marked(f"# Copied from {copy.target} {copy.clause + ', ' if copy.clause else 'with '}{idle}")


def idle_after_another(_: Files, copy: Copy, __: Random) -> str | None:
    """A replacement has nothing left to replace, since one before it has replaced that."""
    left = re.findall(r"(\w+)->", copy.clause)
    return _with_clause(copy, f"{copy.clause}, {left[0]}->Other") if left and left[0] not in _rights(copy) else None


def lower_case(_: Files, copy: Copy, __: Random) -> str:
    """It begins in lower case."""
    return copy.marked(f"# copied from {copy.target} {copy.clause}".rstrip())


def capital(_: Files, copy: Copy, __: Random) -> str:
    """Both words begin in upper case."""
    return copy.marked(f"# Copied From {copy.target} {copy.clause}".rstrip())


def colon(_: Files, copy: Copy, __: Random) -> str:
    """There is a colon before the path."""
    return copy.marked(f"# Copied from: {copy.target} {copy.clause}".rstrip())


def full_stop(_: Files, copy: Copy, __: Random) -> str | None:
    """The sentence ends in a full stop."""
    return None if copy.clause else copy.marked(f"# Copied from {copy.target}.")


def back_quotes(_: Files, copy: Copy, __: Random) -> str:
    """The path stands in back quotes."""
    return copy.marked(f"# Copied from `{copy.target}` {copy.clause}".rstrip())


def no_package(_: Files, copy: Copy, __: Random) -> str:
    """The path begins below the package."""
    return copy.marked(f"# Copied from {copy.target.partition('.')[2]} {copy.clause}".rstrip())


def above_decorators(_: Files, copy: Copy, __: Random) -> str | None:
    """The marker stands above the decorators."""
    if not copy.node.decorator_list:
        return None
    text, first = copy.module.text, copy.module.line(copy.node.decorator_list[0].lineno)
    marker = text[copy.line : copy.stop + 1]
    return text[:first] + marker + text[first : copy.line] + text[copy.stop + 1 :]


def apart(_: Files, copy: Copy, __: Random) -> str:
    """There is a blank line between the marker and the definition."""
    return copy.module.but(copy.stop, copy.stop, "\n")


def names_a_copy(files: Files, copy: Copy, random: Random) -> str | None:
    """The marker names another copy of the same original."""
    others = [other for other in _same(files, copy, random) if other.path != copy.path]
    path = dotted(files, others[0]) if others else None
    return copy.marked(f"# Copied from {path}") if path and not copy.clause else None


def names_itself(files: Files, copy: Copy, _: Random) -> str | None:
    """The marker names the code below it."""
    path = dotted(files, copy)
    return copy.marked(f"# Copied from {path}") if path else None


def breaks_the_code(_: Files, copy: Copy, __: Random) -> str | None:
    """What the replacements make of the original is no Python."""
    body = copy.module.text[copy.module.start(copy.node.body[0]) : copy.module.end(copy.node)]
    if copy.clause or not re.search(r"^ +return \w", body, re.MULTILINE):
        return None
    return copy.marked(f"# Copied from {copy.target} with return->return(")


MARKINGS: dict[str, dict[str, Marking]] = {
    "target": {
        "the name of the original misspelt": name_misspelt,
        "the original in another scope": wrong_scope,
        "a module that is not there": no_such_module,
    },
    "clause": {
        "spaces around an arrow": spaced_arrow,
        "an arrow spelt =>": two_headed_arrow,
        "replacements joined by and": joined_by_and,
        "no regular expression": no_expression,
    },
    "no-effect": {
        "nothing to replace": idle_clause,
        "nothing left to replace": idle_after_another,
    },
    "near-miss": {
        "lower case": lower_case,
        "upper case": capital,
        "a colon": colon,
        "a full stop": full_stop,
        "back quotes": back_quotes,
        "the package left out": no_package,
        "above the decorators": above_decorators,
        "a blank line below": apart,
    },
    "copy-of-copy": {"another copy named": names_a_copy},
    "self": {"itself named": names_itself},
    "unparsable": {"a replacement that breaks the code": breaks_the_code},
}
"""What can be wrong with a marker, by code and by what a table calls it."""


def _with_clause(copy: Copy, clause: str) -> str | None:
    return copy.marked(f"# Copied from {copy.target} {clause}") if copy.clause and clause != copy.clause else None


def _rights(copy: Copy) -> str:
    return " ".join(re.findall(r"->(\w+)", copy.clause))


def _same(files: Files, copy: Copy, random: Random) -> list[Copy]:
    return [other for other in copies(files, random) if other.target == copy.target and not other.clause]
