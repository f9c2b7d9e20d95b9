"""Tables of contents are in order and list every page of the documentation, each one that exists, once.

`_toctree.yml` lists the pages of the folder that it stands in: `local` is the path of a page without its suffix,
`title` what the reader sees, `sections` the entries below. The tool that builds the documentation stops at a page that
is listed and missing, and at one that is there and not listed; this rule says so before.

- Pages are `.md` and `.mdx` files. A `README` needs no entry, nor does a page that matches one of the globs in
  `unlisted` (relative to the table), nor any where `_config.py` beside the table sets `disable_toc_check`.
- `placeholders` are pages that may be listed any number of times, for what is still to be translated.
- The sections named by `layout.tocs_sorted` are sorted by title, without regard to case; entries whose titles are in
  `first` come before the others. Translations, tables with an `en` folder beside their own, keep an order of their own.
- A page may be listed in two different sections where `layout.tocs_repeat` says so.

The fix moves the lines of an entry together with the comments above them; quotes and blank lines stay as they are. An
entry that repeats another one to the letter is dropped. Tables with anchors and entries that share a line are left
alone.
"""

from __future__ import annotations

from collections.abc import Iterator
from fnmatch import fnmatchcase
from itertools import pairwise
from posixpath import dirname, join, normpath
from typing import TYPE_CHECKING, NamedTuple

from checks.doc_folder import SUFFIXES, is_translation, must_list_all, pages_beside
from checks.facts.contents import Entry
from checks.facts.toc import TOC
from checks.model import Edit, Example, Finding
from checks.reorder import reorder

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
    "unparsable": "The table is not YAML, or too long to be read.",
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


class Table(NamedTuple):
    """One table of contents with what its checks need to know. `lines` are those of its file."""

    tree: Index
    path: str
    lines: list[str]
    sections: tuple[Section, ...]
    translated: bool

    def option(self, key: str) -> tuple[str, ...]:
        """A setting of this rule."""
        return tuple(self.tree.settings.option("doc-toc", key, OPTIONS[key]))


def check(index: Index) -> Findings:
    """Report what is wrong with each table of contents; subjects are the tables and their entries."""
    profile = index.settings.profile
    tables = index.matching(*(profile.pattern(template) for template in profile.tocs))
    index.prefetch(tables, TOC)
    entries = 0
    for path in tables:
        toc = index.facts(TOC, path)
        if toc.problem:
            yield Finding(
                path, toc.problem.line, "doc-toc/unparsable", "this is no table of contents", toc.problem.what
            )
            continue
        yield from (Finding(path, line, "doc-toc/entry", what) for line, what in toc.oddities)
        sections = tuple(_sections(Section((), toc.entries)))
        entries += sum(len(section.entries) for section in sections)
        table = Table(index, path, index.text(path).split("\n"), sections, is_translation(index, path))
        for section in sections:
            yield from _untitled(path, section)
            yield from _twice(table, section)
            yield from _unordered(table, section)
        if not profile.tocs_repeat and not table.translated:
            yield from _repeated(table)
        pages = pages_beside(index, path, tables)
        yield from _missing(table, pages)
        if must_list_all(index, path):
            yield from _unlisted(table, pages)
    return len(tables) + entries


def _sections(section: Section) -> Iterator[Section]:
    yield section
    for entry in section.entries:
        yield from _sections(Section((*section.names, entry.title), entry.entries))


def _untitled(path: str, section: Section) -> Iterator[Finding]:
    for entry in section.entries:
        if not entry.title:
            named = repr(entry.pages[0]) if entry.pages else "a section"
            yield Finding(path, entry.line, "doc-toc/title", f"{named} has no title")


def _twice(table: Table, section: Section) -> Iterator[Finding]:
    seen: dict[str, Entry] = {}
    for entry in section.entries:
        for page in entry.pages:
            earlier = seen.setdefault(page, entry)
            if earlier is entry or page in table.option("placeholders"):
                continue
            same = (
                entry.block.last > 0
                and not entry.entries
                and _source(earlier, table.lines) == _source(entry, table.lines)
            )
            yield Finding(
                table.path,
                entry.line,
                "doc-toc/duplicate",
                f"{page!r} is listed twice in one section",
                "both entries are the same" if same else "the entries differ: one of them has to go by hand",
                edits=(Edit(table.path, *entry.block, ""),) if same else (),
                source=(table.path, earlier.line),
            )


def _source(entry: Entry, lines: list[str]) -> list[str]:
    """The lines of an entry, in any order of its keys; blank lines do not count, comments do."""
    first, last = entry.block
    return sorted(line.strip().removeprefix("- ") for line in lines[first - 1 : last] if line.strip())


def _repeated(table: Table) -> Iterator[Finding]:
    seen: dict[str, tuple[Section, Entry]] = {}
    for section in table.sections:
        for entry in section.entries:
            for page in entry.pages:
                earlier, first = seen.setdefault(page, (section, entry))
                if earlier is not section and page not in table.option("placeholders"):
                    yield Finding(
                        table.path,
                        entry.line,
                        "doc-toc/repeated",
                        f"{page!r} is listed in two sections",
                        f"it stands in section {' > '.join(earlier.names)!r} too",
                        source=(table.path, first.line),
                    )


def _unordered(table: Table, section: Section) -> Iterator[Finding]:
    patterns = () if table.translated else table.tree.settings.profile.tocs_sorted
    entries = section.entries
    if not any(_covers(pattern, section.names) for pattern in patterns) or not all(entry.title for entry in entries):
        return
    first = table.option("first")
    ranks = [_rank(entry, first) for entry in entries]
    for place, (earlier, rank) in enumerate(pairwise(ranks), 1):
        if rank < earlier:
            order = sorted(range(len(ranks)), key=lambda place: ranks[place])
            yield Finding(
                table.path,
                entries[place].line,
                "doc-toc/order",
                f"{entries[place].title!r} stands after {entries[place - 1].title!r}",
                f"section {' > '.join(section.names)!r} is sorted by title",
                edits=reorder(table.path, [entry.block for entry in entries], order, table.lines),
            )
            return


def _covers(pattern: str, names: tuple[str, ...]) -> bool:
    parts = pattern.split("/")
    return len(parts) == len(names) and all(map(fnmatchcase, names, parts))


def _rank(entry: Entry, first: tuple[str, ...]) -> tuple[bool, str]:
    title = entry.title.lower()
    return (False, "") if title in first else (True, title)


def _missing(table: Table, pages: dict[str, str]) -> Iterator[Finding]:
    folder = dirname(table.path)
    for page, entry in _listed(table).items():
        names = [join(folder, normpath(page) + suffix) for suffix in SUFFIXES]
        if page not in pages and not any(map(table.tree.exists, names)):
            yield Finding(
                table.path,
                entry.line,
                "doc-toc/missing",
                f"{page!r} is listed and does not exist",
                f"there is neither {' nor '.join(names)}",
            )


def _unlisted(table: Table, pages: dict[str, str]) -> Iterator[Finding]:
    exempt = ("*README", *table.option("unlisted"))
    for page in pages.keys() - {normpath(page) for page in _listed(table)}:
        if not any(fnmatchcase(page, pattern) for pattern in exempt):
            yield Finding(
                pages[page],
                1,
                "doc-toc/unlisted",
                f"{page!r} is not in the table of contents",
                f"{table.path} lists each page of its folder",
                source=(table.path, 1),
            )


def _listed(table: Table) -> dict[str, Entry]:
    return {page: entry for section in table.sections for entry in section.entries for page in entry.pages}


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
        mended={_TOC: """\
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
"""},
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
        mended={_TOC: """\
- title: Guides
  sections:
  - local: a
    title: A
  - local: a
    title: Also A
"""},
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
