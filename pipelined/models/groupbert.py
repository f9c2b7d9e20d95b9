"""GroupBERT, a BERT whose layers also convolve and whose feed-forward parts are grouped (arXiv:2106.05822).

A layer is four residual steps, each with its normalisation first: a gated grouped convolution, a grouped feed-forward,
self-attention, and a second grouped feed-forward. The parameter names are those of optimum-graphcore's checkpoints.
Embeddings, pooler and heads are BERT's.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import nn
from transformers.activations import ACT2FN
from transformers.models.bert import modeling_bert as bert
from transformers.models.bert.configuration_bert import BertConfig


class GroupBertConfig(BertConfig):
    """A BERT configuration and the sizes of the groups."""

    model_type = "groupbert"

    ffn_groups: int = 4
    """Groups of the second matrix of a feed-forward part."""
    conv_group_size: int = 16
    """Channels of one group of the convolution."""
    conv_kernel_size: int = 7
    """Positions that the convolution looks at; an odd number keeps the length."""


class GroupBertConvolution(nn.Module):
    """Mix neighbouring positions: (batch, length, hidden) to the same."""

    def __init__(self, config: Any) -> None:
        super().__init__()
        size = config.hidden_size
        self.prenorm = nn.LayerNorm(size, eps=config.layer_norm_eps)
        self.glu = nn.Linear(size, 2 * size)
        self.groupconv = nn.Conv1d(
            size,
            size,
            config.conv_kernel_size,
            padding=config.conv_kernel_size // 2,
            groups=size // config.conv_group_size,
        )
        self.conv_norm = nn.LayerNorm(size, eps=config.layer_norm_eps)
        self.output_projection = nn.Linear(size, size)
        self.dropout = nn.Dropout(config.hidden_dropout_prob)

    def forward(self, hidden_states: torch.Tensor, attention_mask: torch.Tensor | None) -> torch.Tensor:
        gates, values = self.glu(self.prenorm(hidden_states)).chunk(2, dim=-1)
        gated = values * torch.sigmoid(gates)
        if attention_mask is not None:
            # Attention skips padding by itself; a convolution would smear it into its neighbours.
            gated = gated * _kept(attention_mask).unsqueeze(-1)
        mixed = self.groupconv(gated.transpose(1, 2)).transpose(1, 2)
        mixed = nn.functional.silu(self.conv_norm(mixed))
        return hidden_states + self.dropout(self.output_projection(mixed))


class GroupBertIntermediate(nn.Module):
    """The first half of a feed-forward part: (batch, length, hidden) to (batch, length, intermediate)."""

    def __init__(self, config: Any) -> None:
        super().__init__()
        self.LayerNorm = nn.LayerNorm(config.hidden_size, eps=config.layer_norm_eps)
        self.dense = nn.Linear(config.hidden_size, config.intermediate_size)
        self.activation = ACT2FN[config.hidden_act]

    def forward(self, hidden_states: torch.Tensor) -> torch.Tensor:
        return self.activation(self.dense(self.LayerNorm(hidden_states)))


class GroupBertOutput(nn.Module):
    """The second half, in groups; a projection afterwards lets the groups see each other."""

    def __init__(self, config: Any) -> None:
        super().__init__()
        self.grouped_matmul = nn.Conv1d(config.intermediate_size, config.hidden_size, 1, groups=config.ffn_groups)
        self.dense_output_projection = nn.Linear(config.hidden_size, config.hidden_size)
        self.dropout = nn.Dropout(config.hidden_dropout_prob)

    def forward(self, hidden_states: torch.Tensor, residual: torch.Tensor) -> torch.Tensor:
        grouped = self.grouped_matmul(hidden_states.transpose(1, 2)).transpose(1, 2)
        return residual + self.dropout(self.dense_output_projection(grouped))


class GroupBertAttention(nn.Module):
    """BERT's self-attention between a normalisation and a residual connection."""

    def __init__(self, config: Any, layer_idx: int) -> None:
        super().__init__()
        self.LayerNorm = nn.LayerNorm(config.hidden_size, eps=config.layer_norm_eps)
        self.self = bert.BertSelfAttention(config, layer_idx=layer_idx)
        self.dense = nn.Linear(config.hidden_size, config.hidden_size)
        self.dropout = nn.Dropout(config.hidden_dropout_prob)

    def forward(self, hidden_states: torch.Tensor, attention_mask: torch.Tensor | None, **kwargs: Any) -> torch.Tensor:
        attended, _ = self.self(self.LayerNorm(hidden_states), attention_mask, **kwargs)
        return hidden_states + self.dropout(self.dense(attended))


class GroupBertLayer(bert.BertLayer):
    """One layer: (batch, length, hidden) to the same."""

    def __init__(self, config: Any, layer_idx: int) -> None:
        nn.Module.__init__(self)
        self.convolution = GroupBertConvolution(config)
        self.intermediate_first = GroupBertIntermediate(config)
        self.output_first = GroupBertOutput(config)
        self.attention = GroupBertAttention(config, layer_idx)
        self.intermediate_second = GroupBertIntermediate(config)
        self.output_second = GroupBertOutput(config)

    def forward(
        self, hidden_states: torch.Tensor, attention_mask: torch.Tensor | None = None, *_: Any, **kwargs: Any
    ) -> torch.Tensor:
        kwargs.pop("encoder_attention_mask", None)
        hidden_states = self.convolution(hidden_states, attention_mask)
        hidden_states = self.output_first(self.intermediate_first(hidden_states), hidden_states)
        hidden_states = self.attention(hidden_states, attention_mask, **kwargs)
        return self.output_second(self.intermediate_second(hidden_states), hidden_states)


class GroupBertEncoder(bert.BertEncoder):
    """The layers, and the normalisation that the last of them leaves out."""

    def __init__(self, config: Any) -> None:
        nn.Module.__init__(self)
        self.config = config
        self.layer = nn.ModuleList(GroupBertLayer(config, index) for index in range(config.num_hidden_layers))
        self.LayerNorm = nn.LayerNorm(config.hidden_size, eps=config.layer_norm_eps)

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        output = super().forward(*args, **kwargs)
        output.last_hidden_state = self.LayerNorm(output.last_hidden_state)
        return output


class GroupBertModel(bert.BertModel):
    """The encoder with embeddings and pooler; ValueError where it is to be a decoder, which a convolution cannot be."""

    config_class = GroupBertConfig
    _supports_flash_attn = False
    _supports_flex_attn = False

    def __init__(
        self,
        config: GroupBertConfig,
        add_pooling_layer: bool = True,  # noqa: FBT001, FBT002 - as in BERT
    ) -> None:
        if config.is_decoder:
            raise ValueError("GroupBERT cannot be a decoder: its convolution looks at later positions too")
        super().__init__(config, add_pooling_layer)
        self.encoder = GroupBertEncoder(config)
        self.post_init()


class _OnGroupBert:
    """Puts a GroupBERT under one of BERT's heads."""

    config_class = GroupBertConfig

    def __init__(self, config: GroupBertConfig) -> None:
        super().__init__(config)  # type: ignore[call-arg]
        head: Any = self
        head.bert = GroupBertModel(config, add_pooling_layer=head.bert.pooler is not None)
        head.post_init()


class GroupBertForPreTraining(_OnGroupBert, bert.BertForPreTraining):
    """GroupBERT with BERT's two heads of pre-training."""


class GroupBertForMaskedLM(_OnGroupBert, bert.BertForMaskedLM):
    """GroupBERT that fills in masked tokens."""


class GroupBertForSequenceClassification(_OnGroupBert, bert.BertForSequenceClassification):
    """GroupBERT that classifies texts."""


class GroupBertForMultipleChoice(_OnGroupBert, bert.BertForMultipleChoice):
    """GroupBERT that chooses one of several continuations."""


class GroupBertForTokenClassification(_OnGroupBert, bert.BertForTokenClassification):
    """GroupBERT that classifies tokens."""


class GroupBertForQuestionAnswering(_OnGroupBert, bert.BertForQuestionAnswering):
    """GroupBERT that finds the span that answers a question."""


def _kept(attention_mask: torch.Tensor) -> torch.Tensor:
    """Which positions are not padding, (batch, length), from a mask of (batch, 1, queries, keys).

    A boolean mask is true where a key is attended to, an additive one zero.
    """
    keys = attention_mask[:, 0, 0]
    return keys if keys.dtype == torch.bool else keys == 0
