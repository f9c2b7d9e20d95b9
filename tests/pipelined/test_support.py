"""What the README and the docs say of models is what the package has."""

from __future__ import annotations

from pipelined.catalog import families
from tests.pipelined.support import PAGE, README, TITLES, with_table


def test_the_table_in_the_readme_is_fresh() -> None:
    readme = README.read_text(encoding="utf-8")

    assert with_table(readme) == readme


def test_every_family_has_a_title() -> None:
    assert sorted(TITLES) == sorted(families())


def test_no_class_differs_and_every_placement_was_tried() -> None:
    page = PAGE.read_text(encoding="utf-8")
    equal = page.partition("## Equal")[2].partition("## ")[0].replace(",", " ").split()
    classes = {name for family, names in families().items() if family != "groupbert" for name in names}

    assert page.partition("## Differs")[2].partition("## ")[0].split() == ["None."]
    assert classes - set(equal) == set()
