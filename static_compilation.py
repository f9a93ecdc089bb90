"""The compilation of a model to one program, from the cache of compiled models if possible."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING

from .backends.launches import ports_as_json, ports_of_json
from .backends.pyopencl_runtime.devices import Device
from .backends.pyopencl_runtime.shared_arenas import SharedArenas
from .compiled_cache import Request
from .compiled_model import CompiledModel
from .errors import CloptError
from .messages.open_dimensions import OpenModelError
from .messages.open_models import open_model_error
from .options import CompileOptions, Origin, Place
from .restriction import Change, Restriction, changes_text

# Only models that are not in the cache need the compiler itself.
if TYPE_CHECKING:
    from xdsl.dialects.builtin import ModuleOp

    from .frontends.onnx.importer import Model, ModelProto
    from .passes.nn.restriction import LargerNetwork
    from .tensor_info import Ranks, TensorInfo
    from .weights import Array, Weights

_log = logging.getLogger(__name__)

_MISSING = "missing sizes or values"
_PORTS = "declared inputs and outputs"
_WITHIN = "restriction of"


@dataclass(frozen=True)
class StaticCompilation:
    """The arguments of a compilation whose result is one program."""

    model: str | Path | bytes | ModelProto | ModuleOp
    options: CompileOptions
    place: Place
    origin: Origin
    use_cache: bool
    pinned: PinnedModel | None = None
    """The content of a model that is compiled several times."""

    def run(self) -> CompiledModel:
        """Return the model, which is ready to run if the place is given.

        Raises OpenModelError if sizes or values are missing.
        """
        request = self._request()
        if request is not None and (found := request.find()):
            return self._finished(found)
        if request is not None and (note := request.find_note(_MISSING)):
            raise open_model_error(json.loads(note))
        from .compilation import compile_model

        parsed = None if self.pinned is None else self._parsed()
        place, use_cache = self.place, self.use_cache
        with _compiler_ahead(place) as get_ready:
            try:
                compiled = compile_model(
                    self.model, self.options, place, use_cache, get_ready, parsed
                )
            except OpenModelError as error:
                if request is not None:
                    request.keep_note(_MISSING, json.dumps(error.as_json()))
                raise
            if request is not None:
                stored = request.keep(compiled)
                # A stored program has no IR, which takes more memory than a small network's
                # weights. Of several programs, the IR is not kept.
                if parsed is not None and stored is not None:
                    compiled = stored
            if place.is_given:
                # Report errors of the device's compiler from this call instead of the first
                # inference.
                compiled.prepare()
        return self._finished(compiled)

    def bound(
        self,
        dims: Mapping[str, int],
        values: Mapping[str, Array],
        ranged: tuple[str, int] | None = None,
        changes: Sequence[Change] = (),
    ) -> StaticCompilation:
        """Return the same compilation with these sizes and values in addition.

        The program also runs with less of the dimension `ranged`, to its least size, and with
        smaller sizes by `changes`.
        """
        dims = {**(self.options.dims or {}), **dims}
        values = {**self.options.values, **values}
        options = replace(self.options, dims=dims, values=values, ranged=ranged, changes=changes)
        return replace(self, options=options)

    def pin(self) -> StaticCompilation:
        """Return the same compilation of an ONNX model whose content stays the same from now on.

        Its programs share arenas.
        """
        if self.pinned is not None:
            return self
        place, pinned = self.place, PinnedModel(self.model, self._request())
        if place.arena is None:
            place = replace(place, arena=SharedArenas())
        return replace(self, place=place, pinned=pinned)

    def restriction(
        self, larger: StaticCompilation, changes: Sequence[Change] | None
    ) -> Restriction | None:
        """Return how the program for larger sizes also computes the results for these sizes.

        That program may have certain changes; None finds the ones it needs. Return None if there
        is no proof. Raises OpenModelError if sizes or values are missing.
        """
        allowed = "any" if changes is None else changes_text(changes)
        request, kind = self._request(), f"{_WITHIN} {json.dumps(larger.options.dims)} {allowed}"
        if request is not None and (note := request.find_note(kind)) is not None:
            return Restriction.of_json(note) if note else None
        found = self._proved(larger, changes)
        if request is not None:
            request.keep_note(kind, found.as_json() if found else "")
        return found

    def _proved(
        self, larger: StaticCompilation, changes: Sequence[Change] | None
    ) -> Restriction | None:
        from .output_sizes import has_computed_sizes
        from .passes.nn.restriction import DifferentElementsError, check_restriction

        network = larger._larger_network
        if has_computed_sizes(network.module):
            return None
        try:
            return check_restriction(*self._imported, network, changes)
        except DifferentElementsError as error:
            _log.debug("sizes are not rounded up, because %s differs", error)
            return None

    def with_elements(
        self, elements: Mapping[str, Ranks] | None, dims: Mapping[str, int]
    ) -> StaticCompilation:
        """Return the same compilation for these elements of sequences and optionals."""
        return replace(self, options=replace(self.options, elements=elements, dims=dims))

    @cached_property
    def _imported(self) -> tuple[ModuleOp, Weights]:
        """The network of a pinned model with its weights, for proofs, which change neither."""
        from .frontends.onnx import import_onnx
        from .in_place import share_memory
        from .weights import Weights

        assert self.pinned is not None
        weights, options = Weights(self.pinned.known), self.options
        module = import_onnx(
            self._parsed(),
            weights,
            options.dims,
            options.values,
            strict_half=options.strict_half,
        )
        share_memory(module, options, self._parsed())
        return module, weights

    def room_left(self) -> Mapping[str, int]:
        """Return by how many elements caches in place may grow, by open dimension."""
        if not self.options.in_place:
            return {}
        from .in_place import room_left

        return room_left(self._imported[0], self._parsed())

    def alone(self) -> Restriction:
        """Return how the program for these sizes alone serves them: it may have room in caches."""
        from .dialects.nn import entries_of
        from .dialects.nn.in_place import seen_shapes

        (network,) = entries_of(self._imported[0])
        return Restriction(seen_shapes(network))

    @cached_property
    def _larger_network(self) -> LargerNetwork:
        """The same network, if it is compared with smaller ones."""
        from .passes.nn.restriction import LargerNetwork

        assert self.pinned is not None
        network, self.pinned.known = self._imported
        return LargerNetwork(network, self.pinned.known)

    def ports(self) -> tuple[Sequence[TensorInfo], Sequence[TensorInfo]]:
        """Return the inputs and outputs that a pinned model declares."""
        assert self.pinned is not None
        request = self._request()
        if request is not None and (note := request.find_note(_PORTS)):
            inputs, outputs = map(ports_of_json, json.loads(note))
            return inputs, outputs
        from .frontends.onnx.declared import declared_inputs, declared_outputs

        parsed, dims = self._parsed(), self.options.dims or {}
        found = declared_inputs(parsed, dims), declared_outputs(parsed, dims)
        if request is not None:
            request.keep_note(_PORTS, json.dumps([*map(ports_as_json, found)]))
        return found

    def _parsed(self) -> Model:
        """Return the content of a pinned model, with the elements of its sequences."""
        assert self.pinned is not None
        return replace(self.pinned.parsed(), elements=self.options.elements)

    def _request(self) -> Request | None:
        """Return the request to the cache; None if the files are not those that were pinned."""
        request = Request.of(self.model, self.options, self.place) if self.use_cache else None
        if request is None or self.pinned is None:
            return request
        return request if self.pinned.is_content_of(request) else None

    def _finished(self, compiled: CompiledModel) -> CompiledModel:
        compiled.origin = self.origin
        compiled.values = self.options.values
        return compiled


class PinnedModel:
    """The content of an ONNX model, which is parsed at most once, and only if it is needed."""

    def __init__(self, model: object, request: Request | None) -> None:
        """Without a `request`, which tells whether files change, the model is parsed now."""
        self._model = model
        self._request = request
        self._digests = None if request is None else request.contents()
        self._parsed: Model | None = None
        self.known: Weights | None = None
        """The weights of a larger network, with which others are compared."""
        self._lock = Lock()
        if self._digests is None:
            self.parsed()

    def is_content_of(self, request: Request) -> bool:
        """Return whether the files of a request have this content."""
        return self._digests is not None and request.contents() == self._digests

    def parsed(self) -> Model:
        """Return the model; raise CloptError if its file has changed before it was parsed."""
        from .frontends.onnx.model import snapshot

        with self._lock:
            if self._parsed is None:
                parsed = snapshot(self._model)
                if self._request is not None and not self.is_content_of(self._request):
                    raise CloptError(
                        f"{parsed.name} has changed since it was compiled; compile it again."
                    )
                self._parsed = parsed
            return self._parsed


def _compiler_ahead(place: Place) -> AbstractContextManager[Callable[[int], None]]:
    """Start the compiler of the device early, if kernels are built before `compile` returns."""
    from .backends.pyopencl_runtime.ahead import compiler_ahead

    if place.is_given and isinstance(place.device, Device):
        return compiler_ahead(place.device)
    return nullcontext(lambda _: None)
