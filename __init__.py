"""clopt: a compiler from ONNX to OpenCL, built on xDSL."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .lazy_exports import lazy_exports
from .version import VERSION as __version__

if TYPE_CHECKING:
    from .api import CompiledModel, calibrate, compile, is_clml_runtime_enabled, list_devices, load
    from .clml import partition_for_clml
    from .errors import CloptError
    from .options import Place, Quantization

__all__ = [
    "CloptError",
    "CompiledModel",
    "Place",
    "Quantization",
    "__version__",
    "calibrate",
    "compile",
    "is_clml_runtime_enabled",
    "list_devices",
    "load",
    "partition_for_clml",
]

# `import clopt` alone must stay cheap.
_HOMES = {
    "CloptError": ".errors",
    "CompiledModel": ".compiled_model",
    "Place": ".options",
    "Quantization": ".options",
    "calibrate": ".api",
    "compile": ".api",
    "is_clml_runtime_enabled": ".backends.clml.device",
    "list_devices": ".backends.pyopencl_runtime.devices",
    "load": ".api",
    "partition_for_clml": ".clml",
}
__getattr__ = lazy_exports(__name__, _HOMES)


def __dir__() -> list[str]:
    return sorted(__all__)
