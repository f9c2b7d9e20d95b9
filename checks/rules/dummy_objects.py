"""Every name that needs a backend has a stand-in for when that is missing, and no stand-in has outlived its name.

The main init of a model library exports, for each optional backend, either the real objects or dummies from
`utils/dummy_…_objects.py` which say what has to be installed. Those files are generated, and go stale when the init
changes: then a missing backend shows as an `ImportError` that explains nothing, or a name that was removed long ago is
still there for those who have installed less.

A stand-in is a class, a function or a constant as the real object is one: the name is followed to its definition, so
that `VAE` stays a class. How stand-ins are written, headers included, is taken from the repository: as most of its own
are. They stand in the order of the init. Which file belongs to a block is read from the block's `except`, or follows
the `dummies` pattern of the profile.

The fix adds, rewrites, moves and removes single stand-ins, and writes a file anew where it is missing or is no Python.
Whole files that nothing falls back to are reported and left for you to delete.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fnmatch import fnmatchcase

from checks.facts.dummies import DUMMIES, Dummies
from checks.facts.inits import INIT
from checks.index import Index
from checks.inits.folders import Folders, inits_of
from checks.inits.origins import Origins
from checks.inits.standin_file import StandInFile
from checks.inits.standins import glob_of, plan, style_of
from checks.model import Example, Finding, Findings

CODES: Mapping[str, str] = {
    "missing": "An exported name has no stand-in.",
    "extra": "A stand-in stands twice, or in the file of another backend.",
    "orphan": "A stand-in, or a whole file of them, is for nothing that the init exports.",
    "wrong-kind": "A stand-in is a class, a function or a constant where the real object is another.",
    "stale": "A stand-in is written differently from the others of its kind, or asks for other backends.",
    "order": "The stand-ins do not stand in the order of the init.",
    "unparsable": "A file of stand-ins is not Python source.",
}
FIXABLE: tuple[str, ...] = ("missing", "extra", "orphan", "wrong-kind", "stale", "order", "unparsable")
OPTIONS: Mapping[str, object] = {}


def check(index: Index) -> Findings:
    """Compare the dummy files with what the main init exports under optional backends."""
    profile = index.settings.profile
    glob = glob_of(profile)
    likely = index.files(glob.rpartition("*")[2])
    present = {path: index.facts(DUMMIES, path) for path in likely if fnmatchcase(path, glob)}
    main = f"{profile.library}/__init__.py".lstrip("/")
    folders = Folders(index)
    files = plan(main, index.facts(INIT, main), profile, folders, Origins(index, folders))
    style = style_of(present.values())
    homes = {name: path for path, file in files.items() for name in file.names}
    for path, file in files.items():
        yield from StandInFile(index, main, path, file, style).judge(present.get(path), homes)
    yield from _orphans(index, folders, {path: file for path, file in present.items() if path not in files})
    needed = {(path, name) for path, file in files.items() for name in file.names}
    return len(needed | {(path, dummy.name) for path, file in present.items() for dummy in file.objects})


def _orphans(index: Index, folders: Folders, files: Mapping[str, Dummies]) -> Iterator[Finding]:
    """Files that no init falls back to; an init below the main one may have dummies of its own."""
    inits = inits_of(index) if files else ()
    used = {
        f"{folders.base(path, module)}.py"
        for path in inits
        for block in index.facts(INIT, path).blocks
        for module in block.fallback
    }
    for path, file in files.items():
        if path not in used:
            message = f"no init falls back to this file of {len(file.objects)} dummies"
            yield Finding(path, 1, "dummy-objects/orphan", message, "its name matches, and nothing imports it")


_INIT = """\
_import_structure = {{}}

try:
    if not is_torch_available():
        raise OptionalDependencyNotAvailable()
except OptionalDependencyNotAvailable:
    from .utils import dummy_pt_objects
else:
    _import_structure["models"] = {names}

if TYPE_CHECKING:
    try:
        if not is_torch_available():
            raise OptionalDependencyNotAvailable()
    except OptionalDependencyNotAvailable:
        from .utils.dummy_pt_objects import *
    else:
        from .models import {imports}
"""
_HEADER = "# Made by `make fix-copies`.\nfrom ..utils import DummyObject, requires_backends\n"
_MODELS = "class Bert: ...\n\n\nclass VAE: ...\n\n\nSIZES = [1, 2]\n\n\ndef load(): ...\n"


def _class(name: str, backend: str = "torch") -> str:
    return (
        f'\n\nclass {name}(metaclass=DummyObject):\n    _backends = ["{backend}"]\n\n'
        f'    def __init__(self, *args, **kwargs):\n        requires_backends(self, ["{backend}"])\n'
    )


def _tree(names: str, dummies: str, **more: str) -> Mapping[str, str]:
    listed = "[" + ", ".join(f'"{name}"' for name in names.split(", ")) + "]"
    return {
        "lib/__init__.py": _INIT.format(names=listed, imports=names),
        "lib/models.py": _MODELS,
        "lib/utils/dummy_pt_objects.py": _HEADER + dummies,
        **{f"lib/utils/dummy_{name}_objects.py": _HEADER + text for name, text in more.items()},
    }


_LOAD = '\n\ndef load(*args, **kwargs):\n    requires_backends(load, ["torch"])\n'
_SIZES = "\n\nSIZES = None\n"

EXAMPLES: tuple[Example, ...] = (
    Example(
        "a class in capitals, a constant and a function, each with a dummy of its kind",
        tree=_tree("SIZES, VAE, load", _SIZES + _class("VAE") + _LOAD),
    ),
    Example(
        "exports without dummies",
        tree=_tree("SIZES, Bert, VAE, load", _class("Bert")),
        says=(
            "lib/__init__.py:18 dummy-objects/missing",
            "lib/__init__.py:18 dummy-objects/missing",
            "lib/__init__.py:18 dummy-objects/missing",
        ),
        mended={
            "lib/utils/dummy_pt_objects.py": _HEADER + _SIZES + _class("Bert") + _class("VAE") + _LOAD,
        },
    ),
    Example(
        "a dummy that outlived its class, and a whole file that did",
        tree=_tree("VAE", _class("Bert") + _class("VAE"), flax=_class("FlaxBert", "flax")),
        says=(
            "lib/utils/dummy_flax_objects.py:1 dummy-objects/orphan",
            "lib/utils/dummy_pt_objects.py:5 dummy-objects/orphan",
        ),
        mended={"lib/utils/dummy_pt_objects.py": _HEADER + _class("VAE")},
    ),
    Example(
        "a dummy that stands twice",
        tree=_tree("Bert", _class("Bert") + _class("Bert")),
        says=("lib/utils/dummy_pt_objects.py:12 dummy-objects/extra",),
        mended={"lib/utils/dummy_pt_objects.py": _HEADER + _class("Bert")},
    ),
    Example(
        "a constant in place of a class",
        tree=_tree("Bert, VAE", _class("Bert") + "\n\nVAE = None\n"),
        says=("lib/utils/dummy_pt_objects.py:12 dummy-objects/wrong-kind",),
        mended={"lib/utils/dummy_pt_objects.py": _HEADER + _class("Bert") + _class("VAE")},
    ),
    Example(
        "a dummy that asks for another backend",
        tree=_tree("Bert, VAE", _class("Bert") + _class("VAE", "tf")),
        says=("lib/utils/dummy_pt_objects.py:12 dummy-objects/stale",),
        mended={"lib/utils/dummy_pt_objects.py": _HEADER + _class("Bert") + _class("VAE")},
    ),
    Example(
        "dummies in another order than the exports",
        tree=_tree("Bert, VAE", _class("VAE") + _class("Bert")),
        says=("lib/utils/dummy_pt_objects.py:12 dummy-objects/order",),
        mended={"lib/utils/dummy_pt_objects.py": _HEADER + _class("Bert") + _class("VAE")},
    ),
    Example(
        "a generator that took a comment for a part of the name",
        tree=_tree("Bert, VAE", _class("Bert") + _class("VAE,  # noqa")),
        says=("lib/utils/dummy_pt_objects.py:12 dummy-objects/unparsable",),
        mended={"lib/utils/dummy_pt_objects.py": _HEADER + _class("Bert") + _class("VAE")},
    ),
)
