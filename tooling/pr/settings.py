"""What a repository asks of its pull requests: `[tool.mergeready.pr]`, and where its sources are."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from checks import profiles
from checks.errors import CheckError
from checks.profiles import Profile
from checks.shape import known, place, typed
from tooling.pr.checklist import ITEMS
from tooling.pr.items import load_item


class Settings(NamedTuple):
    """Everything that a repository decides of its checklist.

    `skip` names items that are left out. `severity` maps an item or a code to `fail` or `warn`, which then replaces
    its own. `options` are the items' own tables. `profile` says how the library is laid out.
    """

    profile: Profile
    skip: tuple[str, ...] = ()
    severity: Mapping[str, str] = {}
    options: Mapping[str, Mapping[str, Any]] = {}

    def option(self, item: str, key: str) -> Any:
        """An item's own setting, or its default."""
        own = self.options.get(item, {})
        return own[key] if key in own else load_item(item).OPTIONS[key]


def read_settings(read: Callable[[str], str | None], paths: Callable[[], Iterable[str]]) -> Settings:
    """The settings in the files that `read` gives by path; CheckError that names file, key and the nearest right key.

    `paths` lists all files; it is asked only where the layout is not stated.
    """
    for path in ("mergeready.toml", "pyproject.toml"):
        text = read(path)
        table = _table(text, path) if text else None
        if table is not None:
            return parse_settings(table, paths, lambda name: read(name) or "", source=path)
    return parse_settings({}, paths, lambda name: read(name) or "", source="")


def parse_settings(
    table: Mapping[str, Any], paths: Callable[[], Iterable[str]], text: Callable[[str], str], *, source: str
) -> Settings:
    """Settings from a `[tool.mergeready]` table."""
    own = table.get("pr", {})
    if not table:
        return Settings(profiles.recognise(profiles.find_packages(tuple(paths())), text))
    profile = _checked(table, paths, text, source)
    known(own, (*_SHAPES, *ITEMS), source, place(source, "pr"))
    for key, shape in _SHAPES.items():
        if key in own:
            typed(own[key], shape, source, place(source, "pr", key))
    known(own.get("skip", ()), ITEMS, source, place(source, "pr", "skip"))
    severity = own.get("severity", {})
    if severity:  # to know all codes takes importing all items
        known(severity, (*ITEMS, *codes()), source, place(source, "pr", "severity"))
    known(severity.values(), ("fail", "warn"), source, place(source, "pr", "severity"))
    options = dict(_options(own, source))
    return Settings(profile, tuple(own.get("skip", ())), severity, options)


def _checked(
    table: Mapping[str, Any], paths: Callable[[], Iterable[str]], text: Callable[[str], str], source: str
) -> Profile:
    """The layout that a table states, once all of the table has its shape."""
    from checks import settings

    listed = () if table.get("packages") else tuple(paths())
    return settings.parse(table, listed, text, source=source).profile


def codes() -> dict[str, str]:
    """Every code that an item can give, with what it means."""
    return {f"{name}/{what}": text for name in ITEMS for what, text in load_item(name).CODES.items()}


_SHAPES: Mapping[str, object] = {"skip": ("",), "severity": {"": ""}}


def _options(own: Mapping[str, Any], source: str) -> Iterator[tuple[str, Mapping[str, Any]]]:
    for name in own.keys() - _SHAPES.keys():
        where = place(source, "pr", name)
        typed(own[name], {}, source, where)
        defaults = load_item(name).OPTIONS
        known(own[name], defaults, source, where)
        for key, value in own[name].items():
            typed(value, ("",) if defaults[key] == () else defaults[key], source, f"{where}.{key}")
        yield name, own[name]


def _table(text: str, path: str) -> Mapping[str, Any] | None:
    """The table of ours in a file; None where a `pyproject.toml` has none."""
    if path == "pyproject.toml" and "mergeready" not in text:
        return None
    import tomllib

    try:
        whole = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError, ValueError) as error:
        raise CheckError(f"{path} is not valid TOML: {error}") from error
    if path == "mergeready.toml":
        return whole
    tool = whole.get("tool", {})
    found = tool.get("mergeready") if isinstance(tool, dict) else None
    return found if isinstance(found, dict) else None
