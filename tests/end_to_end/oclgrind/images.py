"""Runs small programs over images of every kind on Oclgrind's simulated device.

test_oclgrind.py starts it in a process of its own. Oclgrind does not report writes outside of an
image but puts them somewhere else, so the results show them.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np

from clopt.backends.pyopencl_runtime import Executable, find_device, target_for
from clopt.weights import Weights
from support.cl.image_programs import DTYPES, KINDS, aliases, blur, blurred, copies, lowered

SHAPE = (2, 3, 5, 4)


def run(text: str, x: np.ndarray, weights: Weights | None = None) -> np.ndarray:
    """The program's result for `x`."""
    target = target_for(find_device("oclgrind")).with_facts({"texture": "prefer"})
    module = lowered(text, target)
    with tempfile.TemporaryDirectory() as folder:
        program = Executable(module, weights or Weights(), "oclgrind", cache_folder=Path(folder))
        return program.run([x])[0]


def main() -> None:
    rng = np.random.default_rng(0)
    w = rng.standard_normal((2, 3, 3, 4)).astype(np.float32)
    x = rng.standard_normal(SHAPE).astype(np.float32)
    for kind in KINDS:
        for element, dtype in DTYPES.items():
            values = rng.integers(-99, 99, SHAPE).astype(dtype)
            y = run(copies(SHAPE, element, kind), values)
            np.testing.assert_array_equal(y, values, err_msg=f"{kind} {element}")
        weights = Weights()
        y = run(blur(SHAPE, weights.add(w, "w"), kind), x, weights)
        np.testing.assert_allclose(y, blurred(x, w), rtol=1e-4, atol=1e-5, err_msg=kind)
    for write in ("", "image1d_buffer"):
        for read in ("", "image1d_buffer"):
            y = run(aliases(SHAPE, (5, 3, 2, 4), write, read), x)
            np.testing.assert_array_equal(y, x.reshape(5, 3, 2, 4), err_msg=f"{write} {read}")


if __name__ == "__main__":
    main()
