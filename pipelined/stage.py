"""One stage of a pipeline: the model's own forward, in which only the stage's blocks compute.

Calls of other stages return what has been received, or an empty tensor of the right shape where nothing that depends on
it is used here. The forward stops after the stage's last block; in the last stage it runs to its end.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import torch
from torch import nn
from torch.utils._pytree import tree_leaves, tree_unflatten

from pipelined.dataflow import Argument, Call, Dataflow, Returned, Slot
from pipelined.errors import PipelineError
from pipelined.plan import Plan
from pipelined.randomness import draw_from, keyed
from pipelined.sides import heard, retell
from pipelined.spans import span, turn

Finish = Callable[[Any, int], torch.Tensor]
"""Takes the model's output for a microbatch, and returns a tensor of one element to be differentiated."""

Skipped = Callable[[int, int], None]
"""Takes the index of a call that another stage makes, and the microbatch: told when the call would have been made."""


class Stage(nn.Module):
    """What `torch.distributed.pipelining` calls as the module of a stage.

    `microbatches` are the model's keyword arguments by microbatch; set them, `step`, and how many microbatches of the
    step there were `before` them, before each step.
    """

    def __init__(
        self,
        model: nn.Module,
        flow: Dataflow,
        plan: Plan,
        index: int,
        *,
        finish: Finish,
        seed: int,
        device: torch.device,
    ) -> None:
        super().__init__()
        # In a tuple, so that the whole model does not become a part of the stage.
        self._model = (model,)
        self.flow, self.plan, self.index = flow, plan, index
        self.finish, self.seed, self.device = finish, seed, device
        self.microbatches: Sequence[Mapping[str, Any]] = ()
        self.step = self.before = 0
        self.detaches = False
        """Whether the schedule splits backward passes: torch then detaches in place what a stage returns."""
        self.skipped: Skipped = nothing
        self._own = tuple(call for call, stage in enumerate(plan.stage_of_call) if stage == index)
        self._received = plan.payloads[index - 1] if index else ()
        self._sent = plan.payloads[index] if index < len(plan.payloads) else ()
        self.is_last = index == len(plan.ipu_of_stage) - 1

    def parameters(self, recurse: bool = True) -> Iterator[nn.Parameter]:  # noqa: FBT001, FBT002 - torch's signature
        """Those of the stage's own blocks, and those outside blocks."""
        names = {self.flow.calls[call].module for call in self._own}
        model = self._model[0]
        seen = {parameter: None for name in sorted(names) for parameter in model.get_submodule(name).parameters()}
        glue = {name: parameter for name, parameter in model.named_parameters() if name in self.flow.glue_parameters}
        yield from {**seen, **dict.fromkeys(glue.values())}

    def forward(self, *payload: torch.Tensor, microbatch: torch.Tensor) -> tuple[torch.Tensor, ...]:
        """Take what the stage before sends and return what the stage after needs, or what `finish` makes in the last.

        `microbatch` holds one number, an index into `microbatches`.
        """
        number = int(microbatch)
        model = self._model[0]
        run = Pass(self, dict(zip(self._received, payload, strict=True)), number)
        _refuse_second(model)
        model.__dict__[CURRENT] = run
        try:
            with span("glue"), keyed(self.seed, self.step, self.before + number):
                output = model(**self.microbatches[number])
        except _StageDoneError:
            for index in range(run.next, len(self.flow.calls)):
                self.skipped(index, number)
            return tuple(self._sendable(run.collected[index]) for index in self._sent)
        finally:
            del model.__dict__[CURRENT]
        if not self.is_last or run.next != len(self.flow.calls):
            raise PipelineError(
                f"the forward ended after {run.next} of {len(self.flow.calls)} calls of blocks",
                hint="what it calls must not depend on anything but the shapes of its inputs",
            )
        with span("ending"):
            return (self._sendable(self.finish(output, number).reshape(1)),)

    def _sendable(self, tensor: torch.Tensor) -> torch.Tensor:
        """Contiguous; and where the schedule takes it off its graph in place, neither a view nor a receive buffer."""
        shared = tensor.is_leaf or tensor._base is not None
        if self.detaches and tensor.requires_grad and shared:
            return tensor.clone(memory_format=torch.contiguous_format)
        return tensor.contiguous()


CURRENT = "_pipeline_pass"


class Pass:
    """One run of the forward in one stage."""

    def __init__(self, stage: Stage, received: dict[int, torch.Tensor], microbatch: int) -> None:
        self.stage, self.received, self.microbatch = stage, received, microbatch
        self._key = (stage.seed, stage.step, stage.before + microbatch)
        self.collected = dict(received)
        self.next = 0

    def call(self, name: str, compute: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """What this call of a block returns here; it ends the forward where nothing more is needed of it."""
        index, self.next = self.next, self.next + 1
        flow, plan = self.stage.flow, self.stage.plan
        if index >= len(flow.calls) or flow.calls[index].module != name:
            expected = flow.calls[index].module if index < len(flow.calls) else "the end"
            raise PipelineError(
                f"the forward took another way than in the dry run: it called {name} where {expected} was next",
                hint="what it calls must not depend on anything but the shapes of its inputs",
            )
        call = flow.calls[index]
        if plan.stage_of_call[index] != self.stage.index:
            self.stage.skipped(index, self.microbatch)
            self._draw_behind(index)
            return self._elsewhere(call, args, kwargs)
        with span("blocks"), heard(self.stage._model[0], call.sides) as sides:
            draw_from(*self._key, index)
            output = compute(*args, **kwargs)
        self._draw_behind(index)
        self._collect(call.module, call.returned, output)
        for side, kept in zip(call.sides, sides, strict=True):
            self._collect(side.part, side.returned, kept)
        if index == self.stage._own[-1] and not self.stage.is_last:
            raise _StageDoneError
        if self.next == len(flow.calls):
            turn("ending")
        return output

    def _draw_behind(self, index: int) -> None:
        """Have the code behind a block draw the same wherever the block is; to put its stream back would cost more."""
        draw_from(*self._key, index, 1)

    def _collect(self, module: str, returned: Returned, output: Any) -> None:
        """Keep what the next stages need, as it is before code outside blocks writes into it."""
        leaves = tree_leaves(output)
        if len(leaves) != len(returned.leaves):
            raise PipelineError(f"{module} returned {len(leaves)} things, not {len(returned.leaves)}")
        for slot, leaf in zip(returned.leaves, leaves, strict=True):
            if not isinstance(slot, Slot):
                continue
            value = self.stage.flow.values[slot.value]
            if tuple(leaf.shape) != value.shape or _name(leaf.dtype) != value.dtype:
                raise PipelineError(
                    f"{module} returned {_name(leaf.dtype)} {list(leaf.shape)} where the dry run had {value.dtype}"
                    f" {list(value.shape)}",
                    hint="shapes must not depend on what the inputs hold",
                )
            if slot.value in self.stage._sent:
                self.collected[slot.value] = leaf.clone() if value.written else leaf

    def _elsewhere(self, call: Call, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """What a block of another stage returns: received tensors, and empty ones. Its sides are told on the way."""
        takes = call.sides or any(isinstance(one, Argument) for one in call.returned.leaves)
        given = tree_leaves((args, kwargs)) if takes else []
        for side in call.sides:
            part = self.stage._model[0].get_submodule(side.part)
            retell(part, [self._leaf(one, given) for one in side.given], self._tree(side.returned, given))
        return self._tree(call.returned, given)

    def _tree(self, returned: Returned, given: list[Any]) -> Any:
        return tree_unflatten([self._leaf(one, given) for one in returned.leaves], returned.spec)

    def _leaf(self, noted: Any, given: list[Any]) -> Any:
        if isinstance(noted, Argument):
            return given[noted.index]
        if not isinstance(noted, Slot):
            return noted
        if noted.value in self.received:
            # A copy: what is received is a leaf of autograd, and writing into one is an error.
            return self.received[noted.value].clone()
        value = self.stage.flow.values[noted.value]
        empty = torch.zeros((), dtype=getattr(torch, value.dtype), device=self.stage.device)
        # Without memory of its own, unless it is to be written into.
        return empty.expand(value.shape).clone() if value.written else empty.expand(value.shape)


def nothing(call: int, microbatch: int) -> None:
    """What is done about skipped calls where nobody asks for anything."""


class _StageDoneError(BaseException):
    """Ends a forward of which nothing more is needed; not an Exception, which a model might catch."""


def _refuse_second(model: nn.Module) -> None:
    if CURRENT in model.__dict__:
        raise PipelineError("the forward of a pipelined model called the model itself")


def _name(dtype: torch.dtype) -> str:
    return str(dtype).removeprefix("torch.")
