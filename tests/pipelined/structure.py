"""All that `deparallelize` promises to restore, as one value that can be compared."""

from __future__ import annotations

from typing import Any

import torch


def structure(model: Any) -> dict[str, Any]:
    """Keys, shapes, dtypes, storages, aliasing, `requires_grad`, module types in order, and hooks."""
    state = model.state_dict(keep_vars=True)
    return {
        "tensors": {name: _tensor(tensor) for name, tensor in state.items()},
        "parameters": {name: id(one) for name, one in model.named_parameters(remove_duplicate=False)},
        "buffers": {name: id(one) for name, one in model.named_buffers(remove_duplicate=False)},
        "modules": [(name, type(one)) for name, one in model.named_modules(remove_duplicate=False)],
        "hooks": {name: _hooks(one) for name, one in model.named_modules()},
        "attributes": {name: sorted(vars(one)) for name, one in model.named_modules() if name},
    }


def _tensor(tensor: torch.Tensor) -> tuple[Any, ...]:
    return tuple(tensor.shape), tensor.dtype, tensor.data_ptr(), tensor.requires_grad


def _hooks(module: torch.nn.Module) -> dict[str, list[int]]:
    hooks = {name: value for name, value in vars(module).items() if name.endswith("_hooks") and name != "_hooks"}
    return {name: [id(hook) for hook in value.values()] for name, value in hooks.items()}
