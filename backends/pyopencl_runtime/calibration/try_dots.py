"""A trial of a kernel that multiplies bytes; also a script that imports nothing of clopt.

The script reads a JSON list from stdin: names of platform and device, driver version, and source.
Its exit status is 0 if the sums are exact.
"""

# pyright: reportPrivateUsage=false

from __future__ import annotations

import json
import sys

import numpy as np
import pyopencl as cl
from pyopencl import _cl as opencl

_LANES = 16


def works(device: cl.Device, source: str) -> bool:
    """Return whether the kernel `try_dots` computes exact sums, also of the largest products.

    Raises pyopencl's errors, or ends the process, if the compiler rejects the source.
    """
    context = cl.Context([device])
    queue = cl.CommandQueue(context, device)
    # Bypasses pyopencl's own cache of builds on disk, which may be full.
    built = opencl._Program(context, source)
    built._build(b"", [device])
    program = cl.Program(built)
    rng = np.random.default_rng(0)
    a = rng.integers(0, 256, (_LANES, 4)).astype(np.uint8)
    b = rng.integers(-128, 128, (_LANES, 4)).astype(np.int8)
    a[0], b[0], b[1] = 255, -128, 127
    sums = rng.integers(-(1 << 20), 1 << 20, _LANES).astype(np.int32)
    expected = sums + (a.astype(np.int32) * b.astype(np.int32)).sum(axis=1, dtype=np.int32)
    flags = cl.mem_flags.READ_WRITE | cl.mem_flags.COPY_HOST_PTR
    buffers = [cl.Buffer(context, flags, hostbuf=array) for array in (a, b, sums)]
    cl.Kernel(program, "try_dots")(queue, (1,), (1,), *buffers)
    computed = np.empty_like(sums)
    cl.enqueue_copy(queue, computed, buffers[-1])
    queue.finish()
    return np.array_equal(computed, expected)


def _main() -> int:
    *wanted, source = json.load(sys.stdin)
    for platform in cl.get_platforms():
        for device in platform.get_devices():
            if [platform.name, device.name, device.driver_version] == wanted:
                return 0 if works(device, source) else 1
    return 1


if __name__ == "__main__":
    sys.exit(_main())
