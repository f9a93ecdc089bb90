"""Models with branches that a condition computed at run time selects."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import onnx

import clopt
from support.onnx.models import by_onnxruntime

_INPUTS = "float[4,16] x, float[4,16] w, float t"
_HEAD = '<ir_version: 9, opset_import: ["": 17]>'

# Values from outside, several results, one of which is the same in both branches.
SEVERAL = onnx.parser.parse_model(f"""
    {_HEAD}
    g ({_INPUTS}) => (float[4,16] y, float[4] z, float[4,16] v) {{
        s = ReduceMean<keepdims=0>(x)
        c = Greater(s, t)
        o = Sin(x)
        y, z, v = If (c) <
            then_branch = a () => (float[4,16] p, float[4] q, float[4,16] r) {{
                k = Constant<value_ints=[16,4]>()
                m = Reshape(w, k)
                n = MatMul(o, m)
                i = ReduceSum<keepdims=0>(n)
                p = Mul(o, i)
                one = Constant<value_ints=[1]>()
                q = ReduceMax<axes=[1],keepdims=0>(n)
                r = Identity(o)
            }},
            else_branch = b () => (float[4,16] e, float[4] f, float[4,16] h) {{
                e = Softmax(w)
                f = ReduceMin<axes=[1],keepdims=0>(e)
                h = Identity(o)
            }}
        >
    }}
""")

# The inner condition is computed in the branch that contains the inner branches.
NESTED = onnx.parser.parse_model(f"""
    {_HEAD}
    g ({_INPUTS}) => (float[4,16] y) {{
        s = ReduceMean<keepdims=0>(x)
        c = Greater(s, t)
        y = If (c) <
            then_branch = a () => (float[4,16] p) {{
                p = Relu(w)
            }},
            else_branch = b () => (float[4,16] e) {{
                f = Sub(x, w)
                u = ReduceMean<keepdims=0>(f)
                d = Less(u, t)
                e = If (d) <
                    then_branch = a2 () => (float[4,16] p2) {{ p2 = Exp(f) }},
                    else_branch = b2 () => (float[4,16] e2) {{ e2 = Softmax(f) }}
                >
            }}
        >
    }}
""")


def in_loop(trips: int) -> onnx.ModelProto:
    """A loop whose iterations take the one or the other branch, with values from everywhere."""
    return onnx.parser.parse_model(f"""
        {_HEAD}
        g ({_INPUTS}) => (float[4,16] y, float[{trips},4,16] all) {{
            n = Constant<value_int={trips}>()
            go = Constant<value = bool {{1}}>()
            y, all = Loop (n, go, x) <
                body = b (int64 i, bool going, float[4,16] a)
                    => (bool more, float[4,16] next, float[4,16] row) {{
                    more = Identity(going)
                    s = ReduceMean<keepdims=0>(a)
                    c = Greater(s, t)
                    next = If (c) <
                        then_branch = p () => (float[4,16] less) {{ less = Sub(a, w) }},
                        else_branch = e () => (float[4,16] more2) {{
                            f = Cast<to=1>(i)
                            more1 = Add(a, f)
                            more2 = Add(more1, w)
                        }}
                    >
                    row = Identity(next)
                }}
            >
        }}
    """)


def around_loop(trips: int) -> onnx.ModelProto:
    """A branch with a loop in it."""
    return onnx.parser.parse_model(f"""
        {_HEAD}
        g ({_INPUTS}) => (float[4,16] y) {{
            s = ReduceMean<keepdims=0>(x)
            c = Greater(s, t)
            y = If (c) <
                then_branch = a () => (float[4,16] p) {{
                    n = Constant<value_int={trips}>()
                    go = Constant<value = bool {{1}}>()
                    p = Loop (n, go, x) <
                        body = b (int64 i, bool going, float[4,16] h)
                            => (bool more, float[4,16] next) {{
                            more = Identity(going)
                            k = Mul(h, w)
                            next = Sin(k)
                        }}
                    >
                }},
                else_branch = b2 () => (float[4,16] e) {{ e = Softmax(x) }}
            >
        }}
    """)


MODELS: dict[str, onnx.ModelProto] = {
    "several results": SEVERAL,
    "nested": NESTED,
    "in a long loop": in_loop(9),
    "in a short loop": in_loop(3),
    "around a long loop": around_loop(6),
    "around a short loop": around_loop(2),
}


_UNARY = ("Relu", "Sin", "Tanh", "Abs", "Neg", "Softmax")
_BINARY = ("Add", "Sub", "Mul", "Max", "Min")


class RandomModel:
    """Text of random operators, branches and loops, whose values all have one type."""

    def __init__(self, seed: int):
        self.rng = np.random.default_rng(seed)
        self.count = 0

    def name(self) -> str:
        self.count += 1
        return f"v{self.count}"

    def pick(self, choices: Sequence[str]) -> str:
        return choices[self.rng.integers(len(choices))]

    def block(self, scope: list[str], depth: int) -> tuple[str, list[str]]:
        """Return the text of some nodes, and the values that they can read and define."""
        lines: list[str] = []
        known = list(scope)
        for _ in range(self.rng.integers(1, 4)):
            lines.append(self.node(known, depth))
        return "\n".join(lines), known

    def node(self, known: list[str], depth: int) -> str:
        kind = self.rng.integers(5) if depth else 0
        if kind >= 3:
            return self.branch(known, depth - 1)
        if kind == 2:
            return self.loop(known, depth - 1)
        result = self.name()
        operands = [self.pick(known) for _ in range(self.rng.integers(1, 3))]
        operator = self.pick(_UNARY if len(operands) == 1 else _BINARY)
        known.append(result)
        return f"{result} = {operator}({', '.join(operands)})"

    def branch(self, known: list[str], depth: int) -> str:
        results = [self.name() for _ in range(self.rng.integers(1, 3))]
        bodies = [self.body(known, depth, len(results), "") for _ in range(2)]
        mean, condition, read = self.name(), self.name(), self.pick(known)
        known += results
        return f"""
            {mean} = ReduceMean<keepdims=0>({read})
            {condition} = Greater({mean}, t)
            {", ".join(results)} = If ({condition}) <
                then_branch = {bodies[0]}, else_branch = {bodies[1]}
            >"""

    def loop(self, known: list[str], depth: int) -> str:
        trips, go, result = self.name(), self.name(), self.name()
        start = self.pick(known)
        carried = self.name()
        body = self.body([*known, carried], depth, 1, f"int64 i, bool go, float[4,16] {carried}")
        known.append(result)
        return f"""
            {trips} = Constant<value_int={self.rng.integers(2, 7)}>()
            {go} = Constant<value = bool {{1}}>()
            {result} = Loop ({trips}, {go}, {start}) < body = {body} >"""

    def body(self, scope: list[str], depth: int, count: int, inputs: str) -> str:
        lines, known = self.block(scope, depth)
        results = [self.name() for _ in range(count)]
        ends = "\n".join(f"{each} = Identity({self.pick(known)})" for each in results)
        types = [f"float[4,16] {each}" for each in results]
        if inputs:
            more = self.name()
            types.insert(0, f"bool {more}")
            ends += f"\n{more} = Identity(go)"
        return f"g{self.name()} ({inputs}) => ({', '.join(types)}) {{ {lines} {ends} }}"


def random_branches(seed: int) -> onnx.ModelProto:
    """Return a model of nested branches and loops."""
    made = RandomModel(seed)
    known = ["x", "w"]
    lines = made.branch(known, 2)
    rest, known = made.block(known, 2)
    outputs = ", ".join(f"float[4,16] {each}" for each in known[2:])
    return onnx.parser.parse_model(f"{_HEAD} g ({_INPUTS}) => ({outputs}) {{ {lines} {rest} }}")


def feeds(proto: onnx.ModelProto, seed: int, threshold: float) -> dict[str, np.ndarray]:
    """Return random inputs; `threshold` decides the first condition: inputs are in -1 .. 1."""
    rng = np.random.default_rng(seed)
    shapes = {
        value.name: [d.dim_value for d in value.type.tensor_type.shape.dim]
        for value in proto.graph.input
    }
    arrays = {name: rng.uniform(-1, 1, shape) for name, shape in shapes.items()}
    arrays["t"] = np.array(threshold)
    return {name: array.astype(np.float32) for name, array in arrays.items()}


def agree(
    compiled: clopt.CompiledModel, proto: onnx.ModelProto, thresholds: Sequence[float]
) -> None:
    """Fail unless a compiled model computes what onnxruntime does, one threshold after another."""
    for seed, threshold in enumerate(thresholds):
        given = feeds(proto, seed, threshold)
        for got, wanted in zip(compiled.run(given), by_onnxruntime(proto, given), strict=True):
            assert got.shape == wanted.shape
            np.testing.assert_allclose(got, wanted, rtol=1e-4, atol=1e-5)
