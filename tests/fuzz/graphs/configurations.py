"""The ways to compile and run a graph, each row against onnxruntime on every device."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import onnx

import clopt
from clopt.backends.pyopencl_runtime import CExecutable, Executable


@dataclass(frozen=True)
class Configuration:
    """What the code is made for, and the way to the device.

    The route is `memory` (compiled and run), `saved` (written, read, run) or `c` (its C package,
    compiled and loaded). Code for any target runs on any device that has what it uses.
    """

    name: str
    target: str
    precision: str = "f32"
    route: str = "memory"
    libraries: Mapping[str, str] = field(default_factory=dict[str, str])
    """The libraries of accelerators in place of the device's."""
    sizes: tuple[int, ...] = ()
    """The sizes of an open batch, if the graphs have one; the model meets them in this order."""

    def compile(self, model: onnx.ModelProto) -> clopt.CompiledModel:
        """Compile for the target; no device is asked."""
        return clopt.compile(
            model, self.target, precision=self.precision, accelerators=self.libraries
        )

    def run(
        self,
        compiled: clopt.CompiledModel,
        device: str,
        inputs: dict[str, np.ndarray],
        folder: Path,
    ) -> list[np.ndarray]:
        """Run on a device; kernels are cached nowhere, C libraries in `folder`."""
        if self.route == "saved":
            compiled.save(folder / "model")
            return clopt.load(folder / "model", device, use_cache=False).run(inputs)
        module, weights, source = compiled.module, compiled.weights, compiled.source
        if self.route == "c":
            in_c = CExecutable(
                module,
                weights,
                device,
                source=source,
                use_cache=False,
                library_folder=folder,
                stand_ins=self.libraries,
            )
            return in_c.run(inputs)
        return Executable(module, weights, device, source=source, use_cache=False).run(inputs)


CONFIGURATIONS = (
    Configuration("pocl", "pocl"),
    Configuration("blocks", "pocl blocks=prefer vector_width=4"),
    Configuration("intel saved", "intel-cpu texture=prefer", route="saved"),
    Configuration("gpu winograd", "generic-gpu winograd=prefer"),
    Configuration("adreno-630", "adreno-630 texture=prefer fp16=false"),
    Configuration("adreno-740 halves", "adreno-740 fp16=false", "f16-storage", "saved"),
    Configuration("nvidia halves", "nvidia texture=off", "f16-storage"),
    Configuration("adreno-740 f16", "adreno-740", "f16"),
    Configuration("pocl f16", "pocl", "f16"),
    Configuration("c", "adreno-740 texture=auto fp16=false", route="c"),
    Configuration(
        "clml",
        "adreno-740 clml=prefer fp16=false",
        route="c",
        libraries={"clml": "reference"},
    ),
    *(
        Configuration(f"open {target.partition(' ')[0]}", target, sizes=(3, 5, 7))
        for target in (
            "pocl",
            "intel-cpu blocks=prefer",
            "nvidia texture=off",
            "adreno-630 texture=prefer fp16=false",
        )
    ),
)
"""Without arithmetic in half where the row is not about that: PoCL does not have it."""

KNOWN_REFUSALS = (
    "The model was compiled to use arithmetic in half precision, which .* does not have",
    "the target .* has no double precision: cast",
)


def is_known_refusal(sentence: str) -> bool:
    """Whether a refusal is right: what it asks for is not there."""
    return any(re.match(pattern, sentence) for pattern in KNOWN_REFUSALS)
