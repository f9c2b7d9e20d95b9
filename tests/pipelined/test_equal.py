"""The gate: a pipelined model computes what the original computes, parallelized and after `deparallelize`.

A class that gets a placement joins by itself. Of the others, whose placement is found by looking, some of each kind
are here; `nox -s coverage_of_models` goes through all of them.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from pipelined import IPUConfig
from tests.pipelined.equality import differences
from tests.pipelined.families import all_classes, original, registered_classes
from tests.pipelined.tiny import tiny_model


@pytest.mark.parametrize("ipus", [1, 2, 4])
@pytest.mark.parametrize("name", registered_classes())
def test_a_registered_class_computes_what_the_original_computes(name: str, ipus: int) -> None:
    assert differences(tiny_model(original(name)), IPUConfig(ipus_per_replica=ipus)) == []


FURTHER = (Path(__file__).parent / "further.txt").read_text(encoding="utf-8").split()
"""One class of each of many families that have no placement of their own."""


@pytest.mark.parametrize("name", FURTHER)
def test_a_class_whose_placement_is_found_computes_what_the_original_computes(name: str) -> None:
    assert differences(tiny_model(all_classes()[name]), IPUConfig(ipus_per_replica=2), force=True) == []
