"""Kernels that cannot become OpenCL C are refused in a sentence."""

from __future__ import annotations

import numpy as np
import pytest

from clopt.backends.opencl_c import emit
from clopt.errors import CloptError
from clopt.machine.target import Target
from support.tir.hand_written import parse

RANDOM = np.random.default_rng(7)


@pytest.mark.parametrize(
    ("body", "target", "message"),
    [
        (
            "%y: memref<1xf64>",
            Target.from_facts("phone", {"fp64": False}),
            "phone has no double precision",
        ),
        (", ".join(f"%p{i}: memref<1xf32>" for i in range(129)), Target(), "129 buffers"),
        (
            "%y: memref<1xf32, #tir.scope<private>>",
            Target(),
            "parameter y of a kernel is in private",
        ),
        ("%y: memref<1xi24>", Target(), "OpenCL C has no element type i24"),
        ("%y: memref<?xf32>", Target(), "static shapes"),
    ],
)
def test_refusals(body: str, target: Target, message: str) -> None:
    text = f"tir.func @f({body}) attributes {{outputs = array<i64>}} {{ }}"
    with pytest.raises(CloptError, match=message):
        emit(parse(text), target)


def test_refuses_a_barrier_that_not_all_reach() -> None:
    text = """
    tir.func @f(%y: memref<7xf32>)
        attributes {outputs = array<i64: 0>, global_size = array<i64: 8>} {
      tir.for global_x %i = 0 to 7 { tir.barrier }
    }
    """
    with pytest.raises(CloptError, match="only 7 of 8 work-items reach"):
        emit(parse(text))
