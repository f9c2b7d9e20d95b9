"""What the readers of inits, modules and dummy files see in a text, of any layout and of any quality."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from checks.extractor import Extractor
from checks.facts.bindings import BINDINGS, IMPORTS, Bindings
from checks.facts.dummies import DUMMIES, Dummies, Dummy
from checks.facts.inits import INIT
from checks.facts.surface import SURFACE, Export, exports_of
from checks.inits.model import Init, Item, Spot

EXTRACTORS: tuple[Extractor[Any], ...] = (INIT, SURFACE, BINDINGS, IMPORTS, DUMMIES)


def read(extractor: Extractor[Any], text: str) -> Any:
    """The facts of a text, as they come back from the cache."""
    return extractor.load(json.loads(json.dumps(extractor.extract(text))))


def exported(text: str) -> list[tuple[str, str, list[str]]]:
    """Module, condition and names of every list and every import of an init."""
    init: Init = read(INIT, text)
    places = [(one.module, init.blocks[one.block], one.names) for one in init.listings]
    places += [(one.module, init.blocks[one.block], one.names) for one in init.imports]
    return [(module, f"{block.half}: {block.condition}", list(names)) for module, block, names in places]


@pytest.mark.parametrize(
    ("statement", "how"),
    [
        ('_import_structure["bert"] = ["Bert", "load"]', "set"),
        ("_import_structure['bert'] = ('Bert', 'load')", "set"),
        ('_import_structure["bert"] += ["Bert"] + ["load"]', "add"),
        ('_import_structure["bert"].extend(["Bert", *["load"]])', "add"),
        ('_import_structure.setdefault("bert", ["Bert", "load"])', "add"),
        ('_import_structure.setdefault("bert", []).extend(["Bert", "load"])', "add"),
        ('_import_structure.update({"bert": ["Bert", "load"]})', "set"),
        ('_import_structure |= {"bert": {"Bert", "load"}}', "set"),
        ('_import_structure: dict[str, list[str]] = {"bert": ["Bert", "load"]}', "item"),
        ('_import_structure = {"bert": [  # comment\n    "Bert",\n\n    "load", ]}', "item"),
    ],
)
def test_a_list_is_read_however_it_is_written(statement: str, how: str) -> None:
    init: Init = read(INIT, statement + "\n")

    assert [(one.module, one.how, list(one.names)) for one in init.listings] == [(".bert", how, ["Bert", "load"])]
    assert (init.structured, init.opaque, init.problem) == (True, False, None)


@pytest.mark.parametrize(
    "statement",
    [
        '_import_structure["bert"].append("Bert")',
        '_import_structure["bert"].insert(0, "Bert")',
        '_import_structure.setdefault("bert", []).append("Bert")',
    ],
)
def test_a_single_name_is_read_however_it_is_added(statement: str) -> None:
    assert exported(statement + "\n") == [(".bert", "lazy: nothing", ["Bert"])]


@pytest.mark.parametrize(
    "statement",
    [
        "for name in names:\n    _import_structure['bert'].append(name)",
        "_import_structure = make_structure()",
        "_import_structure[key] = ['Bert']",
        "_import_structure = {**base, 'bert': ['Bert']}",
    ],
)
def test_what_cannot_be_read_leaves_the_init_open(statement: str) -> None:
    assert read(INIT, statement + "\n").opaque


def test_names_that_are_computed_leave_their_list_open() -> None:
    (listing,) = read(INIT, '_import_structure["bert"] = ["Bert", *NAMES, f"{x}"]\n').listings

    assert (listing.names, listing.opaque) == (["Bert"], True)


@pytest.mark.parametrize(
    ("test", "condition"),
    [
        ("not is_torch_available()", "torch"),
        ("not (is_torch_available())", "torch"),
        ("not (is_torch_available() and is_vision_available())", "torch and vision"),
        ("not is_torch_available() or not is_vision_available()", "torch and vision"),
        ("not is_torch_available() and not is_vision_available()", "torch or vision"),
        ("not utils.is_torch_available()", "torch"),
        ("not (is_torch_available() and is_torch_version('>=', '2.1'))", "torch and torch >= 2.1"),
        ("not (is_a_available() and is_b_available()) and is_c_available()", "(a and b) or not c"),
        ("not (is_a_available() and (is_b_available() or is_c_available()))", "a and (b or c)"),
        ("is_torch_available()", "not torch"),
        ("not is_torch_available(min_version='2')", "is_torch_available(min_version='2')"),
        ("False", "nothing"),
    ],
)
def test_every_way_to_ask_for_backends_comes_to_the_same(test: str, condition: str) -> None:
    text = f"""\
_import_structure = {{}}
try:
    if {test}:
        raise OptionalDependencyNotAvailable()
except OptionalDependencyNotAvailable:
    from .utils import dummy_objects
else:
    _import_structure["bert"] = ["Bert"]
"""
    assert exported(text) == [(".bert", f"lazy: {condition}", ["Bert"])]


def test_conditions_are_equal_in_any_order_and_nesting() -> None:
    def key(test: str) -> str:
        init: Init = read(INIT, f"if {test}:\n    _import_structure['bert'] = ['Bert']\n")
        return init.blocks[init.listings[0].block].key

    assert key("is_a_available() and (is_b_available() and is_c_available())") == key(
        "is_c_available() and is_a_available() and is_b_available()"
    )
    assert key("is_a_available() or is_b_available()") != key("is_a_available() and is_b_available()")


def test_both_halves_are_read_with_the_blocks_they_stand_in() -> None:
    text = """\
import typing
_import_structure = {"bert": ["BertConfig"]}
if is_torch_available():
    _import_structure["bert"].append("Bert")
    if is_vision_available():
        _import_structure["vit"] = ["ViT"]
else:
    _import_structure["plain"] = ["Plain"]
_more["Extra"] = object
if typing.TYPE_CHECKING or SLOW_IMPORT:
    import os
    from .bert import BertConfig
    try:
        import torch
    except ImportError:
        from .utils.dummies import *
    else:
        from .bert import (Bert as Bert, Old as New)
        from .vit import *
else:
    _import_structure["late"] = ["Late"]
"""
    init: Init = read(INIT, text)

    assert exported(text) == [
        (".bert", "lazy: nothing", ["BertConfig"]),
        (".bert", "lazy: torch", ["Bert"]),
        (".vit", "lazy: torch and vision", ["ViT"]),
        (".plain", "lazy: not torch", ["Plain"]),
        (".late", "lazy: nothing", ["Late"]),
        (".bert", "typing: nothing", ["BertConfig"]),
        (".bert", "typing: torch", ["Bert", "New"]),
        (".vit", "typing: torch", []),
    ]
    assert [(one.originals, one.star) for one in init.imports[1:]] == [
        ({"Bert": "Bert", "New": "Old"}, False),
        ({}, True),
    ]
    assert [list(block.fallback) for block in init.blocks if block.fallback] == [[".utils.dummies"]]
    assert (list(init.others), list(init.guard)) == (["Extra"], [11, 4])


def test_a_half_that_is_not_for_type_checkers_may_come_first() -> None:
    text = "if not TYPE_CHECKING:\n    _import_structure = {'a': ['A']}\nelse:\n    from .a import A\n"

    assert exported(text) == [(".a", "lazy: nothing", ["A"]), (".a", "typing: nothing", ["A"])]


def test_places_count_characters_not_bytes() -> None:
    init: Init = read(INIT, "_import_structure = {'é': ['ü', 'B']}  # ñ\nif TYPE_CHECKING: from .é import ü, B\n")

    assert init.listings[0].items == [Item("ü", Spot(1, 27, 1, 30)), Item("B", Spot(1, 32, 1, 35))]
    assert init.imports[0].items == [Item("ü", Spot(2, 33, 2, 34)), Item("B", Spot(2, 36, 2, 37))]


@pytest.mark.parametrize(
    ("argument", "folder"),
    [
        ("_file", ""),
        ("__file__", ""),
        ('globals()["__file__"]', ""),
        ('Path(__file__).parent / "models"', "models"),
        ('os.path.join(os.path.dirname(__file__), "models", "old")', "models/old"),
    ],
)
def test_the_folder_that_is_scanned_is_read_off_the_call(argument: str, folder: str) -> None:
    text = f"if TYPE_CHECKING:\n    from .a import *\nelse:\n    structure = define_import_structure({argument})\n"

    assert list(read(INIT, text).scans) == [folder]


def test_a_module_shows_its_names_by_kind() -> None:
    text = """\
class Bert(Base):
    inner = 1
Bert = wrapped(Bert)
async def load(): ...
SIZES: dict[str, int] = {}
NAME = "bert"
Old = Bert
logger = logging.get_logger(__name__)
x == 1
"""
    assert read(SURFACE, text).names == {
        "Bert": "class",
        "load": "function",
        "SIZES": "value",
        "NAME": "value",
        "Old": "=Bert",
        "logger": "made",
    }


@pytest.mark.parametrize(
    ("text", "names", "plain", "sound"),
    [
        ('A = 1\n__all__ = ["A"]', ["A"], True, True),
        ("A = 1\n__all__ = [\n    'A',\n    'B'\n]\n", ["A", "B"], True, False),
        ('__all__ = ["A", "A"]\nA = 1\n', ["A", "A"], True, False),
        ('__all__ = ["A"]  # public\n', ["A"], False, False),
        ('__all__ = [\n    "A", "B",\n]\n', ["A", "B"], False, False),
        ('__all__: list[str] = ("A", "B")\n', ["A", "B"], False, False),
        ('__all__ = ["A"]\n__all__ += ["B"]\n', None, False, False),
        ('__all__ = ["A"] + more\n', None, False, False),
        ("__all__ = make()\n", None, False, False),
        ('"""Says __all__ and no more."""\n', None, True, True),
    ],
)
def test_the_exports_of_a_module_are_read_where_they_are_one_list(
    text: str, names: list[str] | None, *, plain: bool, sound: bool
) -> None:
    surface = read(SURFACE, text)

    assert (surface.exports, surface.plain, surface.sound) == (names, plain, sound)


def test_exports_stand_where_they_are_said_to() -> None:
    text = "import a\n\n__all__ = [\n    \"A\",\n    'B',\n]\n"

    assert exports_of(text) == [Export("A", 4, 4, 7), Export("B", 5, 4, 7)]
    assert exports_of('__all__ = ["A", "B"]\n') == [Export("A", 1, 11, 14), Export("B", 1, 16, 19)]


def test_a_module_binds_names_in_branches_and_by_imports_but_not_inside_functions() -> None:
    text = """\
import os.path
import numpy as np
from .a import A, B as C
from .b import *
try:
    class D: ...
except ImportError:
    D = None
for i, (j, *k) in []: pass
with open() as f:
    def g():
        global H
        local = 1
"""
    assert read(BINDINGS, text) == Bindings(
        names={"D": "class", "i": "made", "j": "made", "k": "made", "f": "made", "g": "function", "H": "made"},
        imports={
            "os": ("os.path", ""),
            "np": ("numpy", ""),
            "A": (".a", "A"),
            "C": (".a", "B"),
            "*": (".b", "*"),
        },
        stars=(".b",),
        open=False,
    )
    assert read(IMPORTS, "from .a import (  # all\n    A,\n    B as C,  # old\n)\nfrom ..b import D\n") == {
        "A": (".a", "A"),
        "C": (".a", "B"),
        "D": ("..b", "D"),
    }


def test_dummies_are_read_with_their_shape() -> None:
    text = """\
# header
from ..utils import x


class Bert(metaclass=x):
    _backends = ["torch"]


def load(*args):
    x(load, ["torch"])


SIZES = None
"""
    assert read(DUMMIES, text) == Dummies(
        header="# header\nfrom ..utils import x",
        objects=[
            Dummy("Bert", "class", 5, 6, "class {name}(metaclass=x):\n    _backends = {backends}", '["torch"]'),
            Dummy("load", "function", 9, 10, "def {name}(*args):\n    x({name}, {backends})", '["torch"]'),
            Dummy("SIZES", "constant", 13, 13, "{name} = None", ""),
        ],
        pure=True,
        problem=None,
    )
    assert read(DUMMIES, text + "\nclass A,  # noqa:\n    pass\n").problem[0] == 15


SAMPLE = """\
_import_structure = {"bert": ["BertConfig", 'Bert'], "vit": []}
try:
    if not (is_torch_available() and is_vision_available()):
        raise OptionalDependencyNotAvailable()
except OptionalDependencyNotAvailable:
    from .utils import dummy_torch_and_vision_objects
else:
    _import_structure["vit"].extend(["ViT", "load_vit"])  # é
if TYPE_CHECKING:
    from .bert import Bert, BertConfig as Config
    from .vit import *
else:
    sys.modules[__name__] = _LazyModule(__name__, _file, define_import_structure(_file), module_spec=__spec__)
__all__ = ["Bert"]
class ViT(metaclass=DummyObject):
    _backends = ["torch", "vision"]
"""


def _spoiled(start: int, length: int, instead: str) -> str:
    return SAMPLE[:start] + instead + SAMPLE[start + length :]


@given(
    st.one_of(
        st.text(),
        st.builds(
            _spoiled,
            st.integers(0, len(SAMPLE)),
            st.integers(0, 60),
            st.one_of(
                st.text(max_size=5), st.sampled_from(["\0", "\udc80", "(", ")", "[", '"', "\\\n", "\f", "\t", "é"])
            ),
        ),
    )
)
def test_no_text_makes_a_reader_fail(text: str) -> None:
    for extractor in EXTRACTORS:
        read(extractor, text)


@pytest.mark.parametrize(
    "text",
    [
        "_import_structure = " + "(" * 3000,
        "_import_structure = " + "[" * 90 + "]" * 90,
        "if " + "not " * 20000 + "is_a_available(): _import_structure['a'] = ['A']\n",
        "_import_structure = x" + ".a" * 20000,
        "_import_structure['a'] = " + "['A'] + " * 20000 + "['B']",
        "if TYPE_CHECKING:\n"
        + "".join(f"{' ' * (n + 1)}if a:\n" for n in range(98))
        + " " * 99
        + "from .a import _import_structure\n",
    ],
    ids=["open", "lists", "not", "attributes", "sum", "blocks"],
)
def test_deep_nesting_is_read_or_is_a_problem(text: str) -> None:
    for extractor in EXTRACTORS:
        read(extractor, text)
