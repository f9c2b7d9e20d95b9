"""Spread a model over the processes that `torchrun` started: one process an IPU, in each replica."""

from __future__ import annotations

from datetime import timedelta

import torch
from torch import nn

from pipelined.config import IPUConfig
from pipelined.flows import sample_flow
from pipelined.holders import Holders, holders
from pipelined.layerdrop import layerdrop_inside
from pipelined.microbatches import Batch
from pipelined.ranks import join
from pipelined.registry import to_pipelined
from pipelined.runner import Runner
from pipelined.session import MakeOptimizer, Session


def distribute(
    model: nn.Module,
    ipu_config: IPUConfig,
    *,
    optimizer: MakeOptimizer | None = None,
    max_grad_norm: float | None = None,
    device: torch.device | str | None = None,
    example: Batch | None = None,
    timeout: float = 1800.0,
) -> Session:
    """A session in which the processes compute the model together; use it in a `with` statement.

    The model's placement and the config say which IPU computes what; the config also says how many replicas there are,
    which schedule runs and how many microbatches. Parameters of this process's part are the model's own, moved to the
    device; of the others it keeps nothing. The model must be the same in every process.

    `optimizer` makes one of the parameters that are here. `example` is a batch to find out with what flows, where none
    can be made up. `timeout` is in seconds: how long to wait for a process that says nothing. PipelineError where the
    number of processes does not fit.
    """
    ranks, _ = join(ipu_config._ipus_per_replica, ipu_config.replication_factor, device, timedelta(seconds=timeout))
    pipelined = to_pipelined(model, ipu_config, force=True).parallelize()
    with layerdrop_inside(pipelined):
        held = holders(pipelined, ranks.ipus, sample_flow(pipelined, example).glue_parameters)
    _keep(pipelined, held, ranks.ipu, ranks.device)
    execution = ipu_config.execution
    runner = Runner(pipelined, ranks, schedule=execution.schedule, seed=ipu_config.seed or 0)
    microbatches = execution.microbatches or ipu_config.gradient_accumulation_steps
    session = Session(pipelined, runner, held, microbatches=microbatches)
    session.max_grad_norm = max_grad_norm
    if optimizer is not None:
        session.optimizer = optimizer(list(session.parameters().values()))
    return session


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
