"""Matrix products, attention and what is built of them."""

from __future__ import annotations

from ..builder import GraphBuilder
from ..values import Value


def matmul(g: GraphBuilder) -> None:
    """MatMul by a weight or an input, of all ranks."""
    x = g.pick(rank=range(1, 5))
    inner, columns = x.shape[-1], g.extent()
    shape = [(inner,), (inner, columns), (*x.shape[:-2], inner, columns), (1, inner, columns)]
    chosen = g.random.choice(shape)
    g.op("MatMul", x, g.new_input(chosen) if g.chance(0.3) else g.weight(*chosen))


def matmul_left(g: GraphBuilder) -> None:
    """MatMul whose second operand is computed."""
    x = g.pick(rank=range(1, 5))
    inner = x.shape[0] if x.rank == 1 else x.shape[-2]
    g.op("MatMul", g.weight(g.extent(), inner), x)


def gram(g: GraphBuilder) -> None:
    """A value times its transpose."""
    x = g.pick(rank=(2, 3, 4))
    perm = [*range(x.rank - 2), x.rank - 1, x.rank - 2]
    y = g.op("Transpose", x, perm=perm)
    g.op("MatMul", *g.one_of((x, y), (y, x)))


def gemm(g: GraphBuilder) -> None:
    """Gemm with its transposes, factors and every shape of the third operand."""
    a = g.pick(rank=(2,))
    trans_a, trans_b = g.one_of(0, 1), g.one_of(0, 1)
    inner, rows = (a.shape[0], a.shape[1]) if trans_a else (a.shape[1], a.shape[0])
    columns = g.extent()
    b = g.weight(*((columns, inner) if trans_b else (inner, columns)))
    c = g.one_of(None, (columns,), (rows, 1), (rows, columns), (1,), (), (1, columns))
    attributes = {"transA": trans_a, "transB": trans_b}
    if g.chance(0.4):
        attributes |= {"alpha": g.one_of(0.5, 2.0), "beta": g.one_of(0.5, 0.0)}
    g.op("Gemm", a, b, None if c is None else g.weight(*c), **attributes)


def linear(g: GraphBuilder) -> None:
    """MatMul, Add and an activation."""
    x = g.pick(rank=(2, 3))
    columns = g.extent()
    y = g.op("Add", g.op("MatMul", x, g.weight(x.shape[-1], columns)), g.weight(columns))
    g.op(g.one_of("Relu", "Sigmoid", "Tanh", "Identity"), y)


def gelu(g: GraphBuilder) -> None:
    """GELU written out."""
    x = g.pick()
    y = g.op("Div", x, g.constant(2**0.5, "f"))
    y = g.op("Add", g.op("Erf", y), g.constant(1.0, "f"))
    g.op("Mul", g.op("Mul", x, y), g.constant(0.5, "f"))


def attention(g: GraphBuilder) -> None:
    """Self-attention of several heads, written out; at times with a mask."""
    heads, depth = g.one_of(1, 2, 3), g.one_of(1, 2, 4, 5)
    x = g.pick(rank=(3,), where=lambda shape: shape[1] <= 12)
    batch, tokens, width = x.shape
    q, k, v = (_heads(g, x, heads, depth) for _ in range(3))
    k = g.op("Transpose", k, perm=[0, 1, 3, 2])
    scores = g.op("Mul", g.op("MatMul", q, k), g.constant(depth**-0.5, "f"))
    if g.chance(0.4):
        scores = g.op("Add", scores, g.weight(1, 1, tokens, tokens))
    y = g.op("MatMul", g.op("Softmax", scores, axis=-1), v)
    y = g.op("Transpose", y, perm=[0, 2, 1, 3])
    y = g.op("Reshape", y, g.ints(batch, tokens, heads * depth))
    y = g.op("MatMul", y, g.weight(heads * depth, width, scale=0.5))
    g.op("Add", x, y)


def _heads(g: GraphBuilder, x: Value, heads: int, depth: int) -> Value:
    y = g.op("MatMul", x, g.weight(x.shape[2], heads * depth, scale=0.5))
    y = g.op("Reshape", y, g.ints(*x.shape[:2], heads, depth))
    return g.op("Transpose", y, perm=[0, 2, 1, 3])


def einsum(g: GraphBuilder) -> None:
    """Einsum of one or two operands."""
    x = g.pick(rank=(2, 3))
    n = g.extent()
    if x.rank == 2:
        equation, shape = g.one_of(
            ("ij,jk->ik", (x.shape[1], n)),
            ("ij,ik->jk", (x.shape[0], n)),
            ("ij,ij->i", x.shape),
            ("ij,k->kij", (n,)),
        )
    else:
        equation, shape = g.one_of(
            ("bij,bjk->bik", (x.shape[0], x.shape[2], n)),
            ("bij,kj->bki", (n, x.shape[2])),
            ("bij,bij->b", x.shape),
        )
    g.op("Einsum", x, g.weight(*shape), equation=equation)


OPERATORS = {
    "matmul": (5, matmul),
    "matmul_left": (2, matmul_left),
    "gram": (2, gram),
    "gemm": (4, gemm),
    "linear": (3, linear),
    "gelu": (2, gelu),
    "attention": (3, attention),
    "einsum": (1, einsum),
}
