"""What the text of an init alone tells: whether its halves agree, whether a key is set twice, whether it is sorted."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from checks.inits.model import Block, Imported, Listing
from checks.inits.order import rank

_ATOM = re.compile(r"(is|not) ([^,()]+)")


def agree(blocks: Sequence[Block], listings: Sequence[Listing], imports: Sequence[Imported]) -> bool:
    """Whether both halves export the same names once each, from the same modules under the same conditions."""
    keys = [block.key for block in blocks]
    lazy = {(one.module, keys[one.block], name) for one in listings for name in one.names}
    typing = {(one.module, keys[one.block], name) for one in imports for name in one.names if not one.originals}
    names = [name for one in listings for name in one.names] + [name for one in imports for name in one.names]
    return lazy == typing and len(names) == 2 * len(set(names))


def runs(listings: Sequence[Listing]) -> list[list[Listing]]:
    """The listings that stand in one dict, or follow each other as statements."""
    found: dict[int, list[Listing]] = {}
    for listing in listings:
        found.setdefault(listing.run, []).append(listing)
    return list(found.values())


def key_order(run: Sequence[Listing]) -> list[int]:
    """The order in which the keys of a run belong, by position."""
    return sorted(range(len(run)), key=lambda position: run[position].module)


def name_order(names: Sequence[str]) -> list[int]:
    """The order in which names belong, by position."""
    return sorted(range(len(names)), key=lambda position: rank(names[position]))


def is_sorted(listings: Sequence[Listing]) -> bool:
    """Whether all names and all keys stand in order."""
    orders = [name_order(listing.names) for listing in listings] + [key_order(run) for run in runs(listings)]
    return all(order == list(range(len(order))) for order in orders)


def overwritten(blocks: Sequence[Block], listings: Sequence[Listing]) -> Iterator[tuple[Listing, list[str]]]:
    """Listings that replace an earlier one of the same key, with the names that are lost by it."""
    earlier: dict[str, list[Listing]] = {}
    for listing in listings:
        known = earlier.setdefault(listing.module, [])
        if known and listing.how != "add" and not listing.opaque:
            both = [other for other in known if not _exclusive(blocks, listing, other)]
            lost = [name for other in both for name in other.names if name not in listing.names]
            if lost:
                yield listing, lost
        known.append(listing)


def _exclusive(blocks: Sequence[Block], one: Listing, other: Listing) -> bool:
    """Whether two blocks never both run, as far as single backends tell."""
    facts = [set(_ATOM.findall(blocks[listing.block].key)) for listing in (one, other)]
    return any((("not" if word == "is" else "is"), atom) in facts[1] for word, atom in facts[0])
