"""The device a module is compiled for, as a value and as the module's attribute `cl.target`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

from xdsl.dialects.builtin import BoolAttr, DictionaryAttr, IntegerAttr, ModuleOp, StringAttr, i64
from xdsl.ir import Attribute, ParametrizedAttribute
from xdsl.irdl import irdl_attr_definition
from xdsl.utils.exceptions import VerifyException

ATTRIBUTE_NAME = "cl.target"


@dataclass(frozen=True)
class Target:
    """Facts about an OpenCL device that lowering and scheduling read; the defaults fit any CPU.

    No pass probes hardware: the same module and the same target give the same bytes.
    """

    name: str = "generic"
    device_type: str = "cpu"
    """`cpu` or `gpu`: which family of schedules is used."""
    vector_width: int = 8
    """Lanes of a float32 vector that the device computes at once (on a GPU: loads at once)."""
    vector_registers: int = 16
    """Registers of that width a CPU core has: 16 with AVX2, 32 with AVX-512."""
    l1_cache_bytes: int = 32768
    l2_cache_bytes: int = 524288
    """Data caches of a CPU core: what a schedule keeps close while it is used again."""
    register_rows: int = 4
    """Rows of the tile that one work-item of a GPU computes of a matmul or convolution."""
    register_cols: int = 4
    """Columns of the same tile."""
    compute_units: int = 2
    """How many work-groups run side by side."""
    max_work_group_size: int = 1024
    local_memory_bytes: int = 32768
    """Local memory of one work-group; what a CPU reports is cache and not worth tiling for."""
    fp16: bool = False
    """Whether kernels may compute in `half` (storing it works everywhere)."""
    fp64: bool = True
    images: bool = False
    """Whether kernels may read and write images."""
    max_image_width: int = 0
    """Texels; the limits of 2-D images and of their arrays, 0 without images."""
    max_image_height: int = 0
    max_image_layers: int = 0
    max_image_buffer_texels: int = 0
    image_from_buffer: bool = False
    """Whether a 2-D image can be a view of a buffer."""
    image_pitch_alignment: int = 0
    """The row pitch of such a view is a multiple of this many texels."""

    def __post_init__(self) -> None:
        if self.device_type not in ("cpu", "gpu"):
            raise ValueError(f'device_type is "cpu" or "gpu", not "{self.device_type}"')
        for name in _POSITIVE:
            if getattr(self, name) < 1:
                raise ValueError(f"{name} is at least 1, not {getattr(self, name)}")

    @classmethod
    def from_facts(cls, name: str, facts: Mapping[str, Any]) -> Target:
        """A target from a table such as a TOML file gives; ValueError for what is not a fact."""
        for key, value in facts.items():
            if key not in _FACT_TYPES:
                raise ValueError(f'"{key}" is no fact of a target; facts: {", ".join(_FACT_TYPES)}')
            if type(value) is not _FACT_TYPES[key]:
                raise ValueError(f"{key} is of type {_FACT_TYPES[key].__name__}, not {value!r}")
        return cls(name, **facts)


_POSITIVE = (
    "vector_width",
    "vector_registers",
    "register_rows",
    "register_cols",
    "compute_units",
    "max_work_group_size",
    "local_memory_bytes",
)
_FACT_TYPES: dict[str, type] = {
    field.name: type(field.default) for field in fields(Target) if field.name != "name"
}


@irdl_attr_definition
class TargetAttr(ParametrizedAttribute):
    """A target in the IR: `#cl.target<"pocl", {vector_width = 8 : i64}>`.

    Facts that are not written have the defaults of `Target`.
    """

    name = "cl.target"

    target_name: StringAttr
    facts: DictionaryAttr

    @classmethod
    def from_target(cls, target: Target) -> TargetAttr:
        """The attribute that spells out every fact of `target`."""
        facts = {name: _to_attribute(getattr(target, name)) for name in _FACT_TYPES}
        return cls(StringAttr(target.name), DictionaryAttr(facts))

    def to_target(self) -> Target:
        """The target as a value."""
        facts = {name: _from_attribute(attr) for name, attr in self.facts.data.items()}
        return Target.from_facts(self.target_name.data, facts)

    def verify(self) -> None:
        try:
            self.to_target()
        except ValueError as error:
            raise VerifyException(str(error)) from error


def _to_attribute(value: str | bool | int) -> Attribute:
    match value:
        case str():
            return StringAttr(value)
        case bool():
            return BoolAttr.from_bool(value)
        case int():
            return IntegerAttr(value, i64)


def _from_attribute(attribute: Attribute) -> str | bool | int:
    match attribute:
        case StringAttr():
            return attribute.data
        case IntegerAttr():
            value = attribute.value.data
            return bool(value) if attribute.type == BoolAttr.from_bool(True).type else value
        case _:
            raise ValueError(f"a fact is a string, a number or a boolean, not {attribute}")


def target_of(module: ModuleOp) -> Target:
    """The target `module` is compiled for; the generic CPU when none was set."""
    attribute = module.attributes.get(ATTRIBUTE_NAME)
    return attribute.to_target() if isinstance(attribute, TargetAttr) else Target()


def set_target(module: ModuleOp, target: Target) -> None:
    """Record `target` in `module`."""
    module.attributes[ATTRIBUTE_NAME] = TargetAttr.from_target(target)
