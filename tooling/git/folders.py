"""Folders of the working tree and of the journal: what is in them, where a symbolic link counts as a file."""

from __future__ import annotations

import os


def files_below(place: str) -> list[str]:
    """The files below a folder, and the symbolic links, those to folders too."""
    found = []
    for folder, folders, names in os.walk(place):
        links = [name for name in folders if os.path.islink(os.path.join(folder, name))]
        found += [os.path.join(folder, name) for name in (*names, *links)]
    return found


def files_at(root: str, path: str) -> list[str]:
    """The file at this path, or the files below it where it is a folder; a symbolic link is a file."""
    place = os.path.join(root, path)
    if not os.path.isdir(place) or os.path.islink(place):
        return [path] if os.path.lexists(place) else []
    return [os.path.relpath(below, root).replace(os.sep, "/") for below in files_below(place)]


def files_on_the_way(root: str, path: str) -> list[str]:
    """The same, and where a part of the way to this path is a file or a link, that one."""
    above = below_a_file(root, os.path.dirname(path))
    return [above] if above else files_at(root, path)


def drop_if_empty(place: str) -> None:
    """Remove a folder with the folders below it, if there is no file in any of them."""
    if os.path.isdir(place) and not os.path.islink(place) and not files_below(place):
        for folder, _, _ in os.walk(place, topdown=False):
            os.rmdir(folder)


def below_a_file(root: str, path: str) -> str:
    """The first part of this path that is there and is no real folder, or nothing."""
    parts = path.split("/")
    for depth in range(1, len(parts) + 1):
        place = os.path.join(root, *parts[:depth])
        if os.path.islink(place) or (os.path.lexists(place) and not os.path.isdir(place)):
            return "/".join(parts[:depth])
    return ""
