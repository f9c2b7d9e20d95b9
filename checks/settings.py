"""What a repository asks for: `[tool.mergeready]` in `pyproject.toml`, or `mergeready.toml`.

Unknown keys are errors with a suggestion, so that a misspelt setting never goes unnoticed.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple

from checks import profiles
from checks.errors import CheckError
from checks.extractor import Extractor
from checks.facts.toml import load_toml
from checks.profiles import Profile
from checks.rules import RULES
from checks.shape import known, place, typed

if TYPE_CHECKING:
    from checks.store import Store

BASELINE = ".mergeready-baseline.json"


class Settings(NamedTuple):
    """Everything that decides a verdict besides the files.

    `select` and `skip` name rules; `select` empty means all. `exclude` are globs of paths in which nothing is
    reported. `minimum` is the least number of subjects a rule must see. `options` are the rules' own tables.
    `source` is the file that the settings come from, empty where there is none.
    """

    profile: Profile
    select: tuple[str, ...] = ()
    skip: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    baseline: str = BASELINE
    minimum: Mapping[str, int] = {}
    options: Mapping[str, Mapping[str, Any]] = {}
    source: str = ""

    def digest(self) -> str:
        """A hash of all of it."""
        return hashlib.sha1(json.dumps(self, sort_keys=True).encode(), usedforsecurity=False).hexdigest()

    def option(self, rule: str, key: str, default: Any) -> Any:
        """A rule's own setting, or its default."""
        return self.options.get(rule, {}).get(key, default)


def read_settings(store: Store) -> Settings:
    """The settings of a tree; CheckError that names file, key and the nearest right key."""
    for path, extractor in (("mergeready.toml", WHOLE), ("pyproject.toml", TABLE)):
        found = store.facts(extractor, path)
        if "error" in found:
            raise CheckError(f"{path} is not valid TOML: {found['error']}")
        if found.get("table") is not None:
            return parse(found["table"], store.paths, store.text, source=path)
    return parse({}, store.paths, store.text, source="")


def parse(table: Mapping[str, Any], paths: tuple[str, ...], text: Callable[[str], str], *, source: str) -> Settings:
    """Settings from a `[tool.mergeready]` table, its profile detected where the table names none."""
    typed(table, {}, source, place(source))
    known(table, ("profile", *_SHAPES), source, place(source))
    for key, shape in _SHAPES.items():
        if key in table:
            typed(table[key], shape, source, place(source, key))
    for key in ("select", "skip", "minimum", "rules"):
        known(table.get(key, ()), RULE_NAMES, source, place(source, key))
    return Settings(
        profile=_profile(table, paths, text, source),
        select=tuple(table.get("select", ())),
        skip=tuple(table.get("skip", ())),
        exclude=tuple(table.get("exclude", ())),
        baseline=_baseline(table.get("baseline", BASELINE), source),
        minimum=table.get("minimum", {}),
        options={name: _options(name, own, source) for name, own in table.get("rules", {}).items()},
        source=source,
    )


RULE_NAMES = tuple(name.replace("_", "-") for name in RULES)
_SHAPES: Mapping[str, object] = {
    "packages": {"": ""},
    "layout": {},
    "select": ("",),
    "skip": ("",),
    "exclude": ("",),
    "baseline": "",
    "minimum": {"": 0},
    "rules": {},
    # Read by `mergeready pr`, and judged there.
    "pr": {},
}


def _profile(table: Mapping[str, Any], paths: tuple[str, ...], text: Callable[[str], str], source: str) -> Profile:
    packages = table.get("packages") or profiles.find_packages(paths)
    if "profile" in table:
        known([table["profile"]], profiles.LAYOUTS, source, place(source, "profile"))
        profile = profiles.build(table["profile"], packages)
    else:
        profile = profiles.recognise(packages, text)
    layout = table.get("layout", {})
    shapes = {key: value for key, value in profile._asdict().items() if key not in ("name", "packages")}
    known(layout, shapes, source, place(source, "layout"))
    for key, value in layout.items():
        typed(value, ("",) if shapes[key] == () else shapes[key], source, place(source, "layout", key))
    changed: dict[str, Any] = {key: tuple(own) if isinstance(own, list) else own for key, own in layout.items()}
    return profile._replace(**changed)


def _options(name: str, table: Any, source: str) -> Mapping[str, Any]:
    typed(table, {}, source, place(source, "rules", name))
    defaults: Mapping[str, object] = import_module(f"checks.rules.{name.replace('-', '_')}").OPTIONS
    known(table, defaults, source, place(source, "rules", name))
    for key, value in table.items():
        typed(value, defaults[key], source, place(source, "rules", name, key))
    return dict(table)


def _baseline(path: str, source: str) -> str:
    """The path, refused where the settings of a checkout could have a file outside of it written."""
    if {"", ".", "..", ".git"} & {*path.lower().replace("\\", "/").split("/")} or ":" in path:
        where = place(source, "baseline")
        raise CheckError(f"{source}: {where} must be a path inside of the checkout, not {path!r}")
    return path


def _whole(text: str) -> dict[str, Any]:
    found = _load(text)
    return found if "error" in found or not text else {"table": found}


def _table(text: str) -> dict[str, Any]:
    found = _load(text)
    tool = found.get("tool")
    if "error" in found or not isinstance(tool, dict) or "mergeready" not in tool:
        return {"error": found["error"]} if "error" in found else {}
    return {"table": tool["mergeready"]}


def _load(text: str) -> dict[str, Any]:
    try:
        whole = load_toml(text)
    except ValueError as error:
        return {"error": str(error)}
    # Dates and times become strings here: facts are what JSON can hold.
    return dict(json.loads(json.dumps(whole, default=str)))


WHOLE: Extractor[dict[str, Any]] = Extractor("settings-whole", _whole, dict)
TABLE: Extractor[dict[str, Any]] = Extractor("settings-table", _table, dict)
