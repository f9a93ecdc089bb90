"""The common base of the ways to run a program on a device: checks, transfers, turns."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from operator import is_not
from pathlib import Path
from typing import TYPE_CHECKING, cast

import pyopencl as cl

from ...errors import CloptError
from ...tensor_info import TensorInfo
from .bindings import Bindable, PortMemory, bound_memory
from .cache import BinaryCache, default_cache_folder
from .devices import Device
from .given_images import check_image, refuse_image
from .images import Images
from .inputs import Array, Arrays, check_names, checked_inputs
from .memory import make_memory
from .place import check_queue
from .timing import WARM_UP, Timing
from .transfers import Download, upload
from .turns import Turn

if TYPE_CHECKING:
    from ...dialects.cl.program import ProgramOp
    from .c_package import Offload


@dataclass(frozen=True)
class Interface:
    """The inputs and outputs of a program."""

    inputs: tuple[TensorInfo, ...]
    outputs: tuple[TensorInfo, ...]
    sizes: Sequence[int]
    """The bytes of each input, then of each output."""


class Runnable(ABC):
    """One `cl.program` on a device: `run` with numpy arrays, `enqueue` with the caller's buffers.

    The constructor sets everything up. An inference is then a sequence of enqueues on one in-order
    queue; `enqueue` never waits for the device, `run` waits once, at its end.

    Inferences share the intermediate buffers, so they run one after the other. Calls from several
    threads are safe and take turns, also between programs that share an arena. A caller who
    enqueues on two queues must order them with events.
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
    """The way in which each kind of image lies in planned memory."""
    device_bytes: int
    """The bytes of arenas, of images and buffers outside of them, and of weights, without inputs
    and outputs."""
    offload: Offload | None = None
    """The operations that a library computes; None if there are none."""
    _turn: Turn

    def __init__(
        self, interface: Interface, place: tuple[Device, cl.Context, cl.CommandQueue]
    ) -> None:
        self.device, self.context, self.queue = place
        self.inputs, self.outputs = interface.inputs, interface.outputs
        self._images = Images(self.device, self.context)
        self._ports = (*self.inputs, *self.outputs)
        self._sizes = interface.sizes
        self._bound: tuple[PortMemory, ...] = ()
        self._own: dict[int, PortMemory] = {}
        # What `run` used last, as long as `bind_image` changes nothing.
        self._used: tuple[PortMemory, ...] = ()
        # What the caller gave last: it is checked when it changes.
        self._given: tuple[Bindable, ...] = ()
        self._given_memory: tuple[PortMemory, ...] = ()
        self._images_bound: dict[int, cl.Image] = {}

    def run(self, inputs: Arrays) -> list[Array]:
        """One inference: arrays in, by name or in order; new arrays out, in order.

        Inputs and outputs that are bound to images are neither given nor returned.
        """
        arrays = self._checked(inputs)
        with self._turn:
            memory = self._run_memory()
            # pyopencl waits when a transfer's event is dropped, so the events live to the end.
            transfers = self._upload(arrays, memory)
            self._enqueue(self.queue, memory)
            results = [
                Download(self.queue, self._ports[i], memory[i])
                for i in range(len(self.inputs), len(self._ports))
                if i not in self._images_bound
            ]
            self.queue.finish()
            del transfers
        return [result.array for result in results]

    def profile(self, inputs: Arrays, runs: int) -> list[list[Timing]]:
        """Time `runs` inferences on `inputs`, command by command, after a few to warm up.

        Each has one timing for each of `cl.enqueued(program)`. CloptError for wrong inputs.
        """
        arrays = self._checked(inputs)
        with self._turn:
            memory = self._run_memory()
            transfers = self._upload(arrays, memory)
            for _ in range(WARM_UP):
                self._enqueue(self.queue, memory)
            self.queue.finish()
            del transfers
            return self._timings(memory, runs)

    def enqueue(self, queue: cl.CommandQueue, buffers: Mapping[str, Bindable]) -> None:
        """Put one inference on the caller's in-order `queue` and return without waiting.

        `buffers` has one buffer, or array of pyopencl's, for every input and output, by name, or an
        image for those that are compiled to be images and have none by `bind_image`. The caller
        keeps them and this program alive until the queue has finished. CloptError for an output
        that shares bytes with an input or another output.
        """
        check_queue(queue, self.context)
        bound = self._images_bound
        self._refuse_bound(buffers)
        free = [port for i, port in enumerate(self._ports) if i not in bound]
        check_names(free, buffers, "input or output")
        given = tuple(
            bound[i] if i in bound else buffers[port.name] for i, port in enumerate(self._ports)
        )
        if len(given) != len(self._given) or any(map(is_not, given, self._given)):
            self._given_memory = bound_memory(
                self._ports, self._sizes, len(self.inputs), given, self.context
            )
            self._given = given
        memory = self._given_memory
        with self._turn:
            self._enqueue(queue, memory)

    def bind_image(self, name: str, image: cl.Image | None) -> None:
        """Let inferences read or write the caller's `image` for this input or output.

        It stays bound until the next call for `name`; None takes it away. The caller keeps it
        alive. CloptError for an image that does not fit, and where the program takes a buffer.
        """
        names = [port.name for port in self._ports]
        check_names(self._ports, dict.fromkeys([*names, name]), "input or output")
        index = names.index(name)
        port = self._ports[index]
        if port.image is None:
            raise refuse_image(port)
        with self._turn:
            self._used = ()
            if image is None:
                self._images_bound.pop(index, None)
            else:
                is_output = index >= len(self.inputs)
                self._images_bound[index] = check_image(port, image, is_output, self.context)

    @property
    @abstractmethod
    def program(self) -> ProgramOp:
        """The program as it runs, with planned memory or without."""

    @abstractmethod
    def _enqueue(self, queue: cl.CommandQueue, buffers: tuple[PortMemory, ...]) -> None:
        """Put the commands on the queue, over `buffers` in the order of the ports."""

    @abstractmethod
    def _timings(self, buffers: tuple[PortMemory, ...], runs: int) -> list[list[Timing]]:
        """Time inferences over the buffers that were enqueued last."""

    def _checked(self, inputs: Arrays) -> dict[int, Array]:
        """The arrays of the inputs that have no image, by their positions."""
        free = [i for i in range(len(self.inputs)) if i not in self._images_bound]
        self._refuse_bound(inputs)
        arrays = checked_inputs([self.inputs[i] for i in free], inputs)
        return dict(zip(free, arrays, strict=True))

    def _refuse_bound(self, given: object) -> None:
        """CloptError for contents, or a buffer, of an input or output that has an image."""
        names = {self._ports[i].name for i in self._images_bound}
        for name in cast("Mapping[str, object]", given) if isinstance(given, Mapping) else ():
            if name in names:
                raise CloptError(
                    f'"{name}" is bound to an image; leave it out, or call bind_image("{name}", '
                    "None) before."
                )

    def _upload(self, arrays: Mapping[int, Array], memory: Sequence[PortMemory]) -> list[cl.Event]:
        return [
            event
            for i, array in arrays.items()
            for event in upload(self.queue, self._ports[i], memory[i], array)
        ]

    def _run_memory(self) -> tuple[PortMemory, ...]:
        """The images that are bound, and memory of the program's own for all else."""
        if not self._used:
            for i in range(len(self._ports)):
                if i not in self._images_bound and i not in self._own:
                    self._own[i] = self._make(i)
            self._used = tuple(
                self._images_bound.get(i) or self._own[i] for i in range(len(self._ports))
            )
        return self._used

    def _make(self, index: int) -> PortMemory:
        if self._ports[index].image is not None:
            image = self.program.ports[index].storage_type
            return self._images.make(image, cl.mem_flags.READ_WRITE)
        return make_memory(self._images, self._sizes[index]).buffer


def kernel_cache(folder: Path | None, use_cache: bool) -> BinaryCache:
    """The cache of built kernels in `folder`, by default in the user's."""
    return BinaryCache((folder or default_cache_folder()) if use_cache else None)
