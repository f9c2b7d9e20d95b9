"""How a trainer evaluates: several batches in the pipeline together, each with the loss and outputs of the whole."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from transformers import Trainer

from pipelined.ahead import Ahead
from pipelined.replicas import ReplicaAccelerator
from pipelined.routed import Routed
from pipelined.trainer_session import InSession

FILLED = 2
"""How many batches for each IPU are evaluated together: with so many it waits a third of the time, at most."""


class EvaluatedTogether(InSession):
    """A trainer of a model that is spread over a session's processes, as far as evaluation is concerned."""

    accelerator: ReplicaAccelerator
    label_smoother: Any
    _routed: Routed
    _loss_only = False

    def evaluation_loop(self, dataloader: Any, *args: Any, **kwargs: Any) -> Any:
        """As in `Trainer`, but that several batches are in the pipeline together."""
        # Metrics batch by batch ask accelerate which is the last, and what is generated depends on what was before.
        alone = self.args.batch_eval_metrics or getattr(self.args, "predict_with_generate", False)
        if self.session.ranks.ipus == 1 or alone or not self._has_own_loss():
            return super().evaluation_loop(dataloader, *args, **kwargs)
        count = FILLED * self.session.ranks.ipus
        self.accelerator.ahead = Ahead(dataloader, count, self._answers)
        loss_only = kwargs.get("prediction_loss_only")
        self._loss_only = self.args.prediction_loss_only if loss_only is None else loss_only
        try:
            return super().evaluation_loop(self.accelerator.ahead, *args, **kwargs)
        finally:
            self.accelerator.ahead, self._loss_only = None, False

    def prediction_step(self, model: Any, inputs: Any, prediction_loss_only: Any, ignore_keys: Any = None) -> Any:
        """As in `Trainer`, the same in every process of a replica; a loss is that of the replica's batch."""
        with self._counting_items_here():
            return super().prediction_step(model, inputs, prediction_loss_only, ignore_keys=ignore_keys)

    def _has_own_loss(self) -> bool:
        """Whether the loss is what the model says it is."""
        plain = type(self).compute_loss is Trainer.compute_loss
        return plain and not (self.label_smoother or self.compute_loss_func)

    @contextmanager
    def _counting_items_here(self) -> Iterator[None]:
        """While this lasts items are not counted over replicas.

        Trainer would multiply losses by the number of replicas, and take their mean: too much, where models count none.
        """
        before, self.args.average_tokens_across_devices = self.args.average_tokens_across_devices, False
        try:
            yield
        finally:
            self.args.average_tokens_across_devices = before

    def _answers(self, batches: Sequence[Any]) -> list[tuple[Mapping[str, Any], Any]]:
        """For each batch what `Trainer` will give the model, and what the model returns."""
        with self._counting_items_here():
            given = [self._given(batch) for batch in batches]
        with self._routed.inside():
            answers = self.session.evaluate_each(given, keep=_only_loss if self._loss_only else None)
        return list(zip(given, answers, strict=True))

    def _given(self, batch: Any) -> dict[str, Any]:
        inputs = dict(self._prepare_inputs(batch))
        labelled = bool(self.label_names) and all(inputs.get(name) is not None for name in self.label_names)
        items = self._get_num_items_in_batch([inputs], self.args.device) if labelled else None
        counted = self.model_accepts_loss_kwargs and items is not None
        return {**inputs, "num_items_in_batch": items} if counted else inputs

    def _outside(self, inputs: dict[str, Any]) -> Any:
        """What the model returns to whoever calls it: all processes compute it, and all get it."""
        if self.accelerator.ahead is not None and (known := self.accelerator.ahead.answer(inputs)) is not None:
            return known
        has_loss = any(inputs.get(name) is not None for name in self.label_names) or self.can_return_loss
        # A loss is that of all samples at once, and no mean of the means of some.
        with self._open(), self._routed.inside():
            return self.session.evaluate(inputs, microbatches=1 if has_loss else None)


def _only_loss(output: Any) -> Any:
    """The output without anything but its loss, where it has one."""
    if isinstance(output, dict):
        return type(output)(loss=output["loss"]) if output.get("loss") is not None else output
    return output[:1]
