"""Models with loops that end when a condition computed at run time is false.

Their input `t` decides how many iterations run: none if it is negative, about ceil(t) otherwise.
"""

from __future__ import annotations

import onnx

from support.onnx.branches import RandomModel

_INPUTS = "float[4,16] x, float[4,16] w, float t"
_HEAD = '<ir_version: 9, opset_import: ["": 17]>'

THRESHOLDS = (-1.0, 2.5, 0.5, 1e6, 3.5)
"""Conditions that are false at the start, after some iterations, and never."""


def stopping(trips: int) -> onnx.ModelProto:
    """A loop with a carried value, one that it leaves alone, and two scan outputs."""
    return onnx.parser.parse_model(f"""
        {_HEAD}
        g ({_INPUTS}) => (float[4,16] y, float[4,16] z, float[k,4] all, int64[k] each) {{
            n = Constant<value_int={trips}>()
            zero = Constant<value_float=0.0>()
            c = Less(zero, t)
            y, z, all, each = Loop (n, c, x, w) <
                body = b (int64 i, bool going, float[4,16] a, float[4,16] d)
                    => (bool more, float[4,16] next, float[4,16] same, float[4] row, int64 j) {{
                    one = Constant<value_float=1.0>()
                    s = Softmax(a)
                    next = Sub(a, s)
                    same = Identity(d)
                    row = ReduceMax<axes=[1],keepdims=0>(next)
                    j = Identity(i)
                    f = Cast<to=1>(i)
                    g = Add(f, one)
                    u = Less(g, t)
                    more = And(u, going)
                }}
            >
        }}
    """)


def in_branch(trips: int) -> onnx.ModelProto:
    """A loop that may stop, in a branch that may be taken, with branches in its body."""
    return onnx.parser.parse_model(f"""
        {_HEAD}
        g ({_INPUTS}) => (float[4,16] y) {{
            s = ReduceMean<keepdims=0>(x)
            two = Constant<value_float=2.0>()
            c = Less(s, t)
            y = If (c) <
                then_branch = a () => (float[4,16] p) {{
                    n = Constant<value_int={trips}>()
                    p = Loop (n, , x) <
                        body = b (int64 i, bool going, float[4,16] h)
                            => (bool more, float[4,16] next) {{
                            f = Cast<to=1>(i)
                            k = Softmax(h)
                            d = Greater(f, two)
                            next = If (d) <
                                then_branch = a2 () => (float[4,16] p2) {{ p2 = Mul(k, w) }},
                                else_branch = b2 () => (float[4,16] e2) {{ e2 = Sub(h, k) }}
                            >
                            m = ReduceMean<keepdims=0>(next)
                            v = Add(m, f)
                            more = Less(v, t)
                        }}
                    >
                }},
                else_branch = e () => (float[4,16] q) {{ q = Relu(x) }}
            >
        }}
    """)


def in_loop(outer: int, inner: int) -> onnx.ModelProto:
    """A loop that may stop in each iteration of one that may stop."""
    return onnx.parser.parse_model(f"""
        {_HEAD}
        g ({_INPUTS}) => (float[4,16] y, float[k,4,16] all) {{
            n = Constant<value_int={outer}>()
            y, all = Loop (n, , x) <
                body = b (int64 i, bool going, float[4,16] a)
                    => (bool more, float[4,16] last, float[4,16] row) {{
                    m = Constant<value_int={inner}>()
                    f = Cast<to=1>(i)
                    last = Loop (m, , a) <
                        body = d (int64 j, bool on, float[4,16] e)
                            => (bool still, float[4,16] next) {{
                            h = Cast<to=1>(j)
                            l = Add(f, h)
                            still = Less(l, t)
                            o = Softmax(e)
                            next = Sub(w, o)
                        }}
                    >
                    row = Neg(last)
                    more = Less(f, t)
                }}
            >
        }}
    """)


def unbounded(trips: str, more: str) -> onnx.ModelProto:
    """A loop without a bound as its trip count, as PyTorch's exporters write `while`.

    It carries a counter, which ends it after six iterations by the operators `more`.
    """
    return onnx.parser.parse_model(f"""
        {_HEAD}
        g ({_INPUTS}) => (float[4,16] y, int64 count) {{
            n = Constant<value_int={2**63 - 1}>()
            start = Constant<value_int=4>()
            zero = Constant<value_float=0.0>()
            c = Less(zero, t)
            y, count = Loop ({trips}, c, x, start) <
                body = b (int64 i, bool going, float[4,16] a, int64 k)
                    => (bool more, float[4,16] next, int64 j) {{
                    one = Constant<value_int=1>()
                    end = Constant<value_int=10>()
                    s = Softmax(a)
                    next = Sub(a, s)
                    j = Add(k, one)
                    h = Add(i, one)
                    f = Cast<to=1>(h)
                    u = Less(f, t)
                    {more}
                }}
            >
        }}
    """)


def limited(trips: str, more: str) -> onnx.ModelProto:
    """A loop with a trip count computed at run time, as `trips` does from whether `w` exceeds t."""
    return onnx.parser.parse_model(f"""
        {_HEAD}
        g ({_INPUTS}) => (float[4,16] y, float[k,4] all) {{
            o = Greater(t, w)
            {trips}
            y, all = Loop (n, , x) <
                body = b (int64 i, bool going, float[4,16] a)
                    => (bool more, float[4,16] next, float[4] row) {{
                    s = Softmax(a)
                    next = Sub(a, s)
                    row = ReduceMax<axes=[1],keepdims=0>(next)
                    m = ReduceMax<keepdims=0>(next)
                    {more}
                }}
            >
        }}
    """)


_COUNT = "p = Cast<to=7>(o) n = ReduceSum<keepdims=0>(p)"
_PLACE = "p = ArgMax<axis=1,keepdims=0>(w) n = ReduceMax<keepdims=0>(p)"
_SMALL = """
    p = Cast<to=7>(o)
    q = ReduceSum<keepdims=0>(p)
    l = Constant<value_int=3>()
    n = Min(q, l)
"""

_BRANCH = """
    more = If (u) <
        then_branch = p () => (bool later) { later = Less(j, end) },
        else_branch = q () => (bool never) { never = Constant<value = bool {0}>() }
    >
"""

MODELS: dict[str, onnx.ModelProto] = {
    "long": stopping(9),
    "even": stopping(8),
    "short": stopping(3),
    "in a branch": in_branch(7),
    "short, in a branch": in_branch(2),
    "no trip count": unbounded("", "v = Less(j, end) more = And(v, u)"),
    "no bound": unbounded("n", _BRANCH),
    "computed trip count": limited(_COUNT, "more = Identity(going)"),
    "computed trip count, condition": limited(_PLACE, "more = Less(m, t)"),
    "computed trip count, short": limited(_SMALL, "more = Less(m, t)"),
    "nested": in_loop(6, 3),
    "nested, short": in_loop(3, 2),
}


class _StoppingModel(RandomModel):
    """Random operators, branches and loops; each loop has a condition computed at run time."""

    def loop(self, known: list[str], depth: int) -> str:
        trips, zero, go, result = (self.name() for _ in range(4))
        start, carried, second = self.pick(known), self.name(), self.name()
        inner = [*known, carried, second]
        lines, ends = self.block(inner, depth)
        last, other, mean, step, reached, more = (self.name() for _ in range(6))
        start_too, kept = self.pick(known), self.name()
        known += [result, kept]
        return f"""
            {trips} = Constant<value_int={self.rng.integers(1, 8)}>()
            {zero} = Constant<value_float=0.0>()
            {go} = Less({zero}, t)
            {result}, {kept} = Loop ({trips}, {go}, {start}, {start_too}) < body = g{self.name()} (
                int64 i{trips}, bool go{trips}, float[4,16] {carried}, float[4,16] {second}
            ) => (bool {more}, float[4,16] {last}, float[4,16] {other}) {{
                {lines}
                {last} = Identity({self.pick(ends)})
                {other} = Tanh({self.pick(ends)})
                {mean} = ReduceMax<keepdims=0>({other})
                {step} = Cast<to=1>(i{trips})
                {reached} = Add({step}, {mean})
                {more} = Less({reached}, t)
            }} >"""


def random_stopping(seed: int) -> onnx.ModelProto:
    """Return a model of nested branches and loops that may stop."""
    made = _StoppingModel(seed)
    known = ["x", "w"]
    lines = made.loop(known, 2)
    rest, known = made.block(known, 2)
    outputs = ", ".join(f"float[4,16] {each}" for each in known[2:])
    return onnx.parser.parse_model(f"{_HEAD} g ({_INPUTS}) => ({outputs}) {{ {lines} {rest} }}")
