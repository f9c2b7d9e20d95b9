"""Facts about inits: what they export lazily, in both halves."""

from __future__ import annotations

from typing import Any

from checks.extractor import Extractor
from checks.inits.model import Block, Imported, Init, Listing


def _extract(text: str) -> Any:
    if "_import_structure" not in text:
        return None
    from checks.inits.reader import read

    return read(text)


def _load(found: Any) -> Init:
    if found is None:
        return Init()
    problem, structured, opaque, guard, scans, others, blocks, listings, imports, consistent, orderly = found
    return Init(
        tuple(problem) if problem else None,
        structured,
        opaque,
        guard,
        scans,
        others,
        [Block._make(fields) for fields in blocks],
        [Listing._make(fields) for fields in listings],
        [Imported._make(fields) for fields in imports],
        consistent,
        orderly,
    )


INIT: Extractor[Init] = Extractor("init", _extract, _load)
