"""A compiled program as text and plain data, for the cache of models and for pickles."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import Any

from ..tensor_info import TensorInfo
from .launches import Launches, ports_as_json, ports_of_json


@dataclass(frozen=True)
class StoredProgram:
    """A compiled program without its weights."""

    inputs: tuple[TensorInfo, ...]
    outputs: tuple[TensorInfo, ...]
    launches: Launches | None
    """None if a device has to choose among the ways to run the program."""
    source: str
    """The OpenCL C of its kernels."""
    program: str
    """The text of the program, with declarations of its kernels."""
    target: str
    """The name of its target."""
    remarks: tuple[str, ...]
    accelerators: tuple[str, ...]
    """The accelerators that compute a part, by their display names."""

    def as_json(self) -> dict[str, Any]:
        """Return the program as JSON values that `from_json` reads."""
        table = asdict(replace(self, launches=None))
        table |= {key: ports_as_json(getattr(self, key)) for key in ("inputs", "outputs")}
        table["launches"] = None if self.launches is None else self.launches.as_json()
        return table

    @classmethod
    def from_json(cls, table: dict[str, Any]) -> StoredProgram:
        """Return the program that `as_json` wrote."""
        launches = table["launches"]
        texts = (table[key] for key in ("source", "program", "target"))
        names = (tuple(table[key]) for key in ("remarks", "accelerators"))
        return cls(
            ports_of_json(table["inputs"]),
            ports_of_json(table["outputs"]),
            None if launches is None else Launches.from_json(launches),
            *texts,
            *names,
        )
