"""Lists of paths name files that exist, in alphabetical order, each one once.

The libraries keep lists of the files whose examples are run, are too slow to run, or are not run:
`utils/documentation_tests.txt`, `utils/slow_documentation_tests.txt`, `utils/not_doctested.txt`. A line is a path
relative to the root, of a file or a folder; what follows the first space says why it is there. A file that was moved
or deleted silently drops out of whatever reads the list.

Blank lines and lines that start with `#` divide a list into groups, which are sorted each for itself. The fix moves
whole lines, reasons included, and drops the second of two equal lines. Which files are such lists is the setting
`layout.path_lists`. `sorted = false` in `[tool.mergeready.rules.doctest-list]` leaves the order alone.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby, pairwise
from posixpath import normpath
from typing import TYPE_CHECKING, NamedTuple

from checks.model import Edit, Example, Finding
from checks.reorder import Block, reorder

if TYPE_CHECKING:
    from checks.index import Index
    from checks.model import Findings

CODES = {
    "missing": "A line names a path that does not exist.",
    "order": "A line stands after one that it should stand before.",
    "duplicate": "A path is listed twice.",
}
FIXABLE = ("order", "duplicate")
OPTIONS = {"sorted": True}


class Line(NamedTuple):
    """One line of a list that names a path."""

    number: int
    path: str
    text: str


def check(index: Index) -> Findings:
    """Report paths that are missing, out of order or listed twice; subjects are the lines."""
    profile = index.settings.profile
    seen = 0
    for path in index.matching(*(profile.pattern(template) for template in profile.path_lists)):
        text = index.text(path)
        groups = _groups(text)
        lines = [line for group in groups for line in group]
        seen += len(lines)
        yield from _missing(index, path, lines)
        yield from _duplicates(path, lines)
        if index.settings.option("doctest-list", "sorted", OPTIONS["sorted"]):
            for group in groups:
                yield from _disorder(path, group, text.split("\n"))
    return seen


def _groups(text: str) -> list[list[Line]]:
    numbered = [Line(number, (line.split() or [""])[0], line) for number, line in enumerate(text.split("\n"), 1)]
    named = groupby(numbered, key=lambda line: bool(line.path) and not line.path.startswith("#"))
    return [list(group) for is_path, group in named if is_path]


def _missing(index: Index, path: str, lines: list[Line]) -> Iterator[Finding]:
    absent = [line for line in lines if not index.exists(normpath(line.path))]
    # Folders are no entries of a tree: only those lines that name no file pay for the list of all paths.
    folders = _folders(index.paths) if absent else set()
    for line in absent:
        if normpath(line.path) not in folders:
            yield Finding(
                path,
                line.number,
                "doctest-list/missing",
                f"{line.path!r} does not exist",
                "neither a file nor a folder of this tree, from its root, has this path",
            )


def _folders(paths: tuple[str, ...]) -> set[str]:
    found = {"."}
    for path in paths:
        folder = path.rpartition("/")[0]
        while folder and folder not in found:
            found.add(folder)
            folder = folder.rpartition("/")[0]
    return found


def _duplicates(path: str, lines: list[Line]) -> Iterator[Finding]:
    seen: dict[str, Line] = {}
    for line in lines:
        earlier = seen.setdefault(line.path, line)
        if earlier is not line:
            same = earlier.text.split() == line.text.split()
            yield Finding(
                path,
                line.number,
                "doctest-list/duplicate",
                f"{line.path!r} is listed twice",
                "" if same else "what follows the path differs, so one of the lines has to go by hand",
                edits=(Edit(path, line.number, line.number, ""),) if same else (),
                source=(path, earlier.number),
            )


def _disorder(path: str, group: list[Line], lines: list[str]) -> Iterator[Finding]:
    for earlier, line in pairwise(group):
        if line.path < earlier.path:
            blocks = [Block(line.number, line.number) for line in group]
            order = sorted(range(len(group)), key=lambda place: group[place].path)
            yield Finding(
                path,
                line.number,
                "doctest-list/order",
                f"{line.path!r} stands after {earlier.path!r}",
                "lines are sorted by their paths, compared as text",
                edits=reorder(path, blocks, order, lines),
            )
            return


_LIST = "utils/slow_documentation_tests.txt"
_FILES = {"docs/a.md": "A\n", "src/lib/__init__.py": "", "src/lib/b.py": ""}

EXAMPLES = (
    Example(
        "reasons go with their lines",
        tree={**_FILES, _LIST: "src/lib/b.py (loads 20 GB)\ndocs/a.md\nsrc/lib/\n"},
        says=(f"{_LIST}:2 doctest-list/order",),
        mended={_LIST: "docs/a.md\nsrc/lib/\nsrc/lib/b.py (loads 20 GB)\n"},
    ),
    Example(
        "a file that was deleted",
        tree={**_FILES, _LIST: "docs/a.md\ndocs/gone.md\n"},
        says=(f"{_LIST}:2 doctest-list/missing",),
    ),
    Example(
        "the same line twice, and the same path for two reasons",
        tree={**_FILES, _LIST: "docs/a.md\ndocs/a.md\nsrc/lib/b.py slow\nsrc/lib/b.py needs a GPU\n"},
        says=(f"{_LIST}:2 doctest-list/duplicate", f"{_LIST}:4 doctest-list/duplicate"),
        mended={_LIST: "docs/a.md\nsrc/lib/b.py slow\nsrc/lib/b.py needs a GPU\n"},
    ),
    Example(
        "groups are sorted each for itself, and a folder may end in a slash",
        tree={**_FILES, _LIST: "# code\nsrc/lib/\nsrc/lib/b.py\n\n# pages\ndocs/a.md\n"},
    ),
    Example(
        "a list that keeps an order of its own",
        tree={**_FILES, _LIST: "src/lib/b.py\ndocs/a.md\n"},
        settings={"rules": {"doctest-list": {"sorted": False}}},
    ),
)
