"""Run under torchrun, `run_orders.py CASES`: step torch's runtime through orders, and compare with one process.

Prints `{case: largest difference}` as JSON from rank 0; a case is `schedule stages microbatches`, as `1f1b 0,1,0 4`.
"""

from __future__ import annotations

import json
import sys
from datetime import timedelta
from typing import Any

import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.pipelining import PipelineStage

from pipelined.schedule import compute_order
from pipelined.torch_private import runtime

WIDTH, ROWS = 4, 2


def main(cases: list[str]) -> None:
    dist.init_process_group("gloo", timeout=timedelta(seconds=60))
    found = {}
    for case in cases:
        schedule, stages, microbatches = case.split()
        worst = torch.tensor(difference(schedule, [int(ipu) for ipu in stages.split(",")], int(microbatches)))
        dist.all_reduce(worst, dist.ReduceOp.MAX)
        found[case] = worst.item()
    if dist.get_rank() == 0:
        print(json.dumps(found))
    dist.destroy_process_group()


def difference(schedule: str, ipu_of_stage: list[int], microbatches: int) -> float:
    """Between this process and a single one: of outputs and losses, and of the gradients of its own stages."""
    torch.manual_seed(0)
    parts = [nn.Sequential(nn.Linear(WIDTH, WIDTH), nn.Tanh()) for _ in ipu_of_stage]
    inputs, target = torch.randn(2, microbatches * ROWS, WIDTH)
    expected = single(parts, inputs, target, microbatches)
    mine = [stage for stage, ipu in enumerate(ipu_of_stage) if ipu == dist.get_rank()]
    # Torch reads from the examples which tensors have a gradient that must be received.
    first, between = torch.empty(ROWS, WIDTH), torch.empty(ROWS, WIDTH, requires_grad=True)
    stages: list[Any] = [
        PipelineStage(parts[index], index, len(parts), torch.device("cpu"), (between if index else first,), (between,))
        for index in mine
    ]
    given = (inputs,) if 0 in mine else ()
    last = {"target": target, "losses": []} if len(parts) - 1 in mine else {}

    order = compute_order(ipu_of_stage, microbatches, schedule=schedule, training=False)
    with torch.no_grad():
        output = runtime(stages, order).step(*given)
    order = compute_order(ipu_of_stage, microbatches, schedule=schedule)
    trained = runtime(stages, order, loss_fn=nn.functional.mse_loss, scale_grads=False)
    trained.step(*given, **last)

    grads = [parameter.grad for stage in mine for parameter in parts[stage].parameters()]
    pairs = list(zip(grads, [grad for stage in mine for grad in expected[0][stage]], strict=True))
    if last:
        pairs += [(output, expected[1]), *zip(last["losses"], expected[2], strict=True)]
    return max(float((found.detach() - wanted).abs().max()) for found, wanted in pairs)


def single(parts: list[Any], inputs: Any, target: Any, microbatches: int) -> tuple[list[list[Any]], Any, list[Any]]:
    """The gradients of each part, the outputs, and the loss of each microbatch, in one process."""
    model = nn.Sequential(*parts)
    rows = zip(inputs.chunk(microbatches), target.chunk(microbatches), strict=True)
    losses = [nn.functional.mse_loss(model(given), wanted) for given, wanted in rows]
    for loss in losses:
        loss.backward()
    grads = [[parameter.grad for parameter in part.parameters()] for part in parts]
    model.zero_grad(set_to_none=True)
    return grads, model(inputs).detach(), [loss.detach() for loss in losses]


if __name__ == "__main__":
    main(sys.argv[1:])
