"""Loops that are long enough not to be unrolled, compared with onnxruntime in numpy."""

from __future__ import annotations

from itertools import product

import onnx
import pytest

from clopt.dialects import nn
from support.onnx.loops import GATES, LOOP, SCAN, recurrent
from support.onnx.models import Imported, agree, load


def loops(imported: Imported) -> list[nn.LoopOp]:
    """The loops of the network."""
    return [op for op in imported.main.walk() if isinstance(op, nn.LoopOp)]


@pytest.mark.parametrize(
    ("kind", "direction"), list(product(GATES, ["forward", "reverse", "bidirectional"]))
)
@pytest.mark.by_default(cases=3)
def test_a_recurrent_operator_is_a_loop_for_each_direction(kind: str, direction: str):
    imported = agree(recurrent(kind, 9, direction))
    ways = 2 if direction == "bidirectional" else 1
    assert [op.trip_count for op in loops(imported)] == [9] * ways
    # The product of the inputs and the weights is computed for all steps at once.
    assert imported.ops().count("matmul") == ways


@pytest.mark.parametrize("kind", GATES)
def test_sequences_of_several_lengths(kind: str):
    assert loops(agree(recurrent(kind, 7, "bidirectional", [7, 4])))


def test_the_size_of_a_network_does_not_depend_on_the_steps():
    short, long = (load(recurrent("LSTM", time)) for time in (5, 5000))
    assert len(list(short.module.walk())) == len(list(long.module.walk()))


def test_few_steps_are_unrolled():
    assert not loops(load(recurrent("GRU", 4)))


def test_loop():
    (op,) = loops(agree(LOOP))
    assert (op.trip_count, op.carried_count, op.row_count) == (7, 2, 1)


def test_scan():
    (op,) = loops(agree(SCAN))
    assert (op.trip_count, op.carried_count, op.row_count) == (6, 1, 2)
    assert [op.is_reversed(i) for i in range(4)] == [False, True, True, False]


SHAPES = """
    <ir_version: 9, opset_import: ["": 17]>
    g (float[2] x) => (float[k] y) {
        n = Constant<value_int=5>()
        c = Constant<value = bool {1}>()
        y = Loop (n, c, x) <
            body = b (int64 i, bool going, float[m] a) => (bool more, float[l] next) {
                more = Identity(going)
                next = Concat<axis=0>(a, x)
            }
        >
    }
"""

ENDS = """
    <ir_version: 9, opset_import: ["": 17]>
    g (float[2] x) => (float[2] y) {
        n = Constant<value_int=100>()
        c = Constant<value = bool {1}>()
        end = Constant<value_int=6>()
        y = Loop (n, c, x) <
            body = b (int64 i, bool going, float[2] a) => (bool more, float[2] next) {
                more = Less(i, end)
                next = Add(a, x)
            }
        >
    }
"""

SLICES = """
    <ir_version: 9, opset_import: ["": 17]>
    g (float[6,2] x, float[1,2] s) => (float[1,2] y) {
        n = Constant<value_int=6>()
        c = Constant<value = bool {1}>()
        one = Constant<value_ints=[1]>()
        y = Loop (n, c, s) <
            body = b (int64 i, bool going, float[1,2] a) => (bool more, float[1,2] next) {
                more = Identity(going)
                start = Reshape(i, one)
                end = Add(start, one)
                zero = Sub(one, one)
                row = Slice(x, start, end, zero)
                next = Add(a, row)
            }
        >
    }
"""


@pytest.mark.parametrize("text", [SHAPES, ENDS, SLICES], ids=["shapes", "ends", "slices"])
def test_a_loop_whose_iterations_differ_is_unrolled(text: str):
    assert not loops(agree(onnx.parser.parse_model(text)))


KNOWN = """
    <ir_version: 9, opset_import: ["": 17]>
    g (float[64] x) => (float[a,b] y) {
        n = Constant<value_int=5>()
        c = Constant<value = bool {1}>()
        two = Constant<value_ints=[2]>()
        one = Constant<value_ints=[1]>()
        s = Loop (n, c, one) <
            body = b (int64 i, bool going, int64[1] a) => (bool more, int64[1] next) {
                more = Identity(going)
                next = Mul(a, two)
            }
        >
        shape = Concat<axis=0>(two, s)
        y = Reshape(x, shape)
    }
"""


def test_a_loop_over_known_values_is_computed_at_import():
    assert agree(onnx.parser.parse_model(KNOWN)).ops() == ["reshape"]


NESTED = """
    <ir_version: 9, opset_import: ["": 17]>
    g (float[2] x) => (float[2] y) {
        n = Constant<value_int=5>()
        c = Constant<value = bool {1}>()
        y = Loop (n, c, x) <
            body = b (int64 i, bool going, float[2] a) => (bool more, float[2] next) {
                more = Identity(going)
                next = Loop (n, c, a) <
                    body = d (int64 j, bool on, float[2] e) => (bool still, float[2] f) {
                        still = Identity(on)
                        f = Sin(e)
                    }
                >
            }
        >
    }
"""


def test_a_loop_inside_of_a_loop_is_unrolled():
    (op,) = loops(agree(onnx.parser.parse_model(NESTED)))
    assert op.trip_count == 5


INVARIANT = """
    <ir_version: 9, opset_import: ["": 17]>
    g (float[2] x, float[2] z) => (float[2] y) {
        n = Constant<value_int=5>()
        c = Constant<value = bool {1}>()
        y = Loop (n, c, x) <
            body = b (int64 i, bool going, float[2] a) => (bool more, float[2] next) {
                more = Identity(going)
                s = Exp(z)
                next = Mul(a, s)
            }
        >
    }
"""


def test_what_all_iterations_share_is_computed_before_the_loop():
    assert agree(onnx.parser.parse_model(INVARIANT)).ops() == ["unary exp"]


YIELDED = """
    <ir_version: 9, opset_import: ["": 17]>
    g (float[2] x, float[2] z) => (float[2] y, float[5,2] all) {
        n = Constant<value_int=5>()
        c = Constant<value = bool {1}>()
        y, all = Loop (n, c, x) <
            body = b (int64 i, bool going, float[2] a)
                => (bool more, float[2] next, float[2] row) {
                more = Identity(going)
                next = Exp(z)
                row = Add(a, z)
            }
        >
    }
"""


def test_what_all_iterations_share_can_be_their_result():
    assert loops(agree(onnx.parser.parse_model(YIELDED)))
