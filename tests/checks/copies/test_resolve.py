"""From dotted paths to definitions."""

from __future__ import annotations

import pytest

from checks.copies.resolve import Missing, Resolver
from tests.checks.trees import index_of, tree_of

TREE = {
    "src/lib/__init__.py": "def top(): pass\n",
    "src/lib/models/__init__.py": "",
    "src/lib/models/bert/__init__.py": "class Config: pass\n",
    "src/lib/models/bert/modeling_bert.py": """\
class BertLayerNorm: pass
class BertLayer:
    def forward(self):
        def inner(): pass
class BertModel: pass
class BertHead:
    async def prepare(self): pass
if x:
    class Late[T](list[T]): pass
""",
    "src/lib/models/bert.py": "",
    "tests/test_bert.py": "class Case:\n    def test(self): pass\n",
}
BERT = "src/lib/models/bert/modeling_bert.py"


@pytest.fixture
def resolver() -> Resolver:
    return Resolver(index_of(tree_of({path: text for path, text in TREE.items() if path != "src/lib/models/bert.py"})))


@pytest.mark.parametrize(
    ("dotted", "found"),
    [
        ("lib.models.bert.modeling_bert.BertLayer", (BERT, "BertLayer")),
        ("lib.models.bert.modeling_bert.BertLayer.forward", (BERT, "BertLayer.forward")),
        ("lib.models.bert.modeling_bert.BertLayer.forward.inner", (BERT, "BertLayer.forward.inner")),
        ("lib.models.bert.modeling_bert.BertHead.prepare", (BERT, "BertHead.prepare")),
        ("lib.models.bert.modeling_bert.Late", (BERT, "Late")),
        ("lib.models.bert/modeling_bert.BertLayer", (BERT, "BertLayer")),
        ("lib.models.bert.Config", ("src/lib/models/bert/__init__.py", "Config")),
        ("lib.top", ("src/lib/__init__.py", "top")),
        ("tests.test_bert.Case.test", ("tests/test_bert.py", "Case.test")),
    ],
)
def test_a_path_leads_to_a_module_and_the_rest_to_a_definition_in_it(
    resolver: Resolver, dotted: str, found: tuple[str, str]
) -> None:
    assert [(each.path, each.definition.name) for each in resolver.find(dotted)] == [found]


@pytest.mark.parametrize(
    ("dotted", "missing"),
    [
        (
            "lib.models.bert.modeling_bert.BertModel.prepare",
            Missing(
                f"there is no `prepare` in `BertModel` in {BERT}", "lib.models.bert.modeling_bert.BertHead.prepare"
            ),
        ),
        (
            "lib.models.bert.modeling_bert.BertLayr",
            Missing(f"there is no `BertLayr` in {BERT}", "lib.models.bert.modeling_bert.BertLayer"),
        ),
        ("lib.models.bert.modeling_bert.Nothing", Missing(f"there is no `Nothing` in {BERT}")),
        (
            "lib.models.modelling_bert.BertLayer",
            Missing("there is no such module", "lib.models.bert.modeling_bert.BertLayer"),
        ),
        ("lib.models.bert.modeling_bert", Missing(f"it names the module {BERT}, not a class or function in it")),
        ("lib.gone.Thing", Missing("there is no such module")),
        ("other.models.Thing", Missing("there is no such module")),
    ],
)
def test_what_is_missing_is_said_with_what_may_have_been_meant(
    resolver: Resolver, dotted: str, missing: Missing
) -> None:
    assert (resolver.find(dotted), resolver.missing(dotted)) == ((), missing)


def test_the_shortest_path_to_a_file_wins() -> None:
    resolver = Resolver(index_of(tree_of({**TREE, "src/lib/models/bert.py": "class modeling_bert: pass\n"})))

    assert [each.path for each in resolver.find("lib.models.bert.modeling_bert")] == ["src/lib/models/bert.py"]


def test_definitions_of_one_name_come_in_the_order_of_the_file() -> None:
    text = "if x:\n    def f(): pass\nelse:\n    def f(): pass\n"
    resolver = Resolver(index_of(tree_of({"lib/__init__.py": "", "lib/a.py": text})))

    assert [each.definition.start for each in resolver.find("lib.a.f")] == [6, 30]


def test_a_package_may_be_the_top_folder_itself() -> None:
    index = index_of(tree_of({"a.py": "def f(): pass\n"}), {"packages": {"lib": "."}})

    assert [each.path for each in Resolver(index).find("lib.a.f")] == ["a.py"]
