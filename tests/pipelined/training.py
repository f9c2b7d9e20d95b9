"""Small runs of a trainer: the same call for `transformers.Trainer` in one process and for ours in several."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch
import transformers

from tests.pipelined.tiny import tiny_model

WITHOUT_DROPOUT = (
    *("hidden_dropout_prob", "attention_probs_dropout_prob", "resid_pdrop", "embd_pdrop", "attn_pdrop"),
    "dropout_rate",
)
TIMES = ("runtime", "per_second", "preparation_time")


class Rows(torch.utils.data.Dataset[Any]):
    """Rows of tokens, of different lengths if they are `ragged`, else padded to one."""

    def __init__(self, labels: str, count: int, *, seed: int = 0, ragged: bool = False) -> None:
        generator = torch.Generator().manual_seed(seed)
        self.rows = [_row(labels, generator, ragged=ragged) for _ in range(count)]

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, index: int) -> dict[str, torch.Tensor]:
        return self.rows[index]


def _row(labels: str, generator: torch.Generator, *, ragged: bool) -> dict[str, torch.Tensor]:
    length = int(torch.randint(5, 12, (1,), generator=generator))
    size = length if ragged else 12
    ids = torch.randint(3, 90, (size,), generator=generator)
    mask = (torch.arange(size) < length).long()
    row = {"input_ids": ids, "attention_mask": mask}
    if labels == "class":
        return {**row, "labels": torch.randint(0, 2, (), generator=generator)}
    if labels == "tokens":
        return {**row, "labels": ids.masked_fill(mask == 0, -100)}
    target = torch.randint(3, 90, (8,), generator=generator)
    return {**row, "labels": target.masked_fill(torch.arange(8) >= length, -100)}


def model_of(name: str) -> Any:
    """A tiny model that draws nothing."""
    cls = getattr(transformers, name)
    known = vars(cls.config_class())
    given = {field: 0.0 for field in WITHOUT_DROPOUT if field in known}
    depth = {field: 2 for field in ("num_hidden_layers", "n_layer", "num_layers") if field in known}
    return tiny_model(cls, **given, **depth, **({"decoder_start_token_id": 0} if "T5" in name else {}))


LABELS = {
    "BertForSequenceClassification": "class",
    "GPT2LMHeadModel": "tokens",
    "LlamaForCausalLM": "tokens",
    "T5ForConditionalGeneration": "target",
}


def arguments(folder: Path | str, kind: Any = transformers.TrainingArguments, **given: Any) -> Any:
    """Two epochs of five batches, in steps of two, logged and evaluated."""
    chosen = {
        "per_device_train_batch_size": 4,
        "per_device_eval_batch_size": 4,
        "gradient_accumulation_steps": 2,
        "num_train_epochs": 2,
        "learning_rate": 1e-3,
        "warmup_steps": 1,
        "weight_decay": 0.1,
        "logging_steps": 1,
        "eval_strategy": "steps",
        "eval_steps": 2,
        "save_strategy": "no",
        "include_num_input_tokens_seen": "all",
        "seed": 5,
        "report_to": [],
        "use_cpu": True,
        "disable_tqdm": True,
    }
    return kind(str(folder), **{**chosen, **given})


def sums(prediction: Any) -> dict[str, float]:
    """A metric of everything that was predicted."""
    first = prediction.predictions[0] if isinstance(prediction.predictions, tuple) else prediction.predictions
    return {"sum": float(np.abs(first).sum()), "rows": float(len(first))}


class Events(transformers.TrainerCallback):  # type: ignore[misc, unused-ignore]
    """What was called, and at which step."""

    def __init__(self) -> None:
        self.seen: list[tuple[str, int]] = []

    def __getattribute__(self, name: str) -> Any:
        found = super().__getattribute__(name)
        if not name.startswith("on_"):
            return found

        def note(args: Any, state: Any, control: Any, **kwargs: Any) -> Any:
            self.seen.append((name, state.global_step))
            return found(args, state, control, **kwargs)

        return note


def trainer_of(trainer: Callable[..., Any], name: str, args: Any, **given: Any) -> Any:
    """A trainer of that model on its data."""
    labels = LABELS[name]
    chosen = {
        "model": model_of(name),
        "train_dataset": Rows(labels, 19),
        "eval_dataset": Rows(labels, 7, seed=1),
        "compute_metrics": sums,
    }
    return trainer(args=args, **{**chosen, **given})


def history(trainer: Any) -> list[dict[str, float]]:
    """What was logged, but for times."""
    return [{key: value for key, value in one.items() if not key.endswith(TIMES)} for one in trainer.state.log_history]


def held(trainer: Any) -> dict[str, torch.Tensor]:
    """The parameters that this process holds, by name."""
    return {name: one.detach().clone() for name, one in trainer.model.named_parameters() if not one.is_meta}


def plain(
    base: Any,
    folder: Path,
    options: dict[str, Any],
    names: tuple[str, ...] = tuple(LABELS),
    rows: int = 19,
    **given: Any,
) -> dict[str, Any]:
    """Each model trained, evaluated on the way, and asked to predict."""
    found = {}
    for name in names:
        # Replicas fill their last batch up with samples that come twice; a multiple of all their batches has none.
        data = {"train_dataset": Rows(LABELS[name], rows), "eval_dataset": Rows(LABELS[name], rows // 2, seed=1)}
        made = trainer_of(base, name, arguments(folder, **given), **data, **options)
        trained = made.train()
        found[name] = {
            "history": history(made),
            "loss": trained.training_loss,
            "operations": made.state.total_flos,
            "tokens": made.state.num_input_tokens_seen,
            "held": held(made),
            "predicted": _first(made.predict(Rows(LABELS[name], 8, seed=2)).predictions),
        }
    return found


def ways(base: Any, folder: Path, options: dict[str, Any]) -> dict[str, Any]:
    """What was logged, and what the weights became, for each way to train that a trainer has an argument for."""
    few = partial(arguments, folder, num_train_epochs=1)
    made: dict[str, Callable[[], Any]] = {
        "smoothed labels of a language model": lambda: trainer_of(
            base, "GPT2LMHeadModel", few(label_smoothing_factor=0.1), **options
        ),
        "smoothed labels of a classifier": lambda: trainer_of(
            base, "BertForSequenceClassification", few(label_smoothing_factor=0.1), **options
        ),
        "a loss function": lambda: trainer_of(
            base, "LlamaForCausalLM", few(), compute_loss_func=summed_loss, **options
        ),
        "an overridden loss": lambda: trainer_of(
            _with_own_loss(base), "BertForSequenceClassification", few(), **options
        ),
        "an optimizer": lambda: _with_momentum(base, few(), options),
        "lengths that differ": lambda: trainer_of(
            base,
            "LlamaForCausalLM",
            few(train_sampling_strategy="group_by_length"),
            train_dataset=Rows("tokens", 19, ragged=True),
            data_collator=padded,
            **options,
        ),
        "checkpointing": lambda: trainer_of(
            base, "BertForSequenceClassification", few(activation_checkpointing=True), **options
        ),
        "bfloat16": lambda: trainer_of(base, "LlamaForCausalLM", few(bf16=True), **options),
        "a stream": lambda: trainer_of(
            base,
            "LlamaForCausalLM",
            few(max_steps=4),
            train_dataset=Stream(Rows("tokens", 19)),
            **options,
        ),
        "a plateau": lambda: trainer_of(
            base,
            "GPT2LMHeadModel",
            few(lr_scheduler_type="reduce_lr_on_plateau", metric_for_best_model="loss", warmup_steps=0),
            **options,
        ),
        "no clipping": lambda: trainer_of(base, "GPT2LMHeadModel", few(max_grad_norm=0.0), **options),
        "replaced models": lambda: trainer_of(
            base, "LlamaForCausalLM", few(), model=None, model_init=_llama, **options
        ),
        "adapters": lambda: trainer_of(base, "LlamaForCausalLM", few(), model=_adapted(), **options),
        "accumulated evaluation": lambda: trainer_of(
            base, "T5ForConditionalGeneration", few(eval_accumulation_steps=1), **options
        ),
    }
    found = {}
    for what, make in made.items():
        trainer = make()
        trainer.train()
        found[what] = {"history": history(trainer), "held": held(trainer)}
    return found


def best(base: Any, folder: Path, options: dict[str, Any]) -> dict[str, Any]:
    """Training that stops early and goes back to the best checkpoint, with every call of a callback."""
    events = Events()
    stop = transformers.EarlyStoppingCallback(early_stopping_patience=2)
    args = arguments(
        folder / "best",
        num_train_epochs=8,
        learning_rate=0.3,
        optim="sgd",
        save_strategy="steps",
        save_steps=2,
        load_best_model_at_end=True,
        metric_for_best_model="loss",
        save_total_limit=2,
    )
    trainer = trainer_of(base, "BertForSequenceClassification", args, callbacks=[events, stop], **options)
    trainer.train()
    return {
        "events": events.seen,
        "history": history(trainer),
        "held": held(trainer),
        "evaluated": {key: value for key, value in trainer.evaluate().items() if not key.endswith(TIMES)},
        "best": Path(trainer.state.best_model_checkpoint).name,
        "checkpoints": sorted(path.name for path in (folder / "best").glob("checkpoint-*")),
    }


def resumed(
    base: Any, folder: Path, options: dict[str, Any], checkpoints: tuple[str | None, ...] = (None, "checkpoint-4")
) -> list[dict[str, Any]]:
    """Training with dropout from the beginning, and from checkpoints of what was done before, to the end."""
    found = []
    for checkpoint in checkpoints:
        torch.manual_seed(0)
        model = tiny_model(transformers.BertForSequenceClassification, num_hidden_layers=2)
        args = arguments(folder, save_strategy="steps", save_steps=2)
        trainer = trainer_of(base, "BertForSequenceClassification", args, model=model, **options)
        trainer.train(resume_from_checkpoint=None if checkpoint is None else str(folder / checkpoint))
        # Of the loss of training only what this call has trained is known.
        logged = [{key: one for key, one in entry.items() if key != "train_loss"} for entry in history(trainer)]
        found.append({"history": logged, "held": held(trainer)})
    return found


def saved(base: Any, folder: Path, options: dict[str, Any]) -> dict[str, Any]:
    """What a trained model is to plain transformers, and to a trainer that is given the folder."""
    trainer = trainer_of(base, "LlamaForCausalLM", arguments(folder, max_steps=1), **options)
    trainer.train()
    trainer.save_model()
    again = trainer_of(base, "LlamaForCausalLM", arguments(folder), model=str(folder), **options)
    batch = padded([Rows("tokens", 4)[index] for index in range(4)])
    return {
        "files": sorted(path.name for path in folder.iterdir() if path.suffix == ".json"),
        "evaluated": trainer.evaluate()["eval_loss"],
        "from the folder": again.evaluate()["eval_loss"],
        "called": trainer.model(**batch).logits,
        "called by position": trainer.model(batch["input_ids"], batch["attention_mask"]).logits,
    }


def generated(base: Any, folder: Path, options: dict[str, Any]) -> dict[str, Any]:
    """What is evaluated and predicted by generating; `base` is a trainer of sequences or has one beside it."""
    from pipelined import PipelineSeq2SeqTrainer

    chosen = transformers.Seq2SeqTrainer if base is transformers.Trainer else PipelineSeq2SeqTrainer
    args = arguments(
        folder, transformers.Seq2SeqTrainingArguments, max_steps=2, predict_with_generate=True, generation_max_length=6
    )
    trainer = trainer_of(chosen, "T5ForConditionalGeneration", args, **options)
    trainer.train()
    predicted = trainer.predict(Rows("target", 6, seed=2))
    return {"history": history(trainer), "tokens": predicted.predictions, "loss": predicted.metrics["test_loss"]}


def refused(base: Any, folder: Path, options: dict[str, Any]) -> dict[str, str]:
    """What is said of what a trainer cannot do."""
    from pipelined import PipelineError

    foreign = torch.optim.SGD(model_of("LlamaForCausalLM").parameters(), lr=0.1)
    attempts: dict[str, Callable[[], Any]] = {
        "fp16": lambda: trainer_of(base, "LlamaForCausalLM", arguments(folder, fp16=True), **options),
        "a foreign optimizer": lambda: trainer_of(
            base, "LlamaForCausalLM", arguments(folder), optimizers=(foreign, None), **options
        ),
        "other inputs": lambda: trainer_of(
            _with_other_inputs(base), "LlamaForCausalLM", arguments(folder), **options
        ).train(),
    }
    found = {}
    for what, attempt in attempts.items():
        try:
            attempt()
        except PipelineError as error:
            found[what] = str(error)
    return found


def summed_loss(outputs: Any, labels: torch.Tensor, num_items_in_batch: Any = None) -> torch.Tensor:
    """Cross entropy over all tokens of a step."""
    logits = outputs["logits"][:, :-1].flatten(0, 1)
    loss = torch.nn.functional.cross_entropy(logits, labels[:, 1:].flatten(), reduction="sum")
    return loss / num_items_in_batch


class Stream(torch.utils.data.IterableDataset[Any]):
    """Rows one after another, of which nobody knows how many there are."""

    def __init__(self, rows: Rows) -> None:
        self.rows = rows

    def __iter__(self) -> Any:
        return iter(self.rows.rows)


def padded(rows: list[dict[str, torch.Tensor]]) -> dict[str, torch.Tensor]:
    """A batch of rows, each filled up to the longest."""
    fill = {"input_ids": 0, "attention_mask": 0, "labels": -100}
    return {
        key: torch.nn.utils.rnn.pad_sequence([row[key] for row in rows], batch_first=True, padding_value=value)
        for key, value in fill.items()
    }


def _with_own_loss(base: Any) -> Any:
    class WithOwnLoss(base):  # type: ignore[misc, valid-type, unused-ignore]
        def compute_loss(
            self, model: Any, inputs: Any, return_outputs: bool = False, num_items_in_batch: Any = None
        ) -> Any:
            outputs = model(**inputs)
            loss = outputs.loss + 0.1 * outputs.logits.square().mean()
            return (loss, outputs) if return_outputs else loss

    return WithOwnLoss


def _with_other_inputs(base: Any) -> Any:
    class WithOtherInputs(base):  # type: ignore[misc, valid-type, unused-ignore]
        def training_step(self, model: Any, inputs: Any, num_items_in_batch: Any = None) -> Any:
            return super().training_step(model, dict(inputs), num_items_in_batch)

    return WithOtherInputs


def _with_momentum(base: Any, args: Any, options: dict[str, Any]) -> Any:
    model = model_of("LlamaForCausalLM")
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: 1 / (1 + step))
    return trainer_of(base, "LlamaForCausalLM", args, model=model, optimizers=(optimizer, schedule), **options)


def _llama() -> Any:
    return model_of("LlamaForCausalLM")


def _adapted() -> Any:
    from peft import LoraConfig, get_peft_model

    torch.manual_seed(1)
    config = LoraConfig(target_modules=["q_proj", "v_proj"], lora_dropout=0.0, init_lora_weights=False)
    return get_peft_model(model_of("LlamaForCausalLM"), config)


def _first(predictions: Any) -> Any:
    return predictions[0] if isinstance(predictions, tuple) else predictions


def in_processes(folder: str, *, ipus: int, replicas: int = 1, cases: tuple[str, ...], **given: Any) -> dict[str, Any]:
    """What came of these functions of this module, with our trainer."""
    from pipelined import IPUConfig, PipelineTrainer

    options = {"ipu_config": IPUConfig(ipus_per_replica=ipus, replication_factor=replicas)}
    return {case: globals()[case](PipelineTrainer, Path(folder) / case, options, **given) for case in cases}
