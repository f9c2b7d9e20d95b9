"""An init that imports on first use says the same to Python and to type checkers, and only what is true.

Such an init has two halves: `_import_structure`, which maps modules to the names that are imported from them when
somebody asks, and the imports under `if TYPE_CHECKING`, which only type checkers and editors read. Nothing at run time
compares them, so a name that is forgotten in one half, stands under another backend there, or no longer exists in its
module goes unnoticed until a user meets it.

Inits are read by their syntax tree: quotes, comments, one-liners, `append`, `extend`, `+=` and every way to ask for
backends are all the same. Names are followed to the modules that define them; nothing is imported.

In inits that call `define_import_structure`, the modules beside them say in `__all__` what they export. There the
rule compares each `__all__` with its module, and the star imports under TYPE_CHECKING with the modules that have one.

The fix puts a missing name into the other half: in the block of the same backends, in order, in the style of the file.
It adds nothing that no module defines, and takes out only what stands twice.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from checks.facts.inits import INIT
from checks.index import Index
from checks.inits.folders import Folders, inits_of
from checks.inits.origins import Origins
from checks.inits.scanned import judge_clashes, judge_exports, judge_stars
from checks.inits.structured import Structure
from checks.model import Example, Finding, Findings

CODES: Mapping[str, str] = {
    "missing-type-checking": "A name is exported on first use, but is not imported under TYPE_CHECKING.",
    "missing-lazy": "A name is imported under TYPE_CHECKING, but is not exported at run time.",
    "backend-mismatch": "The two halves ask for different backends for the same name.",
    "duplicate": "A name is exported twice.",
    "overwritten": "A key of `_import_structure` is set again, which loses the names it had.",
    "other-module": "The two halves take the same name from modules that define different things by it.",
    "unknown-name": "An exported name is not defined in the module it is said to come from.",
    "unknown-module": "A module that names are exported from does not exist.",
    "unreadable-exports": "An `__all__` is written in a way that `define_import_structure` misreads.",
    "unparsable": "An init is not Python source.",
}
FIXABLE: tuple[str, ...] = ("missing-type-checking", "missing-lazy", "duplicate")
OPTIONS: Mapping[str, object] = {}


def check(index: Index) -> Findings:
    """Report each exported name that the halves, the modules and the backends do not agree on."""
    folders = Folders(index)
    origins = Origins(index, folders)
    subjects = 0
    inits = inits_of(index)
    index.prefetch(inits, INIT)
    for path in inits:
        init = index.facts(INIT, path)
        subjects += sum(len(listing.names) for listing in init.listings)
        if init.problem is not None:
            subjects += 1
            line, why = init.problem
            yield Finding(path, line, "lazy-inits/unparsable", "this init does not parse, so it was not checked", why)
        if init.structured:
            yield from Structure(index, path, folders, origins).judge()
        if "" in init.scans:
            folder = path.rpartition("/")[0]
            yield from judge_stars(path, init, partial(index.text, path), folders)
            for module in folders.inside(folder).modules:
                surface = folders.surface(module)
                subjects += len(surface.exports or ())
                if not surface.sound:
                    yield from judge_exports(module, surface, index.text(module), origins)
            yield from judge_clashes(folder, folders.scanned(folder), index.text, origins)
    return subjects


_BERT = "class BertConfig: ...\n\n\nclass BertModel: ...\n\n\ndef load_bert(): ...\n"
_TWO_BACKENDS = """\
_import_structure = {{"bert": ["BertConfig"]}}

try:
    if not (is_torch_available() and is_vision_available()):
        raise OptionalDependencyNotAvailable()
except OptionalDependencyNotAvailable:
    pass
else:
    _import_structure["bert"].extend(['BertModel', "load_bert"])

if TYPE_CHECKING:
    from .bert import BertConfig

    try:
        if not ({condition}):
            raise OptionalDependencyNotAvailable()
    except OptionalDependencyNotAvailable:
        pass
    else:
        from .bert import {names}
"""
_BOTH_MODELS = "if TYPE_CHECKING:\n    from .albert import AlbertModel\n    from .bert import BertModel\n"
_SCANNING = """\
if TYPE_CHECKING:
    from .configuration_bert import *
    from .modeling_bert import *
else:
    import sys

    _file = globals()["__file__"]
    sys.modules[__name__] = _LazyModule(__name__, _file, define_import_structure(_file), module_spec=__spec__)
"""
_CONFIGURATION = '__all__ = ["BertConfig"]\n\n\nclass BertConfig: ...\n'

EXAMPLES: tuple[Example, ...] = (
    Example(
        "a name of two backends that type checkers do not see",
        tree={
            "lib/bert.py": _BERT,
            "lib/__init__.py": _TWO_BACKENDS.format(
                condition="is_torch_available() and is_vision_available()", names="load_bert"
            ),
        },
        says=("lib/__init__.py:9 lazy-inits/missing-type-checking",),
        mended={
            "lib/__init__.py": _TWO_BACKENDS.format(
                condition="is_torch_available() and is_vision_available()", names="BertModel, load_bert"
            )
        },
    ),
    Example(
        "the same backends, asked for in another order",
        tree={
            "lib/bert.py": _BERT,
            "lib/__init__.py": _TWO_BACKENDS.format(
                condition="is_vision_available() and is_torch_available()", names="BertModel, load_bert"
            ),
        },
    ),
    Example(
        "one backend in one half, two in the other",
        tree={
            "lib/bert.py": _BERT,
            "lib/__init__.py": _TWO_BACKENDS.format(condition="is_torch_available()", names="BertModel, load_bert"),
        },
        says=("lib/__init__.py:9 lazy-inits/backend-mismatch",),
    ),
    Example(
        "a module that only type checkers see",
        tree={
            "lib/albert.py": "class AlbertModel: ...\n",
            "lib/bert.py": _BERT,
            "lib/__init__.py": '_import_structure = {\n    "bert": ["BertModel"],\n}\n' + _BOTH_MODELS,
        },
        says=("lib/__init__.py:5 lazy-inits/missing-lazy",),
        mended={
            "lib/__init__.py": (
                '_import_structure = {\n    "albert": ["AlbertModel"],\n    "bert": ["BertModel"],\n}\n' + _BOTH_MODELS
            ),
        },
    ),
    Example(
        "everything on one line",
        tree={
            "lib/bert.py": _BERT,
            "lib/__init__.py": '_import_structure = {"bert": ["BertConfig", "BertModel"]}\n'
            "if TYPE_CHECKING:\n    from .bert import BertConfig, BertModel\n",
        },
    ),
    Example(
        "a name that stands twice in both halves",
        tree={
            "lib/bert.py": _BERT,
            "lib/__init__.py": '_import_structure = {"bert": ["BertModel", "BertModel"]}\n'
            "if TYPE_CHECKING:\n    from .bert import (\n        BertModel,\n        BertModel,\n    )\n",
        },
        says=("lib/__init__.py:1 lazy-inits/duplicate", "lib/__init__.py:5 lazy-inits/duplicate"),
        mended={
            "lib/__init__.py": '_import_structure = {"bert": ["BertModel"]}\n'
            "if TYPE_CHECKING:\n    from .bert import (\n        BertModel,\n    )\n"
        },
    ),
    Example(
        "a key that is set where it should be added to",
        tree={
            "lib/bert.py": _BERT,
            "lib/__init__.py": '_import_structure = {"bert": ["BertConfig"]}\n'
            'if is_torch_available():\n    _import_structure["bert"] = ["BertModel"]\n\n'
            "if TYPE_CHECKING:\n    from .bert import BertConfig\n\n"
            "    if is_torch_available():\n        from .bert import BertModel\n",
        },
        says=("lib/__init__.py:3 lazy-inits/overwritten",),
    ),
    Example(
        "halves that mean different classes",
        tree={
            "lib/bert.py": _BERT,
            "lib/old_bert.py": _BERT,
            "lib/__init__.py": '_import_structure = {"bert": ["BertModel"]}\n'
            "if TYPE_CHECKING:\n    from .old_bert import BertModel\n",
        },
        says=("lib/__init__.py:1 lazy-inits/other-module",),
    ),
    Example(
        "a name and a module that are gone",
        tree={
            "lib/bert.py": _BERT,
            "lib/__init__.py": '_import_structure = {\n    "albert": [],\n    "bert": ["BertModell"],\n}\n'
            "if TYPE_CHECKING:\n    from .bert import BertModell\n",
        },
        says=("lib/__init__.py:2 lazy-inits/unknown-module", "lib/__init__.py:3 lazy-inits/unknown-name"),
    ),
    Example(
        "an init that is no Python",
        tree={"lib/__init__.py": '_import_structure = {"bert": ["BertModel"}\n'},
        says=("lib/__init__.py:1 lazy-inits/unparsable",),
    ),
    Example(
        "modules that say themselves what they export",
        tree={
            "lib/__init__.py": _SCANNING,
            "lib/configuration_bert.py": _CONFIGURATION,
            "lib/modeling_bert.py": 'class BertModel: ...\n\n\n__all__ = [\n    "BertModel",\n]\n',
        },
    ),
    Example(
        "a module that nobody imports for type checkers, and one that exports nothing",
        tree={
            "lib/__init__.py": _SCANNING,
            "lib/configuration_bert.py": _CONFIGURATION,
            "lib/modeling_bert.py": "class BertModel: ...\n",
            "lib/tokenization_bert.py": '__all__ = ["BertTokenizer"]\n\n\nclass BertTokenizer: ...\n',
        },
        says=("lib/__init__.py:2 lazy-inits/missing-type-checking", "lib/__init__.py:3 lazy-inits/missing-lazy"),
        mended={
            "lib/__init__.py": _SCANNING.replace(
                "    from .modeling_bert import *\n",
                "    from .modeling_bert import *\n    from .tokenization_bert import *\n",
            )
        },
    ),
    Example(
        "an `__all__` with a name that is gone, and one that runs over the reader's head",
        tree={
            "lib/__init__.py": _SCANNING,
            "lib/configuration_bert.py": '__all__ = ["BertConfig", "BertOnnxConfig"]\n\n\nclass BertConfig: ...\n',
            "lib/modeling_bert.py": 'class BertModel: ...\n\n\n__all__ = ["BertModel"]  # public\n',
        },
        says=(
            "lib/configuration_bert.py:1 lazy-inits/unknown-name",
            "lib/modeling_bert.py:4 lazy-inits/unreadable-exports",
        ),
    ),
)
