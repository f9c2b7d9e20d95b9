from __future__ import annotations

from pathlib import Path

import pytest

from tests.tooling.pr.branches import Branch, brief

BASE = {
    "src/diffusers/__init__.py": "",
    "src/diffusers/pipelines/__init__.py": '_structure = {"flux": []}\n',
    "src/diffusers/pipelines/flux/pipeline_flux.py": "class FluxPipeline:\n    pass\n",
    "docs/source/en/_toctree.yml": "- local: api/pipelines/flux\n",
}
WHOLE = {
    "src/diffusers/pipelines/krea/__init__.py": "",
    "src/diffusers/pipelines/krea/pipeline_krea.py": 'class KreaPipeline:\n    """Krea."""\n',
    "src/diffusers/pipelines/__init__.py": '_structure = {"flux": [], "krea": []}\n',
    "docs/source/en/api/pipelines/krea.md": "# Krea\n",
    "docs/source/en/_toctree.yml": "- local: api/pipelines/flux\n- local: api/pipelines/krea\n",
    "tests/pipelines/krea/test_pipeline_krea.py": "def test_krea():\n    pass\n",
    "scripts/convert_krea_to_diffusers.py": "",
}


@pytest.fixture
def branch(tmp_path: Path) -> Branch:
    return Branch(tmp_path / "lib", BASE)


def test_a_new_pipeline_with_all_that_belongs_to_one_passes(branch: Branch) -> None:
    branch.commit("Add Krea", WHOLE)

    assert brief(branch.decide("new-model")) == ("pass", "new-model/complete", ("krea",))


def test_every_part_that_is_missing_is_named_with_its_place(branch: Branch) -> None:
    branch.commit(
        "Add Krea", {name: text for name, text in WHOLE.items() if name.startswith("src/diffusers/pipelines/k")}
    )

    assert brief(branch.decide("new-model")) == (
        "fail",
        "new-model/incomplete",
        (
            "krea has no page in the docs: docs/source/en/api/pipelines/krea.md",
            "krea has no entry in the table of contents: docs/source/en/_toctree.yml",
            "krea has no tests: tests/pipelines/krea/test_*.py",
            "krea has no registration in the package: src/diffusers/pipelines/__init__.py",
            "krea has no conversion script: scripts/convert*krea*.py",
        ),
    )


def test_a_conversion_script_alone_is_asked_for_mildly(branch: Branch) -> None:
    branch.commit("Add Krea", {name: text for name, text in WHOLE.items() if not name.startswith("scripts/")})

    assert brief(branch.decide("new-model"))[:2] == ("warn", "new-model/unconverted")


def test_one_more_pipeline_of_a_model_that_is_there_is_no_new_model(branch: Branch) -> None:
    branch.commit(
        "Add inpainting", {"src/diffusers/pipelines/flux/pipeline_flux_inpaint.py": "class Inpaint:\n    pass\n"}
    )

    assert branch.decide("new-model").code == "new-model/none"


def test_transformers_asks_for_a_registration_in_its_auto_classes(tmp_path: Path) -> None:
    branch = Branch(
        tmp_path / "lib",
        {
            "src/transformers/__init__.py": "",
            "src/transformers/models/auto/configuration_auto.py": 'NAMES = {"bert": "BertConfig"}\n',
            "docs/source/en/_toctree.yml": "- local: model_doc/bert\n",
        },
    )
    branch.commit(
        "Add Zebra",
        {
            "src/transformers/models/zebra/modular_zebra.py": "class ZebraModel:\n    pass\n",
            "docs/source/en/model_doc/zebra.md": "# Zebra\n",
            "docs/source/en/_toctree.yml": "- local: model_doc/bert\n- local: model_doc/zebra\n",
            "tests/models/zebra/test_modeling_zebra.py": "",
        },
    )

    assert brief(branch.decide("new-model"))[2] == (
        "zebra has no registration in the auto classes: src/transformers/models/auto/*.py",
        "zebra has no conversion script: src/transformers/models/zebra/convert_*.py",
    )
