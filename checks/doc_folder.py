"""The folder of a documentation: its pages, and what is asked of the table of contents in it."""

from __future__ import annotations

import re
from collections.abc import Iterable
from posixpath import dirname
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from checks.index import Index

SUFFIXES = (".md", ".mdx")


def pages_beside(index: Index, table: str, tables: Iterable[str]) -> dict[str, str]:
    """The path of each page in the folder of a table, by its name: the path from there without its suffix.

    A folder below with a table of its own keeps its pages to itself.
    """
    folder = dirname(table)
    apart = tuple(f"{dirname(other)}/" for other in tables if dirname(other) != folder)
    inner = tuple(prefix for prefix in apart if prefix.startswith(f"{folder}/" if folder else ""))
    start = len(folder) + 1 if folder else 0
    files = (page for page in index.files(*SUFFIXES, under=folder) if not page.startswith(inner))
    return {page[start:].rpartition(".")[0]: page for page in files}


def must_list_all(index: Index, table: str) -> bool:
    """Whether the builder of the documentation stops at a page that the table does not list."""
    config = index.text(f"{dirname(table)}/_config.py".lstrip("/"))
    return not re.search(r"^disable_toc_check\s*=\s*True\b", config, re.MULTILINE)


def is_translation(index: Index, table: str) -> bool:
    """Whether a table stands in a language's folder beside the English one."""
    languages, _, language = dirname(table).rpartition("/")
    return language != "en" and index.exists(f"{languages}/en/{table.rpartition('/')[2]}")
