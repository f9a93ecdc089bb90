"""Branches with a condition computed at run time, compared with onnxruntime in numpy."""

from __future__ import annotations

import onnx
import pytest

from clopt.errors import CloptError
from clopt.messages.open_dimensions import OpenValuesError
from support.onnx.branches import MODELS, feeds, random_branches
from support.onnx.models import agree, load


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.by_default(cases=1)
def test_branches(name: str):
    proto = MODELS[name]
    for threshold in (-2.0, 2.0, 0.0):
        agree(proto, feeds(proto, 0, threshold))


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.by_default(cases=1)
def test_random_branches(seed: int):
    proto = random_branches(seed)
    for threshold in (-2.0, 2.0, 0.0):
        agree(proto, feeds(proto, seed, threshold))


def branches(then: str, other: str, result: str) -> onnx.ModelProto:
    """A model that takes one of two branches if the mean of an image is positive."""
    return onnx.parser.parse_model(f"""
        <ir_version: 9, opset_import: ["": 17]>
        g (float[16,16] x) => ({result} y) {{
            zero = Constant<value_float=0.0>()
            s = ReduceMean<keepdims=0>(x)
            c = Greater(s, zero)
            r = If (c) <then_branch = a () => ({result} p) {{ {then} }},
                else_branch = b () => ({result} q) {{ {other} }}>
            y = Identity(r)
        }}
    """)


def test_branches_must_return_equal_shapes():
    with pytest.raises(CloptError) as refused:
        load(branches("p = Relu(x)", "q = ReduceSum(x)", "float[n,m]"))
    assert str(refused.value) == (
        "node 'If_3' (If): its condition is computed at run time, so its branches must return "
        "tensors of equal shapes, which are known at import, not 16x16 float32 and 1x1 float32."
    )


def test_branches_must_not_return_sizes_that_depend_on_values():
    with pytest.raises(CloptError, match="not at most 2x256 int64 and at most 2x256 int64"):
        load(branches("p = NonZero(x)", "z = Relu(x) q = NonZero(z)", "int64[2,n]"))


SEQUENCES = """
    <ir_version: 9, opset_import: ["": 17]>
    g (float[16,16] x) => (float[n,16] y) {
        zero = Constant<value_float=0.0>()
        s = ReduceMean<keepdims=0>(x)
        c = Greater(s, zero)
        r = If (c) <
            then_branch = a () => (seq(float[16,16]) p) { k = Relu(x) p = SequenceConstruct(k, x) },
            else_branch = b () => (seq(float[16,16]) q) { q = SequenceConstruct(x, x) }
        >
        y = ConcatFromSequence<axis=0>(r)
    }
"""


def test_branches_may_return_sequences():
    agree(onnx.parser.parse_model(SEQUENCES))
    with pytest.raises(CloptError, match="must return sequences of equal lengths"):
        load(
            onnx.parser.parse_model(
                SEQUENCES.replace("q = SequenceConstruct(x, x)", "q = SequenceConstruct(x)")
            )
        )


def test_a_condition_that_is_an_input_selects_what_is_supported():
    """A branch that cannot be imported is no mistake if the other one can be taken alone."""
    proto = onnx.parser.parse_model("""
        <ir_version: 9, opset_import: ["": 17]>
        g (float[16,16] x, bool c) => (float[16,16] y) {
            y = If (c) <then_branch = a () => (float[16,16] p) { p = Relu(x) },
                else_branch = b () => (float[16,16] q) { q = NoOperator(x) }>
        }
    """)
    with pytest.raises(OpenValuesError) as missing:
        load(proto)
    assert list(missing.value.inputs) == ["c"]
