"""The compilation of a model to one program, from the cache of compiled models if possible."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from .backends.pyopencl_runtime.devices import Device
from .compiled_cache import Request
from .compiled_model import CompiledModel
from .options import CompileOptions, Origin, Place

# Only models that are not in the cache need the compiler itself.
if TYPE_CHECKING:
    from xdsl.dialects.builtin import ModuleOp

    from .frontends.onnx.importer import Model, ModelProto
    from .weights import Array


@dataclass(frozen=True)
class StaticCompilation:
    """The arguments of a compilation whose result is one program."""

    model: str | Path | bytes | ModelProto | ModuleOp
    options: CompileOptions
    place: Place
    origin: Origin
    use_cache: bool
    parsed: Model | None = None
    """The content of an ONNX model, if it was read before."""
    digests: Sequence[str] | None = None
    """The digests of the model's files when `parsed` was read from them."""

    def run(self) -> CompiledModel:
        """Return the model, which is ready to run if the place is given.

        Raises OpenModelError if sizes or values are missing.
        """
        request = self._request()
        if request is not None and (found := request.find()):
            return self._finished(found)
        from .compilation import compile_model

        with _compiler_ahead(self.place) as get_ready:
            compiled = compile_model(
                self.model, self.options, self.place, self.use_cache, get_ready, self.parsed
            )
            if request is not None:
                request.keep(compiled)
            if self.place.is_given:
                # Report errors of the device's compiler from this call instead of the first
                # inference.
                compiled.prepare()
        return self._finished(compiled)

    def bound(self, dims: Mapping[str, int], values: Mapping[str, Array]) -> StaticCompilation:
        """Return the same compilation with these sizes and values in addition."""
        dims = {**(self.options.dims or {}), **dims}
        values = {**self.options.values, **values}
        return replace(self, options=replace(self.options, dims=dims, values=values))

    def read_once(self) -> StaticCompilation:
        """Return the same compilation of an ONNX model, with its content read now."""
        from .frontends.onnx.model import snapshot

        if self.parsed is not None:
            return self
        request = self._request()
        digests = None if request is None else request.contents()
        return replace(self, parsed=snapshot(self.model), digests=digests)

    def _request(self) -> Request | None:
        """Return the request to the cache, unless the files are not those that were read."""
        request = Request.of(self.model, self.options, self.place) if self.use_cache else None
        if request is None or self.parsed is None:
            return request
        return request if self.digests and request.contents() == self.digests else None

    def _finished(self, compiled: CompiledModel) -> CompiledModel:
        compiled.origin = self.origin
        compiled.values = self.options.values
        return compiled


def _compiler_ahead(place: Place) -> AbstractContextManager[Callable[[int], None]]:
    """Start the compiler of the device early, if kernels are built before `compile` returns."""
    from .backends.pyopencl_runtime.ahead import compiler_ahead

    if place.is_given and isinstance(place.device, Device):
        return compiler_ahead(place.device)
    return nullcontext(lambda _: None)
