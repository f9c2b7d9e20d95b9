"""The private names of torch that we lean on: all in one file, and all where torch had them."""

from __future__ import annotations

import ast
import importlib
from collections.abc import Iterator
from operator import attrgetter
from pathlib import Path

import torch.distributed.pipelining
from torch.distributed.pipelining import schedules

import pipelined

PACKAGE = Path(pipelined.__file__).parent
PRIVATE = PACKAGE / "torch_private.py"

# Private by their names only: every library that walks or intercepts tensors uses them.
COMMON = ("torch.utils._python_dispatch", "torch.utils._pytree")

# Public by their names, and documented nowhere.
UNDOCUMENTED = {"pipeline_order", "pipeline_order_with_comms", "stage_index_to_group_rank", "sub_actions"}


def private_imports(path: Path) -> set[tuple[str, str]]:
    """What a file imports from torch that is private, or in a private module: pairs of module and name."""
    found = (node for node in ast.walk(_tree(path)) if isinstance(node, ast.ImportFrom) and node.module)
    names = {(str(node.module), alias.name) for node in found for alias in node.names}
    return {(module, name) for module, name in names if module.startswith("torch.") and "._" in f"{module}.{name}"}


def attributes(path: Path) -> Iterator[str]:
    """What a file reads from objects, dotted as it is written: `torch._C.x`, `schedule._y`."""
    for node in ast.walk(_tree(path)):
        if isinstance(node, ast.Attribute) and not node.attr.startswith("__"):
            yield ast.unparse(node)


def _tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def test_torch_has_the_private_names_that_are_imported() -> None:
    names = private_imports(PRIVATE)

    assert [f"{module}.{name}" for module, name in sorted(names) if not hasattr(_module(module), name)] == []
    assert names


def _module(name: str) -> object:
    try:
        return importlib.import_module(name)
    except ImportError:
        return None


def test_torch_has_the_private_attributes_that_are_read() -> None:
    dotted = set(attributes(PRIVATE))
    folder = Path(torch.distributed.pipelining.__file__).parent
    source = "\n".join(path.read_text(encoding="utf-8") for path in folder.glob("*.py"))
    read = {one.rpartition(".")[2] for one in dotted if not one.startswith("torch.")}

    for one in dotted:
        if one.startswith("torch."):
            attrgetter(one.removeprefix("torch."))(torch)
    assert [one for one in sorted(UNDOCUMENTED | {one for one in read if one[0] == "_"}) if one not in source] == []
    assert sorted(UNDOCUMENTED - read) == []


def test_torch_keeps_what_a_schedule_sends_where_it_is_forgotten() -> None:
    step = schedules._PipelineScheduleRuntime._step_microbatches

    assert "send_ops" in step.__code__.co_cellvars


def test_no_other_file_uses_private_names() -> None:
    files = [path for path in PACKAGE.rglob("*.py") if path != PRIVATE]
    found = {(path.name, module, name) for path in files for module, name in private_imports(path)}

    assert sorted(one for one in found if one[1] not in COMMON) == []
    assert (
        sorted(f"{path.name}: {one}" for path in files for one in attributes(path) if one.startswith("torch._")) == []
    )
