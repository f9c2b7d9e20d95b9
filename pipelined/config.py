"""How a model is spread over IPUs: `IPUConfig`, with the fields, defaults and checks of optimum-graphcore 0.7.1.

An IPU is a device of the pipeline: with the Poplar SDK a real one, everywhere else a process under `torchrun`.
"""

from __future__ import annotations

import json
import logging
import warnings
from dataclasses import InitVar, asdict, dataclass, field, fields
from functools import cache
from inspect import signature
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, get_type_hints

from pipelined.config_checks import check_type, check_value
from pipelined.config_fields import LATER, ForMode, LayerCounts
from pipelined.config_text import parsed, read_fields
from pipelined.errors import IncompatibleIPUConfigError
from pipelined.execution import Execution

if TYPE_CHECKING:
    from collections.abc import Mapping

logger = logging.getLogger(__name__)

CONFIG_NAME = "ipu_config.json"
MODES = ("training", "inference")


@dataclass(kw_only=True)
class IPUConfig:
    """Placement, batching and memory settings. A field `inference_x` is what holds for x in inference mode.

    Each assignment is checked: TypeError for a wrong type, ValueError for a value out of range. What concerns several
    fields is checked once, when the config is made: IncompatibleIPUConfigError, a ValueError.

    `layers_per_ipu=[2, -1, -1]` puts two layers on IPU 0 and shares the others between IPU 1 and IPU 2.
    """

    replication_factor: int = 1
    inference_replication_factor: int = 1
    gradient_accumulation_steps: int = 1
    layers_per_ipu: list[int] = field(default_factory=lambda: [-1])
    inference_layers_per_ipu: list[int] = LATER
    ipus_per_replica: int = LATER
    inference_ipus_per_replica: int = LATER
    optimizer_state_offchip: bool = False
    replicated_tensor_sharding: bool = False
    matmul_proportion: float | list[float] = 0.2
    inference_matmul_proportion: float | list[float] = LATER
    enable_half_partials: bool = True
    embedding_serialization_factor: int | None = None
    inference_embedding_serialization_factor: int | None = None
    serialized_embedding_splits_per_ipu: list[int] | None = None
    inference_serialized_embedding_splits_per_ipu: list[int] | None = None
    projection_serialization_factor: int | None = None
    inference_projection_serialization_factor: int | None = None
    serialized_projection_splits_per_ipu: list[int] | None = None
    inference_serialized_projection_splits_per_ipu: list[int] | None = None
    recompute_checkpoint_every_layer: bool = False
    device_iterations: int = 1
    inference_device_iterations: int = 1
    output_mode: str = "final"
    seed: int | None = None
    auto_loss_scaling: bool = False
    executable_cache_dir: str = ""
    explicit_ir_inference: bool = False
    parallelize_kwargs: dict[str, Any] = LATER
    inference_parallelize_kwargs: dict[str, Any] = LATER
    execute_encoder_on_cpu_for_generation: bool = False
    execution: Execution = field(default_factory=Execution)
    # Keys of published files that mean nothing any more, or say who wrote the file.
    sharded_execution_for_inference: InitVar[bool | None] = None
    enable_half_first_order_momentum: InitVar[bool | None] = None
    optimum_version: InitVar[str | None] = None
    transformers_version: InitVar[str | None] = None

    _layers_per_ipu = ForMode("layers_per_ipu")
    _ipus_per_replica = ForMode("ipus_per_replica")
    _matmul_proportion = ForMode("matmul_proportion")
    _embedding_serialization_factor = ForMode("embedding_serialization_factor")
    _serialized_embedding_splits_per_ipu = ForMode("serialized_embedding_splits_per_ipu")
    _projection_serialization_factor = ForMode("projection_serialization_factor")
    _serialized_projection_splits_per_ipu = ForMode("serialized_projection_splits_per_ipu")
    _parallelize_kwargs = ForMode("parallelize_kwargs")

    def __new__(cls, **values: Any) -> Self:
        # Before the generated __init__ refuses it with a TypeError that names one at a time.
        if unknown := sorted(set(values) - set(signature(cls.__init__).parameters)):
            listed = "\n".join(f"  {name}={values[name]}" for name in unknown)
            raise IncompatibleIPUConfigError(f"IPUConfig received unknown arguments:\n{listed}")
        return super().__new__(cls)

    def __post_init__(
        self,
        sharded_execution_for_inference: bool | None,
        enable_half_first_order_momentum: bool | None,
        optimum_version: str | None,
        transformers_version: str | None,
    ) -> None:
        _warn_of_deprecated(
            sharded_execution_for_inference=sharded_execution_for_inference,
            enable_half_first_order_momentum=enable_half_first_order_momentum,
        )
        self.inference_layers_per_ipu = self.inference_layers_per_ipu or list(self.layers_per_ipu)
        self.ipus_per_replica = self.ipus_per_replica or len(self.layers_per_ipu)
        self.inference_ipus_per_replica = self.inference_ipus_per_replica or self._inference_ipus()
        self.inference_matmul_proportion = self.inference_matmul_proportion or self._inference_proportion()
        self.parallelize_kwargs = self.parallelize_kwargs or {}
        self.inference_parallelize_kwargs = self.inference_parallelize_kwargs or {}
        object.__setattr__(self, "_complete", True)
        for mode in MODES:
            self.mode = mode
            self._check_agreement()
        self.train()
        if self.replicated_tensor_sharding and self.replication_factor == 1:
            logger.warning("`replicated_tensor_sharding` is not used when `replication_factor=1`")

    def __setattr__(self, name: str, value: Any) -> None:
        hints = _hints()
        if name in hints:
            if name == "execution" and isinstance(value, dict):
                value = Execution.from_dict(value)
            if value is not None or hasattr(self, "_complete"):
                check_type(name, value, hints[name])
            check_value(name, value)
            if name.endswith("layers_per_ipu") and value is not None:
                value = LayerCounts(value)
        object.__setattr__(self, name, value)

    def __getattribute__(self, name: str) -> Any:
        value = super().__getattribute__(name)
        if isinstance(value, LayerCounts):
            value.ipus = super().__getattribute__(name.replace("layers_per_ipu", "ipus_per_replica"))
        return value

    @property
    def mode(self) -> str:
        """`training` or `inference`: which twin of a field holds. It is never saved."""
        mode: str = self.__dict__.get("_mode", MODES[0])
        return mode

    @mode.setter
    def mode(self, value: str) -> None:
        if value not in MODES:
            raise ValueError(
                f"`IPUConfig` mode can only take values in {MODES}. You provided: {value=}."
                " Use the `train` and `eval` methods instead."
            )
        object.__setattr__(self, "_mode", value)

    def train(self) -> Self:
        """Switch to training mode; return self."""
        self.mode = "training"
        return self

    def eval(self) -> Self:
        """Switch to inference mode; return self."""
        self.mode = "inference"
        return self

    def field_name(self, name: str) -> str:
        """The name of the field that holds in this mode: `x` itself, or its twin `inference_x`."""
        twin = f"inference_{name}"
        return twin if self.mode == "inference" and twin in _hints() else name

    def batch_size_factor(self, for_inference: bool = False) -> int:  # noqa: FBT001, FBT002 - a published signature
        """How many micro-batches make one batch of the data loader."""
        if for_inference:
            return self.inference_replication_factor * self.inference_device_iterations
        return self.replication_factor * self.gradient_accumulation_steps * self.device_iterations

    def update_from_string(self, update_str: str) -> None:
        """Set fields from text such as `device_iterations=4,layers_per_ipu=[2 2],seed=1`; values keep their types."""
        for item in update_str.split(","):
            name, separator, text = (part.strip() for part in item.partition("="))
            if not separator:
                raise ValueError(f"{item!r} is not of the form key=value")
            if name not in _hints():
                raise ValueError(f"Key {name} isn't in the original config dict")
            setattr(self, name, parsed(name, text, like=getattr(self, name)))

    def to_dict(self) -> dict[str, Any]:
        """All fields, without the mode; what JSON holds."""
        return json.loads(json.dumps(asdict(self)))  # type: ignore[no-any-return]

    @classmethod
    def from_dict(cls, values: Mapping[str, Any], **overrides: Any) -> Self:
        """A config of these fields, where keywords win."""
        return cls(**{**values, **overrides})

    def save_pretrained(self, save_directory: str | Path) -> None:
        """Write `ipu_config.json` into the folder, which is made if it is not there."""
        folder = Path(save_directory)
        folder.mkdir(parents=True, exist_ok=True)
        text = json.dumps(self.to_dict(), indent=2, sort_keys=True)
        (folder / CONFIG_NAME).write_text(f"{text}\n", encoding="utf-8")

    @classmethod
    def from_pretrained(cls, name_or_path: str | Path, **overrides: Any) -> Self:
        """Read `ipu_config.json` from a file, a folder or a repository of the Hugging Face hub; keywords win."""
        return cls.from_dict(read_fields(name_or_path, CONFIG_NAME), **overrides)

    def to_options(self, *, for_inference: bool = False, compile_only: bool = False) -> Any:
        """These settings as `poptorch.Options`; RuntimeError where there is no Mk2 IPU, unless only to compile."""
        from pipelined.poptorch_options import to_options

        return to_options(self, for_inference=for_inference, compile_only=compile_only)

    def _inference_ipus(self) -> int:
        layers = self.inference_layers_per_ipu
        if self.ipus_per_replica == len(self.layers_per_ipu) or layers != [-1]:
            return len(layers)
        return self.ipus_per_replica

    def _inference_proportion(self) -> float | list[float]:
        proportion = self.matmul_proportion
        fits = not isinstance(proportion, list) or len(proportion) == self.inference_ipus_per_replica
        return proportion if fits else 0.2

    def _check_agreement(self) -> None:
        """Raise unless the fields of this mode agree on the number of IPUs."""
        ipus = self._ipus_per_replica
        proportion = self._matmul_proportion
        if isinstance(proportion, list) and len(proportion) != ipus:
            raise IncompatibleIPUConfigError(self._disagreement("matmul_proportion"))
        # With a wildcard the lengths are compared once the number of layers is known.
        if -1 not in self._layers_per_ipu and len(self._layers_per_ipu) != ipus:
            raise IncompatibleIPUConfigError(self._disagreement("layers_per_ipu"))
        for part in ("embedding", "projection"):
            self._check_serialization(part)

    def _check_serialization(self, part: str) -> None:
        """A factor or splits, not both; splits for every IPU; a factor of 1 where there is neither."""
        factor_name, splits_name = f"{part}_serialization_factor", f"serialized_{part}_splits_per_ipu"
        factor, splits = self.field_name(factor_name), self.field_name(splits_name)
        if getattr(self, splits) and getattr(self, factor):
            raise ValueError(
                f"Only one of `{factor}` and `{splits}` should be used at once: the first serialises the {part} on"
                " one IPU, the second spreads its parts over the IPUs that you choose"
            )
        if getattr(self, splits) and len(getattr(self, splits)) != self._ipus_per_replica:
            raise ValueError(self._disagreement(splits_name))
        if not getattr(self, splits) and not getattr(self, factor):
            setattr(self, factor, 1)

    def _disagreement(self, name: str) -> str:
        ipus = self.field_name("ipus_per_replica")
        return (
            f"{self.field_name(name)}={getattr(self, self.field_name(name))} should use the same number of IPUs as"
            f" {ipus}={self._ipus_per_replica}."
        )


def _warn_of_deprecated(**given: bool | None) -> None:
    for name, value in given.items():
        if value is not None:
            warnings.warn(f'The "{name}" parameter is deprecated and has no effect', FutureWarning, stacklevel=5)


@cache
def _hints() -> dict[str, Any]:
    """The types of the fields, worked out once."""
    hints = get_type_hints(IPUConfig)
    return {one.name: hints[one.name] for one in fields(IPUConfig)}
