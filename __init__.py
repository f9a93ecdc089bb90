"""clopt: a compiler from ONNX to OpenCL, built on xDSL."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from .version import VERSION as __version__

if TYPE_CHECKING:
    from .api import CompiledModel, calibrate, compile, is_clml_runtime_enabled, list_devices, load
    from .clml import partition_for_clml
    from .errors import CloptError

__all__ = [
    "CloptError",
    "CompiledModel",
    "__version__",
    "calibrate",
    "compile",
    "is_clml_runtime_enabled",
    "list_devices",
    "load",
    "partition_for_clml",
]

# Imported on first use: `import clopt` alone must stay cheap.
_HOMES = {
    "CloptError": "errors",
    "CompiledModel": "api",
    "calibrate": "api",
    "compile": "api",
    "is_clml_runtime_enabled": "api",
    "list_devices": "api",
    "load": "api",
    "partition_for_clml": "clml",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f".{_HOMES[name]}", __name__), name)


def __dir__() -> list[str]:
    return sorted(globals().keys() | _HOMES.keys())
