"""Common base class of the ways to run a program on a device: checks, transfers, arena locks."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from operator import is_not
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, TypeVar, cast, overload

import pyopencl as cl

from ...errors import CloptError
from ...messages.arguments import check_type
from ...tensor_info import TensorInfo
from .arena_lock import ArenaLock
from .arrays import Array, Arrays, Bindable, Given, Outputs, PortMemory
from .bindings import bound_memory
from .boxes import LeadingBox, Shapes
from .cache import BinaryCache, default_cache_folder
from .caches import overwritten_inputs, shared, whole_cache
from .devices import Device
from .exchange import Exchange, Side, host_alignment
from .given_images import check_image, refuse_image
from .images import Images
from .inputs import check_names
from .memory import make_memory
from .place import check_queue
from .timing import WARM_UP, Timing

if TYPE_CHECKING:
    from ...dialects.cl.program import ProgramOp
    from .c_package import Offload

_T = TypeVar("_T", bound="Given")

_MOST_SIDES = 64
"""Sets of shapes that a program remembers; an inference with another one takes 20 us more."""


@dataclass(frozen=True)
class Interface:
    """The inputs and outputs of a program."""

    inputs: tuple[TensorInfo, ...]
    outputs: tuple[TensorInfo, ...]
    sizes: Sequence[int]
    """The bytes of each input, then of each output."""


class Runnable(ABC):
    """A `cl.program` on a device: `run` it with numpy arrays, or `enqueue` it with buffers.

    The constructor sets everything up. An inference is then a sequence of enqueues on one in-order
    queue; `enqueue` never waits for the device, and `run` waits once, at its end.

    Inferences share the intermediate buffers, so they run one after the other. Calls from several
    threads are safe: they wait for each other, even across programs that share an arena. A caller
    that enqueues on two queues must order them with events.
    """

    source: str
    """The OpenCL C of the kernels."""
    built_from_cache: bool
    """Whether the kernels came from the cache on disk."""
    arena_bytes: tuple[int, ...]
    """The bytes of each buffer that holds intermediate results."""
    arena: tuple[cl.Buffer, ...]
    """These buffers, the caller's or the program's own; other programs may share them."""
    image_views: Mapping[str, str]
    """How each kind of image lies in planned memory."""
    device_bytes: int
    """The bytes of arenas, of images and buffers outside of them, and of weights, excluding inputs
    and outputs."""
    offload: Offload | None = None
    """The operations that a library computes, or None."""
    _arena_lock: ArenaLock

    def __init__(
        self, interface: Interface, place: tuple[Device, cl.Context, cl.CommandQueue]
    ) -> None:
        self.device, self.context, self.queue = place
        self.inputs, self.outputs = interface.inputs, interface.outputs
        self._images = Images(self.device, self.context)
        self._ports = (*self.inputs, *self.outputs)
        self._sizes = interface.sizes
        self._overwritten = overwritten_inputs(self.inputs, self.outputs)
        self._alignment = host_alignment(self.device)
        self._bound: tuple[PortMemory, ...] = ()
        self._own: dict[int, PortMemory] = {}
        # What `run` uses with nothing in place, as long as `bind_image` changes nothing.
        self._used: tuple[PortMemory, ...] = ()
        # The buffers of the last `enqueue`, which are checked only when they change.
        self._given: tuple[Side | Bindable | Array, ...] = ()
        self._given_memory: tuple[PortMemory, ...] = ()
        self._given_boxes: dict[int, cl.Buffer] = {}
        self._images_bound: dict[int, cl.Image] = {}
        self._sides: dict[Hashable, Side] = {}
        self._sent: dict[str, Array] = {}
        """The arrays for `sizes` that the last `run` copied."""

    @overload
    def run(
        self,
        inputs: Arrays,
        outputs: Sequence[str] | None = None,
        shapes: Shapes | None = None,
        sizes: Mapping[str, Array] = ...,
    ) -> list[Array]: ...
    @overload
    def run(
        self,
        inputs: Arrays,
        outputs: Mapping[str, _T],
        shapes: Shapes | None = None,
        sizes: Mapping[str, Array] = ...,
    ) -> list[_T]: ...
    def run(
        self,
        inputs: Arrays,
        outputs: Outputs | None = None,
        shapes: Shapes | None = None,
        sizes: Mapping[str, Array] = MappingProxyType({}),
    ) -> list[Any]:
        """Run one inference and wait for it; `CompiledModel.run` explains the arguments.

        Inputs and outputs that are bound to images are neither passed nor returned. `shapes` are
        those of all inputs and outputs if some are smaller than the program's. Then only the
        leading boxes of these shapes are copied. The other elements of an input keep the values of
        an earlier inference, or are zero. `sizes` are inputs by name that depend on the shapes
        alone, whose arrays the caller never changes: the device keeps those of the last inference.
        """
        if sizes:
            inputs = {**cast("Mapping[str, Given]", inputs), **sizes}
        exchange = self._exchange(inputs, outputs, shapes)
        with self._arena_lock:
            memory = self._memory_for(exchange)
            try:
                # pyopencl waits when a transfer's event is dropped, so the events live to the end.
                sent = exchange.send(memory, self._held(sizes))
                self._enqueue(self.queue, memory)
                received = exchange.receive(memory)
            finally:
                # Even after an error: commands may still use arrays that the caller frees.
                self.queue.finish()
            del sent
            self._sent.update(sizes)
            for each in received:
                each.end()
        return exchange.results

    def profile(
        self, inputs: Arrays, runs: int, shapes: Shapes | None = None
    ) -> list[list[Timing]]:
        """Time `runs` inferences on `inputs`, command by command, after a few to warm up.

        Each inference has one timing for each of `cl.enqueued(program)`. `run` explains `shapes`.
        Raises CloptError for wrong arguments.
        """
        check_type("runs", runs, (int,), "a number of inferences")
        if runs < 1:
            raise CloptError(f"runs={runs}: a profile takes at least one inference.")
        exchange = self._exchange(inputs, [], shapes)
        with self._arena_lock:
            memory = self._memory_for(exchange)
            try:
                sent = exchange.send(memory, self._held({}))
                for _ in range(WARM_UP):
                    self._enqueue(self.queue, memory)
            finally:
                self.queue.finish()
            del sent
            return self._timings(memory, runs)

    def enqueue(
        self,
        queue: cl.CommandQueue,
        buffers: Mapping[str, Bindable],
        shapes: Shapes | None = None,
        sizes: Mapping[str, Array] = MappingProxyType({}),
    ) -> None:
        """Put one inference on the caller's in-order `queue` and return without waiting.

        `buffers` maps the name of every input and output to a buffer or pyopencl array. Those
        compiled as images need an image instead, unless `bind_image` has set one. The caller keeps
        the buffers and this program alive until the queue has finished. `run` explains `shapes`;
        smaller arrays are copied on the queue. `sizes` are inputs of the host, which depend on the
        shapes alone. Raises CloptError for an output that shares bytes with another output, or with
        an input that it does not overwrite.
        """
        check_queue(queue, self.context)
        bound = self._images_bound
        self._refuse_bound(buffers)
        free = [port for i, port in enumerate(self._ports) if i not in bound]
        contents = {**buffers, **sizes}
        check_names(free, contents, "input or output")
        side, inputs = self._side(shapes), len(self.inputs)
        given = tuple(
            bound[i] if i in bound else contents[port.name] for i, port in enumerate(self._ports)
        )
        with self._arena_lock:
            if not self._given or any(map(is_not, (side, *given), self._given)):
                self._take(queue, side, given, set(sizes))
            memory, boxed = self._given_memory, self._given_boxes
            for i, buffer in boxed.items():
                if i < inputs:
                    side.boxes[i].fill(queue, cast("cl.Buffer", memory[i]), buffer)
            self._enqueue(queue, memory)
            for i, buffer in boxed.items():
                if i >= inputs:
                    side.boxes[i].extract(queue, buffer, cast("cl.Buffer", memory[i]))

    def _take(
        self,
        queue: cl.CommandQueue,
        side: Side,
        given: tuple[Bindable | Array, ...],
        on_host: Collection[str],
    ) -> None:
        """Check the buffers of a caller; smaller ones get memory of the program's size.

        `on_host` names the inputs that are arrays of the host.
        """
        free = {**side.inputs, **side.outputs}
        ports = [free.get(i, port) for i, port in enumerate(self._ports)]
        flags = cl.mem_flags.READ_ONLY | cl.mem_flags.COPY_HOST_PTR
        buffers = [
            cl.Buffer(self.context, flags, hostbuf=cast("Array", each))
            if port.name in on_host
            else cast("Bindable", each)
            for port, each in zip(ports, given, strict=True)
        ]
        sizes, is_whole = list(side.sizes), [box.is_whole for box in side.boxes]
        for i in filter(side.is_cache, range(len(ports))):
            if (cache := whole_cache(buffers[i], ports[i], self._ports[i])) is not None:
                buffers[i], sizes[i], is_whole[i] = cache, self._sizes[i], True
        memory = bound_memory(
            ports, sizes, len(self.inputs), buffers, self.context, self._overwritten
        )
        self._given_boxes = {
            i: each
            for i, each in enumerate(memory)
            if not is_whole[i] and isinstance(each, cl.Buffer)
        }
        bound = {i: each for i, each in enumerate(memory) if i not in self._given_boxes}
        self._given_memory = self._with_own(bound, queue)
        self._given = (side, *given)

    def bind_image(self, name: str, image: cl.Image | None) -> None:
        """Let inferences read or write the caller's `image` for this input or output.

        It stays bound until the next call for `name`; None unbinds it. The caller keeps it alive.
        Raises CloptError for an image that does not fit, and if the program expects a buffer.
        """
        names = [port.name for port in self._ports]
        check_names(self._ports, dict.fromkeys([*names, name]), "input or output")
        index = names.index(name)
        port = self._ports[index]
        if port.image is None:
            raise refuse_image(port)
        with self._arena_lock:
            self._used = ()
            if image is None:
                self._images_bound.pop(index, None)
            else:
                is_output = index >= len(self.inputs)
                self._images_bound[index] = check_image(port, image, is_output, self.context)
            self._sides.clear()

    def restricted(self, value: int) -> Runnable:
        """Return a program that computes the results for a smaller value of the symbol.

        `CompiledModel.restricted` explains it. This one computes all results.
        """
        return self

    @property
    @abstractmethod
    def program(self) -> ProgramOp:
        """The program that runs, with or without planned memory."""

    @abstractmethod
    def _enqueue(self, queue: cl.CommandQueue, buffers: tuple[PortMemory, ...]) -> None:
        """Put the commands on the queue, over `buffers` in the order of the ports."""

    @abstractmethod
    def _timings(self, buffers: tuple[PortMemory, ...], runs: int) -> list[list[Timing]]:
        """Time inferences over the buffers of the last enqueue."""

    def _exchange(self, inputs: Arrays, outputs: Outputs | None, shapes: Shapes | None) -> Exchange:
        """Check the arguments of an inference."""
        if self._images_bound:
            self._refuse_bound(inputs)
            self._refuse_bound(outputs)
        return Exchange(self._side(shapes), inputs, outputs)

    def _side(self, shapes: Shapes | None) -> Side:
        """Return what callers of `run` give and get: all but the images that are bound."""
        key = None if shapes is None else tuple(shapes.items())
        if (side := self._sides.get(key)) is None:
            if len(self._sides) >= _MOST_SIDES:
                self._sides.clear()
            side = self._sides[key] = self._free_side(shapes or {})
        return side

    def _free_side(self, shapes: Shapes) -> Side:
        ports = [
            replace(port, shape=shapes[port.name]) if port.name in shapes else port
            for port in self._ports
        ]
        boxes = [
            LeadingBox(port.shape, whole.shape, port.dtype.itemsize)
            for port, whole in zip(ports, self._ports, strict=True)
        ]
        sizes = [
            size if port.shape == whole.shape or port.image else box.bytes
            for port, whole, box, size in zip(ports, self._ports, boxes, self._sizes, strict=True)
        ]
        free = {i: port for i, port in enumerate(ports) if i not in self._images_bound}
        inputs = {i: port for i, port in free.items() if i < len(self.inputs)}
        outputs = {i: port for i, port in free.items() if i >= len(self.inputs)}
        place = self.context, self.queue, self._alignment
        return Side(inputs, outputs, sizes, boxes, *place, self._ports, self._overwritten)

    def _refuse_bound(self, given: object) -> None:
        """Raise CloptError if `given` has an entry for a port that is bound to an image."""
        names = {self._ports[i].name for i in self._images_bound}
        if not isinstance(given, Mapping | list | tuple):
            return
        for name in cast("Iterable[object]", given):
            if isinstance(name, str) and name in names:
                raise CloptError(
                    f'"{name}" is bound to an image; omit it, or first call bind_image("{name}", '
                    "None)."
                )

    def _memory_for(self, exchange: Exchange) -> tuple[PortMemory, ...]:
        """Return the memory of all ports: the caller's, or else the program's own."""
        given = exchange.memory()
        if not given and self._used:
            return self._used
        memory = self._with_own({**self._images_bound, **given}, self.queue)
        if not given:
            self._used = memory
        return memory

    def _with_own(
        self, given: Mapping[int, PortMemory], queue: cl.CommandQueue
    ) -> tuple[PortMemory, ...]:
        """Return the memory of all ports; those that are not given have the program's own."""
        bound = shared(self._overwritten, given)
        for i in range(len(self._ports)):
            if i not in bound and i not in self._own:
                source = self._overwritten.get(i, i)
                self._own[i] = self._own.get(source) or self._make(i, queue)
        return tuple(bound.get(i) or self._own[i] for i in range(len(self._ports)))

    def _held(self, sizes: Mapping[str, Array]) -> Collection[str]:
        """Return the inputs whose arrays are on the device; a copy that fails leaves none there."""
        held = [name for name, array in sizes.items() if self._sent.get(name) is array]
        self._sent.clear()
        return held

    def _make(self, index: int, queue: cl.CommandQueue) -> PortMemory:
        if self._ports[index].image is not None:
            image = self.program.ports[index].storage_type
            return self._images.make(image, cl.mem_flags.READ_WRITE)
        buffer = make_memory(self._images, self._sizes[index]).buffer
        if index < len(self.inputs):
            # Kernels may read the elements after those of a smaller input, for example as indices.
            cl.enqueue_fill_buffer(queue, buffer, bytes(1), 0, buffer.size)
        return buffer


def kernel_cache(folder: Path | None, use_cache: bool) -> BinaryCache:
    """Return the cache of built kernels in `folder`, by default the user's cache."""
    return BinaryCache((folder or default_cache_folder()) if use_cache else None)
