"""Where each process stands, and that a mesh may put it elsewhere."""

from __future__ import annotations

from typing import Any

import torch
import torch.distributed as dist
import transformers
from torch.distributed.device_mesh import init_device_mesh

from pipelined import Execution, IPUConfig, PipelineError, distribute
from pipelined.sample import sample_inputs
from tests.pipelined.processes import run
from tests.pipelined.tiny import tiny_model


def places() -> dict[str, tuple[int, int, float]]:
    """This process's IPU and replica and the loss of a step, with no mesh and with one that counts IPUs first."""
    dist.init_process_group("gloo")
    model = tiny_model(transformers.LlamaForCausalLM)
    config = IPUConfig(ipus_per_replica=2, replication_factor=2, execution=Execution(microbatches=2))
    found = {}
    for name, mesh in (("own", None), ("given", init_device_mesh("cpu", (2, 2), mesh_dim_names=("pp", "dp")))):
        with distribute(model, config, mesh=mesh) as pipe:
            loss = pipe.forward_backward(batches(model, pipe.ranks.replica))
            found[name] = (pipe.ranks.ipu, pipe.ranks.replica, float(loss))
    return found


def batches(model: Any, replica: int) -> list[dict[str, torch.Tensor]]:
    """Two microbatches that differ from replica to replica."""
    ids = sample_inputs(model)["input_ids"]
    return [{"input_ids": part, "labels": part} for part in (ids + replica, ids + replica + 2)]


def mean_loss() -> float:
    model = tiny_model(transformers.LlamaForCausalLM)
    with torch.no_grad():
        losses = [[model(**batch).loss / 2 for batch in batches(model, replica)] for replica in range(2)]
    return float((losses[0][0] + losses[0][1] + (losses[1][0] + losses[1][1])) / 2)


def test_a_mesh_says_which_process_is_which_ipu_of_which_replica() -> None:
    loss = mean_loss()

    assert run(places, processes=4) == [
        {"own": (0, 0, loss), "given": (0, 0, loss)},
        {"own": (1, 0, loss), "given": (0, 1, loss)},
        {"own": (0, 1, loss), "given": (1, 0, loss)},
        {"own": (1, 1, loss), "given": (1, 1, loss)},
    ]


def refused_mesh() -> str:
    dist.init_process_group("gloo")
    mesh = init_device_mesh("cpu", (1, 2), mesh_dim_names=("data", "pp"))
    try:
        distribute(tiny_model(transformers.LlamaForCausalLM), IPUConfig(ipus_per_replica=2), mesh=mesh)
    except PipelineError as error:
        return str(error)
    return "nothing"


def test_a_mesh_of_other_dimensions_is_refused_with_one_that_fits() -> None:
    message = (
        "the mesh has dimensions {'data': 1, 'pp': 2}, and the config asks for 1 replicas of 2 IPUs;"
        ' init_device_mesh(device_type, (1, 2), mesh_dim_names=("dp", "pp"))'
    )

    assert run(refused_mesh, processes=2) == [message, message]
