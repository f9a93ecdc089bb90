"""clopt: a compiler from ONNX to OpenCL, built on xDSL."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .lazy_exports import lazy_exports
from .version import VERSION as __version__

if TYPE_CHECKING:
    from .api import (
        CompiledModel,
        DynamicModel,
        RangedModel,
        SequenceModel,
        calibrate,
        compile,
        list_devices,
        load,
    )
    from .errors import CloptError
    from .offloading import has_accelerator, partition_for
    from .options import Place, Quantization
    from .pipeline import run_pipeline
    from .torch_backend import from_torch

__all__ = [
    "CloptError",
    "CompiledModel",
    "DynamicModel",
    "Place",
    "Quantization",
    "RangedModel",
    "SequenceModel",
    "__version__",
    "calibrate",
    "compile",
    "from_torch",
    "has_accelerator",
    "list_devices",
    "load",
    "partition_for",
    "run_pipeline",
]

# `import clopt` alone must stay cheap.
_HOMES = {
    "CloptError": ".errors",
    "CompiledModel": ".compiled_model",
    "DynamicModel": ".dynamic_model",
    "Place": ".options",
    "Quantization": ".options",
    "RangedModel": ".ranged_model",
    "SequenceModel": ".sequence_model",
    "calibrate": ".api",
    "compile": ".api",
    "from_torch": ".torch_backend",
    "has_accelerator": ".offloading",
    "list_devices": ".backends.pyopencl_runtime.devices",
    "load": ".api",
    "partition_for": ".offloading",
    "run_pipeline": ".pipeline",
}
__getattr__ = lazy_exports(__name__, _HOMES)


def __dir__() -> list[str]:
    return sorted(__all__)
