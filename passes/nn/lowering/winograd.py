"""Lowering of Winograd's transforms: products with small matrices as sums, by whole tiles."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import product

from xdsl.ir.affine import AffineConstantExpr, AffineExpr

from ....dialects import nn
from ....dialects.nn.winograd import KERNEL, TRANSFORMS, Matrix, tile_counts
from .body import Body, Index
from .convolution import add_bias, contracted
from .kernel import Accumulator, Element, JointElements, KernelBuilder, sum_type
from .scalar import ScalarValue

Cell = Callable[[int, int], ScalarValue]
"""Returns the element of a tile at a row and column."""


def combine(factors: Sequence[float], term: Callable[[int], ScalarValue]) -> ScalarValue:
    """Return the sum of `factor * term(i)` without trivial terms, positive terms first."""
    used = sorted((i for i, k in enumerate(factors) if k), key=lambda i: factors[i] < 0)
    total: ScalarValue | None = None
    for i in used:
        size = abs(factors[i])
        value = term(i) if size == 1 else term(i) * size
        if total is None:
            total = value if factors[i] > 0 else -value
        else:
            total = total + value if factors[i] > 0 else total - value
    assert total is not None, "no row of a transform is zero"
    return total


def transformed(
    body: Body, key: object, matrix: Matrix, cell: Cell, row: int, col: int
) -> ScalarValue:
    """Return element (row, col) of `M d M^T`; the elements of a row share those of `M d`."""

    def half(k: int) -> ScalarValue:
        return body.remember(
            ("rows", key, row, k), lambda: combine(matrix[row], lambda i: cell(i, k))
        )

    return combine(matrix[col], half)


def stepped(
    body: Body, key: object, steps: Sequence[Matrix], cell: Cell, row: int, col: int
) -> ScalarValue:
    """Return element (row, col) of `M d M^T`, where M is the product of the steps.

    All elements share the intermediate sums of the steps.
    """

    def half(k: int) -> ScalarValue:
        return _element(body, ("rows", key, k), steps, lambda i: cell(i, k), row)

    return _element(body, ("cols", key, row), steps, half, col)


def _element(
    body: Body, key: object, steps: Sequence[Matrix], term: Callable[[int], ScalarValue], at: int
) -> ScalarValue:
    """Return element `at` of the product of the steps with the vector of terms."""
    if not steps:
        return term(at)
    first, *rest = steps
    return body.remember(
        (key, len(steps), at),
        lambda: _multiply_adds(first[at], lambda i: _element(body, key, rest, term, i)),
    )


def _multiply_adds(factors: Sequence[float], term: Callable[[int], ScalarValue]) -> ScalarValue:
    """Return the sum of `factor * term(i)` as a chain of multiply-adds.

    The chain starts from a term with factor 1, if there is one.
    """
    first = min((i for i, k in enumerate(factors) if k), key=lambda i: factors[i] != 1)
    total = term(first) if factors[first] == 1 else term(first) * factors[first]
    for i, factor in enumerate(factors):
        if i != first and factor:
            size = abs(factor)
            total = total + term(i) * factor if size != 1 else _plus(total, term(i), factor)
    return total


def _plus(total: ScalarValue, value: ScalarValue, sign: float) -> ScalarValue:
    return total + value if sign > 0 else total - value


def _rows_apart(matrix: Matrix) -> list[list[int]]:
    """Return the rows of a matrix in groups that share no column."""
    groups: list[tuple[set[int], list[int]]] = []
    for row, factors in enumerate(matrix):
        used, rows = {i for i, factor in enumerate(factors) if factor}, [row]
        for other, same in [group for group in groups if group[0] & used]:
            groups.remove((other, same))
            used, rows = used | other, [*same, *rows]
        groups.append((used, rows))
    return [rows for _, rows in groups]


def constant(index: Index) -> int:
    """Return the value of an index that is constant in a kernel that computes whole tiles."""
    assert isinstance(index, AffineConstantExpr), "a tile's elements are computed one by one"
    return index.value


def lower_winograd_input(kernel: KernelBuilder, op: nn.WinogradInputOp) -> None:
    """Define `v[i T + j, c, tile] = (B^T d B)[i, j]`."""
    m, pads, shape = op.tile.value.data, nn.ints(op.pads), nn.shape_of(op.x)
    size, transform, in_steps = m + KERNEL - 1, TRANSFORMS[m], op.in_steps is not None
    sizes = [s + pads[i] + pads[i + 2] - KERNEL + 1 for i, s in enumerate(shape[2:])]
    rows, cols = tile_counts(sizes, m)

    def element(body: Body, index: Sequence[Index]) -> ScalarValue:
        at, c, tile = index
        n, rest = body.simplify(tile // (rows * cols)), tile % (rows * cols)
        th, tw = body.simplify(rest // cols), body.simplify(rest % cols)

        def cell(i: int, j: int) -> ScalarValue:
            position = [n, c, th * m + (i - pads[0]), tw * m + (j - pads[1])]
            return body.read_or(op.x, position, shape, 0)

        row, col = divmod(constant(body.simplify(at)), size)
        if in_steps:
            return stepped(body, (op.x, c, tile), transform.input_steps, cell, row, col)
        return transformed(body, (op.x, c, tile), transform.input, cell, row, col)

    def place(at: int) -> Callable[[Sequence[Index]], list[Index]]:
        number = AffineExpr.constant(at)
        return lambda i: [number, i[1], (i[0] * rows + i[2]) * cols + i[3]]

    kernel.define(op.result, element)
    grid = (shape[0], shape[1], rows, cols)
    together = _rows_apart(transform.input_steps[0]) if in_steps else [[*range(size)]]
    kernel.compute_together(
        [
            JointElements(grid, [place(row * size + col) for row in rows for col in range(size)])
            for rows in together
        ]
    )


def lower_winograd_output(kernel: KernelBuilder, op: nn.WinogradOutputOp) -> None:
    """Define `y[n, o, h m + i, w m + j] = (A^T m A)[i, j]`.

    Partial tiles at the end are pieces of their own.
    """
    m, (n_tiles, *sizes) = op.tile.value.data, nn.ints(op.sizes)
    size, transform = m + KERNEL - 1, TRANSFORMS[m]
    rows, cols = tile_counts(sizes, m)

    def element(body: Body, index: Sequence[Index]) -> ScalarValue:
        n, o, h, w = index
        th, tw = body.simplify(h // m), body.simplify(w // m)
        tile = (n * rows + th) * cols + tw

        def cell(i: int, j: int) -> ScalarValue:
            return body.read(op.x, [AffineExpr.constant(i * size + j), o, tile])

        row, col = (constant(body.simplify(i % m)) for i in (h, w))
        if op.in_steps is not None:
            return stepped(body, (op.x, o, tile), transform.output_steps, cell, row, col)
        return transformed(body, (op.x, o, tile), transform.output, cell, row, col)

    kernel.define(op.result, element)
    channels = nn.shape_of(op.result)[1]
    pieces = [
        JointElements(
            (n_tiles, channels, h_count, w_count),
            [_shifted(m, h_first + i, w_first + j) for i, j in product(range(hs), range(ws))],
        )
        for (h_first, h_count, hs), (w_first, w_count, ws) in product(
            _strips(sizes[0], m), _strips(sizes[1], m)
        )
    ]
    kernel.compute_together(pieces)


def _strips(size: int, m: int) -> list[tuple[int, int, int]]:
    """Return the whole tiles along a dimension and the rest: (first element, tiles, tile size)."""
    strips = [(0, size // m, m), (size // m * m, 1, size % m)]
    return [strip for strip in strips if strip[1] and strip[2]]


def _shifted(m: int, row: int, col: int) -> Callable[[Sequence[Index]], list[Index]]:
    return lambda i: [i[0], i[1], i[2] * m + row, i[3] * m + col]


def lower_winograd_product(kernel: KernelBuilder, op: nn.WinogradProductOp) -> None:
    """Define `m[at, o, tile] = sum over c of x[at, c, tile] w[at, o, c]`."""
    element_type = nn.tensor_type(op.result).element_type

    def update(
        body: Body, index: Sequence[Index], reduce: Sequence[Index], sums: Sequence[ScalarValue]
    ) -> list[ScalarValue]:
        at, o, tile = index
        x = body.read(op.x, [at, *reduce, tile])
        return [sums[0] + x * body.read(op.w, [at, o, *reduce])]

    elements, outputs, tiles = kernel.written_extents(op.result)
    outputs = max(outputs, kernel.tails.read(op.w, 1))
    (element,) = kernel.reduction(
        "product",
        nn.shape_of(op.result),
        nn.shape_of(op.x)[1:2],
        [Accumulator(element_type, 0, sum_type(op))],
        update,
        ("at", "o", "tile", "c"),
        (elements, outputs, tiles, contracted(kernel, (op.x, 1), (op.w, 2))),
    )
    kernel.define(op.result, element)


def lower_winograd_conv(kernel: KernelBuilder, op: nn.WinogradConvOp) -> None:
    """Define `y[n, o] = A^T [sum over c of w[o, c] * (B^T d B)] A`.

    The products are computed between two stages that compute whole tiles.
    """
    m, (outputs, _, channels) = op.tile.value.data, nn.shape_of(op.w)
    batch, _, *sizes = nn.shape_of(op.result)
    rows, cols = tile_counts(sizes, m)
    element_type, size = nn.tensor_type(op.x).element_type, m + KERNEL - 1

    def update(
        body: Body, index: Sequence[Index], reduce: Sequence[Index], sums: Sequence[ScalarValue]
    ) -> list[ScalarValue]:
        at, *place, o = index
        return [sums[0] + tiles(body, [at, *place, *reduce]) * body.read(op.w, [o, at, *reduce])]

    tiles = kernel.computed(
        "tiles",
        (batch, rows, cols, channels),
        _inputs(op),
        element_type,
        ("n", "th", "tw", "c"),
        role="winograd.tiles",
    )
    (products,) = kernel.reduction(
        "products",
        (size * size, batch, rows, cols, outputs),
        [channels],
        [Accumulator(element_type, 0)],
        update,
        ("at", "n", "th", "tw", "o", "c"),
        role="winograd.products",
    )
    results = kernel.computed(
        "results",
        (batch, rows, cols, outputs),
        _results(products, m),
        element_type,
        ("n", "th", "tw", "o"),
        role="winograd.results",
    )

    def element(body: Body, index: Sequence[Index]) -> ScalarValue:
        n, o, h, w = index
        return results(body, [(h % m) * m + w % m, n, h // m, w // m, o])

    kernel.define(op.result, add_bias(element, op))


def _inputs(op: nn.WinogradConvOp) -> list[Element]:
    """Return the elements of `B^T d B` of the tile at an index [n, th, tw, c]."""
    m, pads, shape = op.tile.value.data, nn.ints(op.pads), nn.shape_of(op.x)
    steps = TRANSFORMS[m].input_steps

    def at(row: int, col: int) -> Element:
        def element(body: Body, index: Sequence[Index]) -> ScalarValue:
            n, th, tw, c = index

            def cell(i: int, j: int) -> ScalarValue:
                position = [n, c, th * m + (i - pads[0]), tw * m + (j - pads[1])]
                return body.remember(("cell", i, j), lambda: body.read_or(op.x, position, shape, 0))

            return stepped(body, op.x, steps, cell, row, col)

        return element

    return [at(row, col) for row, col in product(range(m + KERNEL - 1), repeat=2)]


def _results(products: Element, m: int) -> list[Element]:
    """Return the elements of `A^T m A` of the tile at an index [n, th, tw, o]."""
    steps, size = TRANSFORMS[m].output_steps, m + KERNEL - 1

    def at(row: int, col: int) -> Element:
        def element(body: Body, index: Sequence[Index]) -> ScalarValue:
            def cell(i: int, j: int) -> ScalarValue:
                return products(body, [AffineExpr.constant(i * size + j), *index])

            return stepped(body, "products", steps, cell, row, col)

        return element

    return [at(row, col) for row, col in product(range(m), repeat=2)]
