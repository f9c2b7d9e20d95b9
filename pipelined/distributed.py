"""Spread a model over the processes that `torchrun` started: one process an IPU, in each replica."""

from __future__ import annotations

from contextlib import ExitStack
from datetime import timedelta
from pathlib import Path
from typing import Any

import torch
from torch import nn
from torch.distributed.device_mesh import DeviceMesh

from pipelined.config import IPUConfig
from pipelined.flows import sample_flow
from pipelined.holders import Holders, holders
from pipelined.layerdrop import layerdrop_inside
from pipelined.loading import Pretrained
from pipelined.microbatches import Batch
from pipelined.profiling import Profiler
from pipelined.raising import raised_by_all
from pipelined.ranks import Ranks, join
from pipelined.registry import to_pipelined
from pipelined.runner import Runner
from pipelined.session import MakeOptimizer, Session
from pipelined.spans import Spans, clock_of


def distribute(
    model: nn.Module | str | Path | Pretrained,
    ipu_config: IPUConfig,
    *,
    optimizer: MakeOptimizer | None = None,
    max_grad_norm: float | None = None,
    device: torch.device | str | None = None,
    mesh: DeviceMesh | None = None,
    example: Batch | None = None,
    timeout: float = 1800.0,
    profile: bool = False,
    model_class: Any = None,
    dtype: torch.dtype | None = None,
) -> Session:
    """A session in which the processes compute the model together; use it in a `with` statement.

    The model's placement and the config say which IPU computes what; the config also says how many replicas there are,
    which schedule runs and how many microbatches. Parameters of this process's part are the model's own, moved to the
    device; of the others it keeps nothing. The model must be the same in every process.

    Instead of a model there can be a folder, or the name of a repository of the Hugging Face hub, with safetensors and
    a configuration: then no process ever has more than its part. `model_class` and `dtype` are for these where the
    configuration names other ones; `Pretrained` has more to choose.

    `optimizer` makes one of the parameters that are here; where none of them trains there is an empty one besides.
    `example` is a batch to find out with what flows, where none can be made up. `mesh` has dimensions `dp` and `pp`,
    for processes in another order than IPU by IPU, replica by replica. `timeout` is in seconds: how long to wait for a
    process that says nothing. With `profile` the session records what its processes spend their time on, for
    `Session.profile`. PipelineError where the number of processes does not fit, and in every process where one of them
    cannot place or load the model, or make the optimizer.
    """
    ipus, replicas = ipu_config._ipus_per_replica, ipu_config.replication_factor
    ranks = join(ipus, replicas, device=device, mesh=mesh, timeout=timedelta(seconds=timeout))
    given = Pretrained(model, model_class, dtype) if isinstance(model, str | Path) else model
    with ExitStack() as undo:
        undo.callback(ranks.close)
        with raised_by_all(ranks):
            pipelined, held = _placed(given, ipu_config, ranks, example)
        execution = ipu_config.execution
        runner = Runner(pipelined, ranks, schedule=execution.schedule, seed=ipu_config.seed or 0)
        microbatches = execution.microbatches or ipu_config.gradient_accumulation_steps
        session = Session(pipelined, runner, held, microbatches=microbatches)
        session.max_grad_norm = max_grad_norm
        if profile:
            session.profiler = Profiler(Spans(clock_of(ranks.device)))
        with raised_by_all(ranks):
            session.optimizer = optimizer(_trained(session)) if optimizer is not None else None
        undo.pop_all()
    return session


def _trained(session: Session) -> list[nn.Parameter]:
    """The parameters of this process, with an empty one besides where none of them trains: optimizers want one."""
    own = list(session.parameters().values())
    return (
        own
        if any(one.requires_grad for one in own)
        else [*own, nn.Parameter(torch.empty(0, device=session.ranks.device))]
    )


def _placed(
    model: nn.Module | Pretrained, ipu_config: IPUConfig, ranks: Ranks, example: Batch | None
) -> tuple[Any, Holders]:
    """The pipelined model with the parameters that this process holds, and who holds what."""
    if isinstance(model, Pretrained):
        skeleton = model.skeleton(seed=ipu_config.seed or 0)
        # A pipelined class may have a constructor, which must not make what is elsewhere.
        with torch.device("meta"):
            pipelined = to_pipelined(skeleton, ipu_config, force=True)
    else:
        pipelined = to_pipelined(model, ipu_config, force=True)
    pipelined.parallelize()
    with layerdrop_inside(pipelined):
        held = holders(pipelined, ranks.ipus, sample_flow(pipelined, example).glue_parameters)
    if isinstance(model, Pretrained):
        model.fill(pipelined, held, ranks.ipu, ranks.device)
    _keep(pipelined, held, ranks.ipu, ranks.device)
    return pipelined, held


def _keep(model: nn.Module, held: Holders, ipu: int, device: torch.device) -> None:
    """Move what the IPU holds to the device, buffers too, and put empty parameters in the place of all others."""
    mine = set(held.held_by(ipu))
    empty: dict[nn.Parameter, nn.Parameter] = {}
    for path, module in model.named_modules(remove_duplicate=False):
        for own, parameter in module._parameters.items():
            if parameter is None:
                continue
            name = held.names[f"{path}.{own}" if path else own]
            if name in mine:
                parameter.data = parameter.data.to(device)
            else:
                gone = nn.Parameter(parameter.detach().to("meta"), parameter.requires_grad)
                module._parameters[own] = empty.setdefault(parameter, gone)
        for own, buffer in module._buffers.items():
            if buffer is not None:
                module._buffers[own] = buffer.to(device)
