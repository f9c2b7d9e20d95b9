"""Pipeline-parallel versions of transformers models: `poptorch` blocks on IPUs, `torch.distributed` elsewhere."""

from importlib import import_module as _import_module
from typing import TYPE_CHECKING as _TYPE_CHECKING
from typing import Any as _Any

try:
    import torch as _torch  # noqa: F401
except ModuleNotFoundError as error:
    raise ImportError("pipelined needs torch and transformers: pip install 'mergeready[models]'") from error

from pipelined.balance_layers import balance_layers
from pipelined.blocks import (
    BeginBlock,
    Block,
    BlockFunction,
    MatMulSerializationMode,
    identity_loss,
    recomputation_checkpoint,
    recomputationCheckpoint,
    removeBlocks,
)
from pipelined.config import IPUConfig
from pipelined.errors import (
    BlockError,
    IncompatibleIPUConfigError,
    PipelineError,
    PlacementError,
    UnregisteredModelError,
)
from pipelined.execution import Execution
from pipelined.layers import get_layer_ipu, split_encoder_decoder_ipu_config
from pipelined.mixin import PipelineMixin
from pipelined.placement import Placement
from pipelined.registry import register, registered, to_pipelined
from pipelined.serialized import SerializedEmbedding, SerializedLinear, SharedEmbedding, SplitProjection

if _TYPE_CHECKING:
    from pipelined.distributed import distribute
    from pipelined.loading import Pretrained
    from pipelined.seq2seq_trainer import PipelineSeq2SeqTrainer
    from pipelined.session import Session
    from pipelined.trainer import IPUTrainer, PipelineTrainer
    from pipelined.training_arguments import IPUTrainingArguments

__all__ = [
    "BeginBlock",
    "Block",
    "BlockError",
    "BlockFunction",
    "Execution",
    "IPUConfig",
    "IPUTrainer",
    "IPUTrainingArguments",
    "IncompatibleIPUConfigError",
    "MatMulSerializationMode",
    "PipelineError",
    "PipelineMixin",
    "PipelineSeq2SeqTrainer",
    "PipelineTrainer",
    "Placement",
    "PlacementError",
    "Pretrained",
    "SerializedEmbedding",
    "SerializedLinear",
    "Session",
    "SharedEmbedding",
    "SplitProjection",
    "UnregisteredModelError",
    "balance_layers",
    "distribute",
    "get_layer_ipu",
    "identity_loss",
    "recomputationCheckpoint",
    "recomputation_checkpoint",
    "register",
    "registered",
    "removeBlocks",
    "split_encoder_decoder_ipu_config",
    "to_pipelined",
]

_LATER = {
    "IPUTrainer": "pipelined.trainer",
    "IPUTrainingArguments": "pipelined.training_arguments",
    "PipelineSeq2SeqTrainer": "pipelined.seq2seq_trainer",
    "PipelineTrainer": "pipelined.trainer",
    "Pretrained": "pipelined.loading",
    "Session": "pipelined.session",
    "distribute": "pipelined.distributed",
}
"""Names whose modules take long to import: they bring torch's own pipelining, or transformers' trainer."""


def __getattr__(name: str) -> _Any:
    if name in _LATER:
        return getattr(_import_module(_LATER[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
