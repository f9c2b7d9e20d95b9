"""Where a command looks: the options that say so, the checkout they mean, and the cache that belongs to it."""

from __future__ import annotations

import argparse
import os
from contextlib import ExitStack
from importlib import import_module
from typing import TYPE_CHECKING, NamedTuple

from checks import git
from checks.errors import CheckError
from checks.tree import FolderTree, Listing, WorkTree

if TYPE_CHECKING:
    from checks.cache import Cache


class Checkout(NamedTuple):
    """A folder to look at; `cache_path` is None where nothing is to be kept, `repository` where there is none."""

    root: str
    repository: git.Repository | None
    cache_path: str | None
    jobs: int
    listing: Listing | None = None

    def tree(self) -> WorkTree | FolderTree:
        """The files as they were when the checkout was opened."""
        return WorkTree(self.root, self.listing) if self.repository else FolderTree(self.root)

    def close(self) -> None:
        """End what was started and is not needed."""
        if self.listing is not None:
            self.listing.close()

    def cache(self) -> Cache:
        """The cache of this checkout, shared by all its worktrees."""
        from checks.cache import Cache
        from checks.engine import code_stamp

        return Cache(self.cache_path, code_stamp())


def add_options(parser: argparse.ArgumentParser) -> None:
    """The options that say where to look."""
    where = parser.add_argument_group("where to look")
    where.add_argument("--root", metavar="DIR", default=".", help="a folder of the checkout (default: this one)")
    where.add_argument("--no-git", action="store_true", help="look at every file below --root; it is in no repository")
    where.add_argument("--no-cache", action="store_true", help="neither read nor write the cache")
    where.add_argument("--jobs", metavar="N", type=_positive, default=0, help="processes to use (default: every core)")


def open_checkout(options: argparse.Namespace) -> Checkout:
    """The checkout that the options mean; CheckError where there is none."""
    jobs = options.jobs or _cores()
    try:
        start = os.path.abspath(options.root)
    except OSError as error:
        raise CheckError("the folder we are in is gone", environment=True) from error
    if options.no_git:
        if not os.path.isdir(start):
            raise CheckError(f"{start} is not a folder")
        return Checkout(start, None, None, jobs)
    with ExitStack() as started:
        looking = git.start_looking(start)
        started.callback(looking.close)
        listing = Listing(start)
        started.callback(listing.close)
        # Every command runs rules next; importing what that takes is half of a warm run, and as long as git needs.
        import_module("checks.run")
        repository = git.find_repository(start, looking)
        started.pop_all()
    path = None if options.no_cache else os.path.join(repository.common_dir, "mergeready", "checks.sqlite3")
    return Checkout(repository.root, repository, path, jobs, listing)


def _cores() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _positive(text: str) -> int:
    number = int(text) if text.isdecimal() else 0
    if number < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number from 1 up")
    return number
