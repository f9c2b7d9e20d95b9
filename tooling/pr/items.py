"""Find the module of an item by its name."""

from __future__ import annotations

import importlib
from functools import cache
from typing import cast

from tooling.pr.model import Item


@cache
def load_item(name: str) -> Item:
    """The module of an item that is in `ITEMS`."""
    return cast(Item, importlib.import_module(f"tooling.pr.checklist.{name.replace('-', '_')}"))
