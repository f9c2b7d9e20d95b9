"""Balance the layers of a model over the IPUs of a config."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pipelined.allocation import Assignment, allocate
from pipelined.balance import INFINITE, Balance, Load, balance
from pipelined.catalog import placement_for
from pipelined.config import IPUConfig
from pipelined.costs import estimated_loads, measured_loads
from pipelined.errors import PlacementError
from pipelined.overview import run_empty
from pipelined.registry import to_pipelined


def balance_layers(
    model: Any,
    config: IPUConfig,
    inputs: Mapping[str, Any] | None = None,
    *,
    measured: bool = False,
    memory_limit: float = INFINITE,
) -> Balance:
    """The counts of layers that load the IPUs most evenly; `layers_per_ipu` takes them as they are.

    What `layers_per_ipu` fixes stays fixed, and a wildcard is free. Compute is estimated by counting operations, or
    `measured` in this process; `memory_limit` is in bytes of parameters an IPU. The model stays as it is.
    """
    ipus, asked = config._ipus_per_replica, list(config._layers_per_ipu)
    pipelined = to_pipelined(model, IPUConfig(), force=True)
    placement = type(pipelined).placement or placement_for(pipelined, type(model))
    assignments = allocate(pipelined, placement, config)
    layers = [one for one in assignments if one.layer is not None]
    if not layers:
        raise PlacementError(
            f"{type(model).__name__} has a fixed place for every part, so there are no layers to balance",
            hint="leave layers_per_ipu as it is",
        )
    pipelined.parallelize()
    given, flow = run_empty(pipelined, inputs)
    loads = measured_loads(pipelined, given) if measured else estimated_loads(pipelined, flow)
    return balance(
        [_load_of(layer.layer, assignments, loads) for layer in layers],
        asked if len(asked) == ipus else [-1] * ipus,
        besides=[_carried(ipu, assignments, loads) for ipu in range(ipus)],
        memory_limit=memory_limit,
    )


def _load_of(layer: int | None, assignments: tuple[Assignment, ...], loads: Mapping[str, Load]) -> Load:
    """A layer and the parts that go with it."""
    found = [loads.get(one.module, Load()) for one in assignments if layer in (one.layer, one.follows)]
    return sum(found, start=Load())


def _carried(ipu: int, assignments: tuple[Assignment, ...], loads: Mapping[str, Load]) -> Load:
    """The parts whose place on this IPU does not depend on where layers go."""
    found = [one for one in assignments if one.ipu == ipu and one.layer is None and one.follows is None]
    return sum((loads.get(one.module, Load()) for one in found), start=Load())
