"""Inits that import on first use: what is compared with what, and what the fix leaves alone."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from checks.edits import parses
from checks.facts.inits import INIT
from checks.text import decode
from checks.tree import MemoryTree
from tests.checks.mending import damaged, mended
from tests.checks.trees import index_of, judge, says, subjects, tree_of

RULE = "lazy-inits"
BERT = "class BertConfig: ...\nclass Bert: ...\ndef load(): ...\nSIZES = {}\n"


def messages(texts: Mapping[str, str]) -> list[str]:
    """What the rule says of a tree, in words."""
    return [found.message for found in judge(RULE, tree_of(texts))]


def test_a_name_only_in_the_lazy_half_under_two_backends_in_parentheses_is_found() -> None:
    init = """\
_import_structure = {}
try:
    if not (is_a_available() and is_b_available()):
        raise OptionalDependencyNotAvailable()
except OptionalDependencyNotAvailable:
    pass
else:
    _import_structure["bert"] = ["Bert", "load"]
if TYPE_CHECKING:
    try:
        if not (is_a_available() and is_b_available()):
            raise OptionalDependencyNotAvailable()
    except OptionalDependencyNotAvailable:
        pass
    else:
        from .bert import Bert
"""
    (found,) = judge(RULE, tree_of({"lib/__init__.py": init, "lib/bert.py": BERT}))

    assert (found.line, found.column, found.code, found.message, found.reason) == (
        8,
        42,
        "lazy-inits/missing-type-checking",
        "`load` is in `_import_structure`, but not under TYPE_CHECKING",
        "it comes from `.bert`, in the block that asks for a and b",
    )


def test_every_exported_name_is_a_subject() -> None:
    init = '_import_structure = {"bert": ["Bert"]}\n_import_structure["bert"].append("load")\n'
    scanning = "if TYPE_CHECKING:\n    from .a import *\nelse:\n    define_import_structure(__file__)\n"
    tree = {
        "lib/__init__.py": init,
        "lib/bert.py": BERT,
        "lib/sub/__init__.py": scanning,
        "lib/sub/a.py": '__all__ = ["A", "B"]\nA = B = 1\n',
        "tests/__init__.py": "",
    }
    assert subjects(RULE, tree_of(tree)) == 4


@pytest.mark.parametrize(
    "module",
    [
        "from ._bert import Bert\n",
        "from ._bert import *\n",
        "from ._bert import (\n    Bert,  # the class\n)\n",
        "from lib._bert import Bert\n",
        "from . import _bert\nBert = _bert.Bert\n",
        "if AVAILABLE:\n    class Bert: ...\nelse:\n    Bert = None\n",
        "Bert, other = make()\n",
        "globals()['Bert'] = 1\n",
        "for name in NAMES:\n    globals()[name] = make(name)\n",
        "globals().update(NAMES)\n",
        "vars().setdefault('Bert', 1)\n",
        "def prepare(name):\n    globals()[name] = 1\n",
        "namespace = globals()\nnamespace[NAME] = 1\n",
        "fill(globals())\n",
        "exec(CODE, globals())\n",
        "setattr(sys.modules[__name__], NAME, 1)\n",
        "sys.modules[__name__].__dict__[NAME] = 1\n",
        "vars(sys.modules[__name__]).update(NAMES)\n",
        "def __getattr__(name): ...\n",
        "if LAZY:\n    __getattr__, __dir__ = attach(NAMES)\n",
        "from elsewhere import *\n",
        "def prepare():\n    global Bert\n    Bert = 1\n",
    ],
)
def test_a_name_is_defined_however_its_module_gets_it(module: str) -> None:
    tree = {
        "lib/__init__.py": '_import_structure = {"bert": ["Bert"]}\nif TYPE_CHECKING:\n    from .bert import Bert\n',
        "lib/bert.py": module,
        "lib/_bert.py": BERT,
    }
    assert messages(tree) == []


@pytest.mark.parametrize(
    "module",
    [
        "",
        '"""Bert is here no more."""\n',
        "class Albert:\n    class Bert: ...\n",
        "def f():\n    Bert = 1\n    from ._bert import Bert\n",
        "from ._bert import load\nfrom ._other import *\n",
        "def f(k, kwargs):\n    kwargs[k] = locals()[k]\n    return globals()['__file__'] == k\n",
        "def f():\n    return {k: v for k, v in locals().items() if k in globals()}, vars()\n",
        "known = 'x' in globals() or sorted(vars()) or {**globals(), **dict(locals())}\n",
        "def f(self):\n    self.check(locals())\n    return 'Al{b}'.format(**locals())\n",
        "class Albert:\n    locals().update(NAMES)\n    def __getattr__(self, name): ...\n",
        "config = getattr(sys.modules[__name__], NAME) or sys.modules[__name__].__doc__\n",
    ],
)
def test_a_name_that_only_looks_defined_is_unknown(module: str) -> None:
    tree = {
        "lib/__init__.py": '_import_structure = {"bert": ["Bert"]}\nif TYPE_CHECKING:\n    from .bert import Bert\n',
        "lib/bert.py": module,
        "lib/_bert.py": BERT,
        "lib/_other.py": '__all__ = ["Other"]\nOther = Bert = 1\n',
    }
    assert messages(tree) == ["`.bert` does not define `Bert`"]


def test_names_are_followed_through_lazy_inits_and_a_missing_one_is_reported_where_it_is_listed() -> None:
    tree = {
        "lib/__init__.py": '_import_structure = {"models": ["Bert", "Gone"]}\n'
        "if TYPE_CHECKING:\n    from .models import Bert, Gone\n",
        "lib/models/__init__.py": '_import_structure = {"bert": ["Bert", "Gone"]}\n'
        "if TYPE_CHECKING:\n    from .bert import Bert, Gone\n",
        "lib/models/bert.py": BERT,
    }
    assert says(judge(RULE, tree_of(tree))) == ("lib/models/__init__.py:1 lazy-inits/unknown-name",)


def test_names_of_a_scanned_folder_count_as_exported() -> None:
    tree = {
        "lib/__init__.py": '_import_structure = {"bert": ["Bert"]}\n'
        "if TYPE_CHECKING:\n    from .bert import Bert\n    from .models import *\n"
        "    from .models.vit import ViT as ViT\n"
        'else:\n    define_import_structure(Path(__file__).parent / "models", prefix="models")\n',
        "lib/bert.py": BERT,
        "lib/models/__init__.py": "if TYPE_CHECKING:\n    from .vit import *\n"
        "else:\n    define_import_structure(_file)\n",
        "lib/models/vit/__init__.py": "if TYPE_CHECKING:\n    from .modeling_vit import *\n"
        "else:\n    define_import_structure(_file)\n",
        "lib/models/vit/modeling_vit.py": '__all__ = ["ViT"]\nclass ViT: ...\n',
        "lib/models/vit/convert_vit.py": '__all__ = ["convert"]\ndef convert(): ...\n',
    }
    assert messages(tree) == []


def test_two_modules_that_export_different_things_by_one_name_are_a_duplicate() -> None:
    scanning = (
        "if TYPE_CHECKING:\n    from .a import *\n    from .b import *\nelse:\n    define_import_structure(_file)\n"
    )
    tree = {
        "lib/__init__.py": scanning,
        "lib/a.py": '__all__ = ["Same", "Shared"]\nclass Same: ...\nclass Shared: ...\n',
        "lib/b.py": 'from .a import Shared\n\n__all__ = ["Same", "Shared"]\nclass Same: ...\n',
    }
    (found,) = judge(RULE, tree_of(tree))

    assert (found.path, found.line, found.message) == ("lib/b.py", 3, "`Same` is exported by lib/a.py too")


@pytest.mark.parametrize(
    ("imports", "expected"),
    [
        ("from ..utils import is_torch_available", []),
        ("from other import Other", []),
        ("from . import bert", []),
        ("from .bert import *", []),
        (
            "from .bert import Bert as Alias",
            ["`Alias` is imported under TYPE_CHECKING, but is not in `_import_structure`"],
        ),
        (
            "from .bert import load as bert",
            ["`bert` is imported under TYPE_CHECKING, but is not in `_import_structure`"],
        ),
    ],
)
def test_imports_that_export_nothing_are_left_alone(imports: str, expected: list[str]) -> None:
    init = f'_import_structure = {{"bert": ["Bert"]}}\nif TYPE_CHECKING:\n    from .bert import Bert\n    {imports}\n'
    tree = {"lib/__init__.py": "", "lib/utils.py": "def is_torch_available(): ...\n"}

    assert messages({**tree, "lib/models/__init__.py": init, "lib/models/bert.py": BERT}) == expected


def test_names_that_the_module_gets_otherwise_need_no_entry() -> None:
    init = """\
_import_structure = {"bert": ["Bert"], "dummies": [name for name in dir(dummies)]}
_additional_imports["load"] = load
_additional_imports.update({"SIZES": SIZES})
if TYPE_CHECKING:
    from .bert import SIZES, Bert, load
    from .dummies import Dummy
"""
    assert messages({"lib/__init__.py": init, "lib/bert.py": BERT, "lib/dummies.py": "class Dummy: ...\n"}) == []


def test_a_typing_half_that_knows_no_backends_is_no_mismatch() -> None:
    init = """\
_import_structure = {"bert": ["BertConfig"]}
if is_torch_available():
    _import_structure["bert"].append("Bert")
if TYPE_CHECKING:
    from .bert import Bert, BertConfig
"""
    assert messages({"lib/__init__.py": init, "lib/bert.py": BERT}) == []


def test_a_name_with_another_module_for_each_backend_is_one_name() -> None:
    init = """\
_import_structure = {}
if is_torch_available():
    _import_structure["bert"] = ["Bert"]
else:
    _import_structure["small"] = ["Bert"]
if TYPE_CHECKING:
    if is_torch_available():
        from .bert import Bert
    else:
        from .small import Bert
"""
    assert messages({"lib/__init__.py": init, "lib/bert.py": BERT, "lib/small.py": BERT}) == []


def test_an_init_with_one_half_is_checked_against_its_modules_only() -> None:
    tree = {"lib/__init__.py": '_import_structure = {"bert": ["Bert", "Gone"]}\n', "lib/bert.py": BERT}

    assert messages(tree) == ["`.bert` does not define `Gone`"]


def test_folders_links_and_modules_of_other_packages_are_not_unknown() -> None:
    init = '_import_structure = {"folder": ["inner"], "linked": ["Any"]}\nif TYPE_CHECKING:\n'
    typing = "    from .folder import inner\n    from .linked import Any\n"
    texts = {"lib/__init__.py": init + typing, "lib/folder/inner.py": ""}
    tree = MemoryTree({path: text.encode() for path, text in texts.items()}, others=frozenset({"lib/linked.py"}))

    assert judge(RULE, tree) == ()


def test_long_chains_and_circles_of_names_and_deep_folders_end_somewhere() -> None:
    init = '_import_structure = {"chain": ["a0", "b0", "c0"]}\nif TYPE_CHECKING:\n    from .chain import a0, b0, c0\n'
    aliases = "".join(f"a{number} = a{number + 1}\n" for number in range(2000))
    deep = "lib" + "/d" * 1500
    scanning = "if TYPE_CHECKING:\n    from .m import *\nelse:\n    define_import_structure(_file)\n"
    tree = {
        "lib/__init__.py": init,
        "lib/chain.py": aliases + "b0 = b1\nb1 = b0\nfrom .m0 import c0\n",
        **{f"lib/m{number}.py": f"from .m{number + 1} import c0\n" for number in range(800)},
        f"{deep}/__init__.py": scanning,
        f"{deep}/m.py": '__all__ = ["M"]\nM = 1\n',
    }
    assert messages(tree) == []


BLOCKS = """\
_import_structure = {{
    "configuration": ["BertConfig"],{dict}
}}

try:
    if not is_torch_available():
        raise OptionalDependencyNotAvailable()
except OptionalDependencyNotAvailable:
    pass
else:
    _import_structure["bert"] = {list}

if TYPE_CHECKING:
    from .configuration import BertConfig{imports}

    try:
        if not is_torch_available():
            raise OptionalDependencyNotAvailable()
    except OptionalDependencyNotAvailable:
        pass
    else:
        from .bert import {names}
"""
MODULES = {
    "lib/albert.py": "class Albert: ...\n",
    "lib/bert.py": BERT,
    "lib/configuration.py": "class BertConfig: ...\nclass ZConfig: ...\n",
}


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (
            {"dict": "", "list": '["Bert"]', "imports": "", "names": "Bert, load"},
            {"dict": "", "list": '["Bert", "load"]', "imports": "", "names": "Bert, load"},
        ),
        (
            {"dict": "", "list": "['load']", "imports": "", "names": "Bert, load"},
            {"dict": "", "list": "['Bert', 'load']", "imports": "", "names": "Bert, load"},
        ),
        (
            {"dict": "", "list": "[]", "imports": "", "names": "Bert"},
            {"dict": "", "list": '["Bert"]', "imports": "", "names": "Bert"},
        ),
        (
            {
                "dict": "",
                "list": '[\n        "SIZES",\n        # new\n        "load",\n    ]',
                "imports": "",
                "names": "SIZES, Bert, load",
            },
            {
                "dict": "",
                "list": '[\n        "SIZES",\n        "Bert",\n        # new\n        "load",\n    ]',
                "imports": "",
                "names": "SIZES, Bert, load",
            },
        ),
        (
            {"dict": "", "list": '[\n        "Bert"\n    ]', "imports": "", "names": "Bert, load"},
            {"dict": "", "list": '[\n        "Bert",\n        "load",\n    ]', "imports": "", "names": "Bert, load"},
        ),
        (
            {"dict": "", "list": '["Bert", "load"]', "imports": "", "names": "(\n            Bert,\n        )"},
            {
                "dict": "",
                "list": '["Bert", "load"]',
                "imports": "",
                "names": "(\n            Bert,\n            load,\n        )",
            },
        ),
        (
            {"dict": "", "list": '["Bert"]', "imports": "\n    from .albert import Albert", "names": "Bert"},
            {
                "dict": '\n    "albert": ["Albert"],',
                "list": '["Bert"]',
                "imports": "\n    from .albert import Albert",
                "names": "Bert",
            },
        ),
        (
            {"dict": '\n    "zed": [],\n    "albert": ["Albert"],', "list": '["Bert"]', "imports": "", "names": "Bert"},
            {
                "dict": '\n    "zed": [],\n    "albert": ["Albert"],',
                "list": '["Bert"]',
                "imports": "\n    from .albert import Albert",
                "names": "Bert",
            },
        ),
    ],
    ids=["end", "quotes", "empty", "comment", "comma", "import", "key", "module"],
)
def test_the_fix_writes_a_missing_name_as_the_file_would(before: dict[str, str], after: dict[str, str]) -> None:
    texts = {**MODULES, "lib/zed.py": "", "lib/__init__.py": BLOCKS.format(**before)}
    fixed = mended(RULE, texts)["lib/__init__.py"]

    assert sorted(fixed.split("\n")) == sorted(BLOCKS.format(**after).split("\n"))
    assert parses(fixed.encode())


def test_a_line_that_gets_too_long_is_broken_up() -> None:
    names = [f"BertForSomeVeryLongTask{number}" for number in range(4)]
    module = "".join(f"class {name}: ...\n" for name in names)
    init = "_import_structure = {\n" + f'    "bert": ["{names[0]}", "{names[1]}", "{names[2]}"],\n' + "}\n"
    typing = f"if TYPE_CHECKING:\n    from .bert import {', '.join(names)}\n"

    fixed = mended(RULE, {"lib/__init__.py": init + typing, "lib/bert.py": module})["lib/__init__.py"]

    assert (
        fixed
        == '_import_structure = {\n    "bert": [\n'
        + "".join(f'        "{name}",\n' for name in names)
        + "    ],\n}\n"
        + typing
    )


def test_the_fix_keeps_to_one_import_a_name_where_the_half_does() -> None:
    init = '_import_structure = {"bert": ["Bert", "BertConfig", "load"]}\nif TYPE_CHECKING:\n'
    lines = ["    from .bert import Bert as Bert\n", "    from .bert import load as load\n"]

    fixed = mended(RULE, {"lib/__init__.py": init + "".join(lines), "lib/bert.py": BERT})["lib/__init__.py"]

    assert fixed == init + lines[0] + "    from .bert import BertConfig as BertConfig\n" + lines[1]


def test_a_name_that_no_module_defines_is_put_nowhere() -> None:
    init = '_import_structure = {"bert": ["Bert", "Gone"]}\nif TYPE_CHECKING:\n    from .bert import Bert\n'
    texts = {"lib/__init__.py": init, "lib/bert.py": BERT}

    assert mended(RULE, texts) == texts


def test_a_fix_keeps_line_ends_and_encoding() -> None:
    init = "# -*- coding: latin-1 -*-\r\n# caf\xe9\r\n_import_structure = {'bert': ['Bert', 'load']}\r\n"
    typing = "if TYPE_CHECKING:\r\n    from .bert import Bert{}\r\n"
    tree = MemoryTree({"lib/__init__.py": (init + typing.format("")).encode("latin-1"), "lib/bert.py": BERT.encode()})
    from checks.fix import fix

    (change,) = fix(tree, lambda present: judge(RULE, present)).changes

    assert change.after == (init + typing.format(", load")).encode("latin-1")


NAMES = ("Bert", "BertConfig", "SIZES", "load")
BACKENDS = ("", "is_torch_available()", "not (is_torch_available() and is_vision_available())")
HALF = st.lists(
    st.tuples(st.sampled_from(("albert", "bert")), st.sampled_from(BACKENDS), st.sampled_from(NAMES)), max_size=6
)


def _init(lazy: list[tuple[str, str, str]], typing: list[tuple[str, str, str]], *, spread: bool) -> str:
    """An init with these names in its halves, one name a line where `spread`."""
    lines = ["_import_structure = {"]
    for module in ("albert", "bert"):
        names = [name for own, backend, name in lazy if own == module and not backend]
        lines.append(f'    "{module}": {_listed(names, spread=spread, indent=4)},')
    lines.append("}")
    for backend in BACKENDS[1:]:
        lines += [f"if {backend}:"]
        for module in ("albert", "bert"):
            names = [name for own, other, name in lazy if (own, other) == (module, backend)]
            lines.append(f'    _import_structure["{module}"].extend({_listed(names, spread=spread, indent=4)})')
    lines.append("if TYPE_CHECKING:")
    lines += [f"    from .{module} import {name}" for module, backend, name in typing if not backend]
    for backend in BACKENDS[1:]:
        lines += [f"    if {backend}:", "        pass"]
        lines += [f"        from .{module} import {name}" for module, other, name in typing if other == backend]
    return "\n".join([*lines, "    pass", ""])


def _listed(names: list[str], *, spread: bool, indent: int) -> str:
    if not spread or not names:
        return "[" + ", ".join(f'"{name}"' for name in names) + "]"
    inner = "".join(f'{" " * (indent + 4)}"{name}",\n' for name in names)
    return f"[\n{inner}{' ' * indent}]"


@given(lazy=HALF, typing=HALF, spread=st.booleans())
def test_the_fix_of_any_init_parses_adds_what_is_missing_and_comes_to_rest(
    lazy: list[tuple[str, str, str]], typing: list[tuple[str, str, str]], *, spread: bool
) -> None:
    texts = {"lib/__init__.py": _init(lazy, typing, spread=spread), "lib/bert.py": BERT, "lib/albert.py": BERT}

    after = mended(RULE, texts)

    assert parses(after["lib/__init__.py"].encode())
    assert mended(RULE, after) == after
    assert {path: after[path] for path in after if path != "lib/__init__.py"} == {
        path: texts[path] for path in texts if path != "lib/__init__.py"
    }
    names = {name for _, _, name in (*lazy, *typing)}
    init = index_of(tree_of(after)).facts(INIT, "lib/__init__.py")
    assert {name for one in init.listings for name in one.names} <= names
    assert {name for one in init.imports for name in one.names} <= names
    assert {name for one in init.listings for name in one.names} >= {name for _, _, name in lazy}
    assert {name for one in init.imports for name in one.names} >= {name for _, _, name in typing}


@given(damaged({"lib/__init__.py": BLOCKS.format(dict="", list='["load"]', imports="", names="Bert"), **MODULES}))
def test_damaged_text_gives_findings_in_lines_that_are_there_and_a_fix_that_comes_to_rest(
    texts: dict[str, str],
) -> None:
    tree = tree_of(texts)

    findings = judge(RULE, tree)
    after = mended(RULE, texts)

    lines = {path: len(decode(tree.read(path)).split("\n")) for path in texts}
    assert [found for found in findings if not 1 <= found.line <= lines[found.path]] == []
    assert mended(RULE, after) == after
