"""Dummy files: which names need a stand-in, where, of which kind, and how it is written."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from checks.edits import parses
from checks.text import decode
from tests.checks.mending import damaged, mended
from tests.checks.trees import judge, says, subjects, tree_of

RULE = "dummy-objects"
PATH = "lib/utils/dummy_pt_objects.py"
HEADER = "# Made by a script.\nfrom ..utils import DummyObject, requires_backends\n"
MODELS = "class Bert: ...\nclass VAE: ...\ndef load(): ...\ndef Load(): ...\nSIZES = [1]\nmade = object()\n"


def init(*blocks: tuple[str, str, str], half: str = "typing") -> str:
    """An init with a block for each condition, fallback module and import."""
    lines = ["_import_structure = {}", "if TYPE_CHECKING:" if half == "typing" else "if True:"]
    for condition, fallback, names in blocks:
        lines += ["    try:", f"        if not ({condition}):", "            raise OptionalDependencyNotAvailable()"]
        lines += ["    except OptionalDependencyNotAvailable:"]
        if half == "typing":
            lines += [f"        from .utils.{fallback} import *", "    else:", f"        from .models import {names}"]
        else:
            listed = [name.strip() for name in names.split(",")]
            lines += [f"        from .utils import {fallback}", "    else:"]
            lines += [f"        _import_structure['models'] = {listed!r}"]
    return "\n".join([*lines, ""])


def klass(name: str, *backends: str, base: str = "metaclass=DummyObject") -> str:
    """The stand-in of a class, as transformers writes it."""
    asked = "[" + ", ".join(f'"{backend}"' for backend in backends or ("torch",)) + "]"
    return (
        f"\n\nclass {name}({base}):\n    _backends = {asked}\n\n"
        f"    def __init__(self, *args, **kwargs):\n        requires_backends(self, {asked})\n"
    )


LOAD = '\n\ndef load(*args, **kwargs):\n    requires_backends(load, ["torch"])\n'
TORCH = ("is_torch_available()", "dummy_pt_objects")


def tree(names: str, dummies: str | None, *, models: str = MODELS, half: str = "typing") -> dict[str, str]:
    """A library whose torch block exports these names."""
    texts = {"lib/__init__.py": init((*TORCH, names), half=half), "lib/models.py": models}
    return texts if dummies is None else {**texts, PATH: HEADER + dummies}


def said(texts: Mapping[str, str]) -> list[str]:
    """What the rule says of a tree, in words."""
    return [found.message for found in judge(RULE, tree_of(texts))]


def test_a_stand_in_that_no_init_exports_any_more_is_an_orphan() -> None:
    (found,) = judge(RULE, tree_of(tree("Bert", klass("Bert") + klass("Gone"))))

    assert (found.path, found.line, found.code, found.message) == (
        PATH,
        12,
        "dummy-objects/orphan",
        "`Gone` is a dummy of nothing",
    )


@pytest.mark.parametrize("half", ["typing", "lazy"])
def test_a_class_in_capitals_needs_a_class_whichever_half_names_the_backends(half: str) -> None:
    assert said(tree("VAE, load", klass("VAE") + LOAD, half=half)) == []
    assert said(tree("VAE, load", "\n\nVAE = None\n" + LOAD, half=half)) == [
        "the dummy of `VAE` is a constant, the real one a class"
    ]


@pytest.mark.parametrize(
    ("name", "dummy", "expected"),
    [
        ("Load", klass("Load"), ["the dummy of `Load` is a class, the real one a function"]),
        ("SIZES", klass("SIZES"), ["the dummy of `SIZES` is a class, the real one a constant"]),
        ("made", klass("made"), []),
        ("made", "\n\nmade = None\n", []),
        ("Elsewhere", "\n\nElsewhere = None\n", []),
    ],
)
def test_the_kind_is_that_of_the_definition_where_text_tells(name: str, dummy: str, expected: list[str]) -> None:
    assert said(tree(name, dummy, models=MODELS + "from elsewhere import Elsewhere\n")) == expected


def test_a_kind_is_followed_through_inits_aliases_and_imports() -> None:
    texts = {
        "lib/__init__.py": init((*TORCH, "AE, Old")),
        "lib/models/__init__.py": "_import_structure = {'auto': ['AE'], 'bert': ['Old']}\n",
        "lib/models/auto.py": "from .bert import VAE as AE\n",
        "lib/models/bert.py": "class VAE: ...\nOld = VAE\n",
        PATH: HEADER + klass("AE") + "\n\nOld = None\n",
    }
    assert said(texts) == ["the dummy of `Old` is a constant, the real one a class"]


@pytest.mark.parametrize(
    ("condition", "fallback", "file", "backends"),
    [
        ("is_torch_available()", "dummy_pt_objects", "dummy_pt", ("torch",)),
        ("is_flax_available()", "other", "dummy_flax", ("flax",)),
        ("is_b_available() and is_a_available()", "dummy_b_and_a_objects", "dummy_b_and_a", ("b", "a")),
        ("is_b_available() and is_a_available()", "other", "dummy_b_and_a", ("b", "a")),
        ("is_torch_available()", "dummy_lite_objects", "dummy_lite", ("torch",)),
        ("is_a_available() and is_a_version('>=', '2')", "dummy_a_objects", "dummy_a", ("a",)),
    ],
)
def test_a_block_has_the_file_it_falls_back_to_or_the_one_named_after_its_backends(
    condition: str, fallback: str, file: str, backends: tuple[str, ...]
) -> None:
    texts = {"lib/__init__.py": init((condition, fallback, "Bert")), "lib/models.py": MODELS}
    path = f"lib/utils/{file}_objects.py"

    assert said(texts) == [f"`Bert` has no dummy in {path}"]
    assert mended(RULE, texts)[path].endswith(klass("Bert", *backends))


def test_a_layout_may_sort_the_backends_and_call_the_files_otherwise() -> None:
    layout = {
        "dummies": "{package}/stubs/{backends}.py",
        "dummies_sorted": True,
        "dummy_short_names": {"a_and_b": "ab"},
    }
    texts = {
        "lib/__init__.py": init(("is_b_available() and is_a_available()", "other", "Bert")),
        "lib/models.py": MODELS,
    }
    after = mended(RULE, texts, {"layout": layout})

    assert after["lib/stubs/ab.py"].endswith(klass("Bert", "a", "b"))


def test_blocks_that_fall_back_to_nothing_and_names_of_stars_need_no_stand_in() -> None:
    text = init((*TORCH, "*")) + "    if is_b_available():\n        from .models import Bert\n"
    texts = {"lib/__init__.py": text, "lib/models.py": MODELS, PATH: HEADER + klass("Anything")}

    assert said(texts) == []


def test_an_import_that_renames_needs_a_stand_in_of_the_new_name() -> None:
    assert said(tree("(\n            Bert as New,  # noqa: F401\n        )", klass("New"))) == []


def test_names_of_two_blocks_of_one_file_stand_in_the_order_of_the_init() -> None:
    texts = {
        "lib/__init__.py": init((*TORCH, "VAE"), (*TORCH, "Bert")),
        "lib/models.py": MODELS,
        PATH: HEADER + klass("Bert") + klass("VAE"),
    }
    assert said(texts) == ["the dummy of `VAE` belongs before that of `Bert`"]
    assert mended(RULE, texts)[PATH] == HEADER + klass("VAE") + klass("Bert")


def test_a_stand_in_in_the_file_of_another_backend_is_one_too_many() -> None:
    texts = {
        "lib/__init__.py": init((*TORCH, "Bert"), ("is_flax_available()", "dummy_flax_objects", "VAE")),
        "lib/models.py": MODELS,
        PATH: HEADER + klass("Bert") + klass("VAE"),
        "lib/utils/dummy_flax_objects.py": HEADER + klass("VAE", "flax"),
    }
    assert said(texts) == ["`VAE` has its dummy in lib/utils/dummy_flax_objects.py"]
    assert mended(RULE, texts)[PATH] == HEADER + klass("Bert")


def test_a_file_that_only_an_init_below_falls_back_to_is_no_orphan() -> None:
    sub = "_import_structure = {}\ntry:\n    if not is_x_available():\n        raise E()\nexcept E:\n"
    texts = {
        **tree("Bert", klass("Bert")),
        "lib/sub/__init__.py": sub
        + "    from ..utils import dummy_x_objects\nelse:\n    _import_structure['a'] = []\n",
        "lib/utils/dummy_x_objects.py": HEADER + klass("X", "x"),
        "lib/utils/dummy_y_objects.py": HEADER + klass("Y", "y"),
    }
    assert says(judge(RULE, tree_of(texts))) == ("lib/utils/dummy_y_objects.py:1 dummy-objects/orphan",)


def test_stand_ins_are_written_as_most_of_the_repository_s_own_are() -> None:
    own = "\n\nclass {0}(Stub):\n    needs = ['torch']\n"
    texts = tree("Bert, VAE, Other", own.format("Bert") + own.format("Other") + klass("VAE"))

    assert said(texts) == [
        "the dummy of `VAE` belongs before that of `Other`",
        "the dummy of `VAE` does not ask for ['torch']",
    ]
    assert mended(RULE, texts)[PATH] == HEADER + own.format("Bert") + own.format("VAE") + own.format("Other")


def test_a_backend_is_spelt_as_the_file_spells_it() -> None:
    texts = {
        "lib/__init__.py": init(("is_mistral_common_available()", "dummy_mistral_common_objects", "Bert, VAE")),
        "lib/models.py": MODELS,
        "lib/utils/dummy_mistral_common_objects.py": HEADER + klass("Bert", "mistral-common"),
    }
    after = mended(RULE, texts)["lib/utils/dummy_mistral_common_objects.py"]

    assert after == HEADER + klass("Bert", "mistral-common") + klass("VAE", "mistral-common")


def test_every_name_and_every_stand_in_is_a_subject() -> None:
    assert subjects(RULE, tree_of(tree("Bert, VAE", klass("Bert") + klass("Gone")))) == 3


def test_a_library_without_dummies_has_no_subjects() -> None:
    assert subjects(RULE, tree_of({"lib/__init__.py": "", "lib/models.py": MODELS})) == 0


NAMES = ("SIZES", "Bert", "VAE", "Load", "load")
RIGHT = "\n\nSIZES = None\n" + klass("Bert") + klass("VAE") + LOAD.replace("load", "Load") + LOAD
CHUNKS = ["SIZES = None\n", *(klass(name)[2:] for name in ("Bert", "VAE")), LOAD.replace("load", "Load")[2:], LOAD[2:]]


@given(st.lists(st.sampled_from([*CHUNKS, klass("Gone")[2:], klass("Bert", "tf")[2:], "VAE = None\n"]), max_size=9))
def test_whatever_a_dummy_file_holds_the_fix_gives_what_a_generator_would(chunks: list[str]) -> None:
    sound = {"lib/utils/dummy_b_objects.py": HEADER + RIGHT.replace('"torch"', '"b"')}
    block = ("is_b_available()", "dummy_b_objects", ", ".join(NAMES))
    texts = {
        "lib/__init__.py": init((*TORCH, ", ".join(NAMES)), block),
        "lib/models.py": MODELS,
        PATH: HEADER + "".join(f"\n\n{chunk}" for chunk in chunks),
        **sound,
    }
    after = mended(RULE, texts)

    assert after[PATH] == HEADER + RIGHT
    assert said(after) == []


@given(damaged(tree("Bert, load", klass("Bert") + LOAD)))
def test_damaged_text_gives_findings_in_lines_that_are_there_and_a_fix_that_comes_to_rest(
    texts: dict[str, str],
) -> None:
    present = tree_of(texts)

    findings = judge(RULE, present)
    after = mended(RULE, texts)

    lines = {path: len(decode(present.read(path)).split("\n")) for path in texts}
    assert [found for found in findings if not 1 <= found.line <= lines[found.path]] == []
    assert mended(RULE, after) == after
    spoilt = [path for path in texts if parses(_bytes(texts[path])) and not parses(_bytes(after[path]))]
    assert spoilt == []


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")
