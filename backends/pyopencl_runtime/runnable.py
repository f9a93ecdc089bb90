"""The common base of the ways to run a program on a device: checks, transfers, turns."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from operator import is_not
from pathlib import Path

import numpy as np
import pyopencl as cl
from xdsl.dialects.builtin import ModuleOp

from ...dialects.cl.ops import byte_count
from ...dialects.cl.program import Port, ProgramOp
from ...dialects.cl.target_attr import target_of
from ...dialects.nn.types import numpy_dtype
from .bindings import DeviceMemory, bound_buffers
from .c_package import Offload
from .cache import BinaryCache, default_cache_folder
from .devices import Device
from .images import Images
from .inputs import Array, Arrays, check_names, checked_inputs
from .memory import make_memory
from .place import check_queue
from .timing import WARM_UP, Timing
from .turns import Turn


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
    """The operations that CLML computes; None if there are none."""
    _turn: Turn

    def __init__(
        self, program: ProgramOp, place: tuple[Device, cl.Context, cl.CommandQueue]
    ) -> None:
        self.program = program
        """The program as it runs, with planned memory or without."""
        self.device, self.context, self.queue = place
        self.inputs: tuple[Port, ...] = program.input_ports
        self.outputs: tuple[Port, ...] = program.output_ports
        self._images = Images(self.device, self.context)
        self._ports = program.ports
        self._sizes = [byte_count(port.storage_type) for port in self._ports]
        self._bound: tuple[cl.Buffer, ...] = ()
        self._own: tuple[cl.Buffer, ...] = ()
        # What the caller gave last: it is checked when it changes.
        self._given: tuple[DeviceMemory, ...] = ()
        self._given_buffers: tuple[cl.Buffer, ...] = ()

    def run(self, inputs: Arrays) -> list[Array]:
        """One inference: arrays in, by name or in order; new arrays out, in order."""
        arrays = checked_inputs(self.inputs, inputs)
        results = [np.empty(port.shape, numpy_dtype(port.element_type)) for port in self.outputs]
        with self._turn:
            buffers = self._own_buffers()
            # pyopencl waits when a transfer's event is dropped, so the events live to the end.
            transfers = self._upload(arrays, buffers)
            self._enqueue(self.queue, buffers)
            transfers += [
                cl.enqueue_copy(self.queue, result, buffer, is_blocking=False)
                for result, buffer in zip(results, buffers[len(arrays) :], strict=True)
                if result.size
            ]
            self.queue.finish()
        return results

    def profile(self, inputs: Arrays, runs: int) -> list[list[Timing]]:
        """Time `runs` inferences on `inputs`, command by command, after a few to warm up.

        Each has one timing for each of `cl.enqueued(program)`. CloptError for wrong inputs.
        """
        arrays = checked_inputs(self.inputs, inputs)
        with self._turn:
            buffers = self._own_buffers()
            transfers = self._upload(arrays, buffers)
            for _ in range(WARM_UP):
                self._enqueue(self.queue, buffers)
            self.queue.finish()
            del transfers
            return self._timings(buffers, runs)

    def enqueue(self, queue: cl.CommandQueue, buffers: Mapping[str, DeviceMemory]) -> None:
        """Put one inference on the caller's in-order `queue` and return without waiting.

        `buffers` has one buffer, or array of pyopencl's, for every input and output, by name. The
        caller keeps them and this program alive until the queue has finished. CloptError for an
        output that shares bytes with an input or another output.
        """
        check_queue(queue, self.context)
        check_names(self._ports, buffers, "input or output")
        given = tuple(buffers[port.name] for port in self._ports)
        if len(given) != len(self._given) or any(map(is_not, given, self._given)):
            self._given_buffers = bound_buffers(self._ports, self._sizes, len(self.inputs), buffers)
            self._given = given
        bound = self._given_buffers
        with self._turn:
            self._enqueue(queue, bound)

    @abstractmethod
    def _enqueue(self, queue: cl.CommandQueue, buffers: tuple[cl.Buffer, ...]) -> None:
        """Put the commands on the queue, over `buffers` in the order of the ports."""

    @abstractmethod
    def _timings(self, buffers: tuple[cl.Buffer, ...], runs: int) -> list[list[Timing]]:
        """Time inferences over the buffers that were enqueued last."""

    def _upload(self, arrays: Sequence[Array], buffers: tuple[cl.Buffer, ...]) -> list[cl.Event]:
        return [
            cl.enqueue_copy(self.queue, buffer, array, is_blocking=False)
            for array, buffer in zip(arrays, buffers, strict=False)
            if array.size
        ]

    def _own_buffers(self) -> tuple[cl.Buffer, ...]:
        if not self._own:
            self._own = tuple(make_memory(self._images, size).buffer for size in self._sizes)
        return self._own


def kernel_cache(folder: Path | None, use_cache: bool) -> BinaryCache:
    """The cache of built kernels in `folder`, by default in the user's."""
    return BinaryCache((folder or default_cache_folder()) if use_cache else None)


def source_of(module: ModuleOp) -> str:
    """The OpenCL C of a module's kernels."""
    from ..opencl_c import emit

    return emit(module, target_of(module))
