"""Tables of contents are in order and list every page of the documentation, each one that exists, once.

`_toctree.yml` lists the pages of the folder that it stands in: `local` is the path of a page without its suffix,
`title` what the reader sees, `sections` the entries below. The tool that builds the documentation stops at a page that
is listed and missing, and at one that is there and not listed; this rule says so before.

- Pages are `.md` and `.mdx` files; a `README` needs no entry, nor does a page that matches one of the globs in `unlisted`
  (relative to the table), and nothing does where `_config.py` beside the table sets `disable_toc_check`.
- `placeholders` are pages that may be listed any number of times, for what is still to be translated.
- The sections named by `layout.tocs_sorted` are sorted by title, without regard to case; entries whose titles are in
  `first` come before the others. Translations, tables with an `en` folder beside their own, keep an order of their own.
- A page may be listed in two different sections where `layout.tocs_repeat` says so.

The fix moves the lines of an entry together with the comments above them; quotes and blank lines stay as they are. An
entry that repeats another one to the letter is dropped. Tables with anchors and entries that share a line are left
alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from fnmatch import fnmatchcase
from itertools import pairwise
from posixpath import dirname, normpath
from typing import TYPE_CHECKING, NamedTuple

from checks.facts.toc import TOC, Entry
from checks.model import Edit, Example, Finding

if TYPE_CHECKING:
    from checks.index import Index
    from checks.model import Findings

CODES = {
    "order": "An entry of a sorted section stands after one that it should stand before.",
    "duplicate": "A page is listed twice in one section.",
    "repeated": "A page is listed in two sections of a table that lists each page once.",
    "missing": "A page that is listed does not exist.",
    "unlisted": "A page exists and is not listed.",
    "title": "An entry has no title.",
    "entry": "Something in the table is no entry: it has neither page nor sections, a key twice, or the wrong kind.",
    "unparsable": "The table is not YAML.",
}
FIXABLE = ("order", "duplicate")
OPTIONS: dict[str, object] = {
    "first": ("overview", "autopipeline"),
    "placeholders": ("in_translation",),
    "unlisted": (),
}


class Section(NamedTuple):
    """The entries of one section; `names` are the titles from the top down to it."""

    names: tuple[str, ...]
    entries: tuple[Entry, ...]


def check(index: Index) -> Findings:
    """Report what is wrong with each table of contents; subjects are the entries."""
    profile = index.settings.profile
    tables = index.matching(*(profile.pattern(template) for template in profile.tocs))
    entries = 0
    for path in tables:
        toc = index.facts(TOC, path)
        if toc.problem:
            yield Finding(path, toc.problem.line, "doc-toc/unparsable", "this is no table of contents", toc.problem.what)
            continue
        for line, what in toc.oddities:
            yield Finding(path, line, "doc-toc/entry", what)
        sections = tuple(_sections(Section((), toc.entries)))
        entries += sum(len(section.entries) for section in sections)
        yield from _untitled(path, sections)
        yield from _repeated(index, path, sections)
        yield from _unordered(index, path, sections)
        yield from _pages(index, path, sections, tables)
    return entries


def _sections(section: Section) -> Iterator[Section]:
    yield section
    for entry in section.entries:
        yield from _sections(Section((*section.names, entry.title), entry.entries))


def _untitled(path: str, sections: tuple[Section, ...]) -> Iterator[Finding]:
    for section in sections:
        for entry in section.entries:
            if not entry.title:
                named = f"{entry.pages[0]!r}" if entry.pages else "a section"
                yield Finding(path, entry.line, "doc-toc/title", f"{named} has no title")


def _repeated(index: Index, path: str, sections: tuple[Section, ...]) -> Iterator[Finding]:
    placeholders = _option(index, "placeholders")
    once = not index.settings.profile.tocs_repeat and not _is_translation(index, path)
    lines = index.text(path).split("\n")
    anywhere: dict[str, Entry] = {}
    for section in sections:
        here: dict[str, Entry] = {}
        for entry in section.entries:
            for page in entry.pages:
                if page in placeholders:
                    continue
                if here.setdefault(page, entry) is not entry:
                    yield _duplicate(path, page, here[page], entry, lines)
                elif anywhere.setdefault(page, entry) is not entry and once:
                    yield Finding(
                        path,
                        entry.line,
                        "doc-toc/repeated",
                        f"{page!r} is listed in two sections",
                        f"it stands in section {' > '.join(section.names)!r} too",
                        source=(path, anywhere[page].line),
                    )


def _duplicate(path: str, page: str, earlier: Entry, entry: Entry, lines: list[str]) -> Finding:
    same = bool(entry.last) and _source(earlier, lines) == _source(entry, lines)
    return Finding(
        path,
        entry.line,
        "doc-toc/duplicate",
        f"{page!r} is listed twice in one section",
        "both entries are the same" if same else "the entries differ: one of them has to go by hand",
        edits=(Edit(path, entry.first, entry.last, ""),) if same else (),
        source=(path, earlier.line),
    )


def _source(entry: Entry, lines: list[str]) -> list[str]:
    """The lines of an entry, in any order of its keys; blank lines do not count, comments do."""
    return sorted(line.strip().removeprefix("- ") for line in lines[entry.first - 1 : entry.last] if line.strip())


def _unordered(index: Index, path: str, sections: tuple[Section, ...]) -> Iterator[Finding]:
    patterns = index.settings.profile.tocs_sorted
    if not patterns or _is_translation(index, path):
        return
    first = _option(index, "first")
    for section in sections:
        if not any(_covers(pattern, section.names) for pattern in patterns) or not all(e.title for e in section.entries):
            continue
        for earlier, entry in pairwise(section.entries):
            if _rank(entry, first) < _rank(earlier, first):
                yield Finding(
                    path,
                    entry.line,
                    "doc-toc/order",
                    f"{entry.title!r} stands after {earlier.title!r}",
                    f"section {' > '.join(section.names)!r} is sorted by title",
                    edits=_sorted(path, section.entries, first, index.text(path).split("\n")),
                )
                break


def _covers(pattern: str, names: tuple[str, ...]) -> bool:
    parts = pattern.split("/")
    return len(parts) == len(names) and all(map(fnmatchcase, names, parts))


def _rank(entry: Entry, first: tuple[str, ...]) -> tuple[bool, str]:
    title = entry.title.lower()
    return (False, "") if title in first else (True, title)


def _sorted(path: str, entries: tuple[Entry, ...], first: tuple[str, ...], lines: list[str]) -> tuple[Edit, ...]:
    """The lines from the first entry that moves to the last one, in order; nothing where entries share a line."""
    if not all(entry.last for entry in entries):
        return ()
    wanted = sorted(entries, key=lambda entry: _rank(entry, first))
    moved = [place for place, entry in enumerate(entries) if entry is not wanted[place]]
    start, end = moved[0], moved[-1]
    text = [line for entry in wanted[start : end + 1] for line in lines[entry.first - 1 : entry.last]]
    return (Edit(path, entries[start].first, entries[end].last, "\n".join(text) + "\n"),)


def _pages(index: Index, path: str, sections: tuple[Section, ...], tables: tuple[str, ...]) -> Iterator[Finding]:
    folder = dirname(path)
    prefix = f"{folder}/" if folder else ""
    below = [f"{dirname(table)}/" for table in tables if table != path and table.startswith(prefix)]
    files = [page for page in index.files(".md", ".mdx", under=folder) if not page.startswith(tuple(below))]
    pages = {file.removeprefix(prefix).rpartition(".")[0]: file for file in files}
    listed = {page: entry for section in sections for entry in section.entries for page in entry.pages}
    for page, entry in listed.items():
        if page not in pages and not any(index.exists(f"{prefix}{normpath(page)}{end}") for end in (".md", ".mdx")):
            yield Finding(
                path,
                entry.line,
                "doc-toc/missing",
                f"{page!r} is listed and does not exist",
                f"there is neither {page}.md nor {page}.mdx in {folder or 'the root'}",
            )
    if _checks_listing(index, prefix):
        exempt = _option(index, "unlisted")
        for page in pages.keys() - {normpath(page) for page in listed}:
            if not page.endswith("README") and not any(fnmatchcase(page, pattern) for pattern in exempt):
                yield Finding(
                    pages[page],
                    1,
                    "doc-toc/unlisted",
                    f"{page!r} is not in the table of contents",
                    f"{path} lists each page of its folder",
                    source=(path, 1),
                )


def _checks_listing(index: Index, prefix: str) -> bool:
    return not re.search(r"^disable_toc_check\s*=\s*True\b", index.text(f"{prefix}_config.py"), re.MULTILINE)


def _is_translation(index: Index, path: str) -> bool:
    """Whether a table stands in a language's folder beside the English one."""
    folder, _, name = path.rpartition("/")
    languages, _, language = folder.rpartition("/")
    return language != "en" and index.exists(f"{languages}/en/{name}")


def _option(index: Index, key: str) -> tuple[str, ...]:
    return tuple(index.settings.option("doc-toc", key, OPTIONS[key]))


_TOC = "docs/source/en/_toctree.yml"
_LIBRARY = {"src/diffusers/__init__.py": ""}
_PAGES = {f"docs/source/en/{name}.md": f"# {name}\n" for name in ("index", "a", "b", "c")}

EXAMPLES = (
    Example(
        "an entry of a sorted section moves with its comment, and keeps its quotes",
        tree={
            **_LIBRARY,
            **_PAGES,
            _TOC: """\
- title: API
  sections:
  - title: Models
    sections:
    - local: index
      title: Overview
    - local: c
      title: Cnet
    # the smallest one
    - local: a
      title: "Anet"
    - title: Bnets
      sections:
      - local: b
        title: Bnet
""",
        },
        says=(f"{_TOC}:10 doc-toc/order",),
        mended={
            _TOC: """\
- title: API
  sections:
  - title: Models
    sections:
    - local: index
      title: Overview
    # the smallest one
    - local: a
      title: "Anet"
    - title: Bnets
      sections:
      - local: b
        title: Bnet
    - local: c
      title: Cnet
"""
        },
    ),
    Example(
        "a page listed twice in a section, with the same title and with another one",
        tree={
            **_LIBRARY,
            "docs/source/en/a.md": "# A\n",
            _TOC: """\
- title: Guides
  sections:
  - local: a
    title: A
  - title: A
    local: a
  - local: a
    title: Also A
""",
        },
        says=(f"{_TOC}:5 doc-toc/duplicate", f"{_TOC}:7 doc-toc/duplicate"),
        mended={
            _TOC: """\
- title: Guides
  sections:
  - local: a
    title: A
  - local: a
    title: Also A
"""
        },
    ),
    Example(
        "a page in two sections of a library that lists each page once",
        tree={
            **_LIBRARY,
            "docs/source/en/a.md": "# A\n",
            _TOC: """\
- title: Guides
  sections:
  - local: a
    title: A
- title: Tutorials
  sections:
  - local: a
    title: A
""",
        },
        says=(f"{_TOC}:7 doc-toc/repeated",),
    ),
    Example(
        "a page that was moved without its entry",
        tree={
            **_LIBRARY,
            "docs/source/en/guides/a.md": "# A\n",
            _TOC: "- local: a\n  title: A\n",
        },
        says=(f"{_TOC}:1 doc-toc/missing", "docs/source/en/guides/a.md:1 doc-toc/unlisted"),
    ),
    Example(
        "entries without a title, without a page, with a key twice",
        tree={
            **_LIBRARY,
            **_PAGES,
            _TOC: """\
- local: index
- title: Guides
- local: a
  title: A
  title: B
- sections:
  - local: b
    title: B
  - local: c
    title: C
""",
        },
        says=(
            f"{_TOC}:1 doc-toc/title",
            f"{_TOC}:2 doc-toc/entry",
            f"{_TOC}:5 doc-toc/entry",
            f"{_TOC}:6 doc-toc/title",
        ),
    ),
    Example(
        "a table that is not YAML",
        tree={**_LIBRARY, "docs/_toctree.yml": "- local: index\n\ttitle: Index\n"},
        says=("docs/_toctree.yml:2 doc-toc/unparsable",),
    ),
    Example(
        "a translation: placeholders, an order of its own, and README pages",
        tree={
            **_LIBRARY,
            **_PAGES,
            _TOC: "".join(f"- local: {name}\n  title: {name}\n" for name in ("index", "a", "b", "c")),
            "docs/source/ko/b.md": "# B\n",
            "docs/source/ko/in_translation.md": "# To be translated\n",
            "docs/source/ko/README.md": "# How to translate\n",
            "docs/source/ko/_toctree.yml": """\
- title: API
  sections:
  - title: Models
    sections:
    - local: in_translation  # c
      title: C
    - local: b
      title: B
    - local: in_translation  # a
      title: A
""",
        },
    ),
    Example(
        "pages that are not meant to be listed",
        tree={**_LIBRARY, "docs/_toctree.yml": "", "docs/snippets/install.md": "pip install lib\n"},
        settings={"rules": {"doc-toc": {"unlisted": ["snippets/*"]}}},
    ),
)
