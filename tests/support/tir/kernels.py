"""Naive kernels of a few shapes, as the lowering of nn makes them."""

from __future__ import annotations

from xdsl.parser import Parser

from clopt.context import CloptContext
from clopt.dialects.tir import FuncOp


def parse(text: str) -> FuncOp:
    """The one kernel of `text`."""
    module = Parser(CloptContext(), text).parse_module()
    module.verify()
    func = module.body.block.first_op
    assert isinstance(func, FuncOp)
    return func


def _loops(spec: str) -> tuple[str, str]:
    """`i:4 k:3r` as the heads of loops and as many closing braces."""
    heads: list[str] = []
    for item in spec.split():
        name, _, extent = item.partition(":")
        kind = "serial" if extent.endswith("r") else "parallel"
        heads.append(f"tir.for {kind} %{name} = 0 to {extent.rstrip('r')} {{")
    return " ".join(heads), "}" * len(heads)


def stage(label: str, spec: str, body: str, init: str = "") -> str:
    """A stage whose block has one variable `%v<name>` per loop of `spec`."""
    heads, tails = _loops(spec)
    iters: list[str] = []
    names: list[str] = []
    for item in spec.split():
        name, _, extent = item.partition(":")
        kind = "reduce" if extent.endswith("r") else "spatial"
        iters.append(f"%v{name}: {kind} {extent.rstrip('r')}")
        names.append(name)
    dims = ", ".join(f"d{i}" for i in range(len(names)))
    args = ", ".join(f"%{name}" for name in names)
    initial = f"init [{init}] " if init else ""
    return (
        f'{heads} tir.block "{label}" ({", ".join(iters)}) = '
        f"affine_map<({dims}) -> ({dims})> ({args}) {initial}{{\n{body}\n}} {tails}"
    )


def matmul(m: int, n: int, k: int) -> str:
    """A product with an epilogue."""
    a, b, y = f"memref<{m}x{k}xf32>", f"memref<{k}x{n}xf32>", f"memref<{m}x{n}xf32>"
    product = stage(
        "mm",
        f"i:{m} j:{n} k:{k}r",
        f"""
        %p = memref.load %a[%vi, %vk] : {a}
        %q = memref.load %b[%vk, %vj] : {b}
        %old = memref.load %t[%vi, %vj] : {y}
        %pq = arith.mulf %p, %q : f32
        %new = arith.addf %old, %pq : f32
        memref.store %new, %t[%vi, %vj] : {y}""",
        "0.0 : f32",
    )
    epilogue = stage(
        "out",
        f"i:{m} j:{n}",
        f"""
        %r = memref.load %t[%vi, %vj] : {y}
        %one = arith.constant 1.0 : f32
        %s = arith.addf %r, %one : f32
        memref.store %s, %y[%vi, %vj] : {y}""",
    )
    return f"""tir.func @matmul(%a: {a}, %b: {b}, %y: {y}) attributes {{outputs = array<i64: 2>}} {{
        %t = memref.alloca() : {y}
        {product} {epilogue} }}"""


def _padded(source: str, type_: str, size: int, step: int, border: str) -> str:
    """Loads `%p` from `source`, a row and `%at`; `border` where that is outside of the row."""
    return f"""
        %at = affine.apply affine_map<(d0, d1) -> (d0 * {step} + d1 - 1)> (%vi, %vk)
        %low = arith.constant 0 : index
        %high = arith.constant {size} : index
        %ge = arith.cmpi sge, %at, %low : index
        %lt = arith.cmpi slt, %at, %high : index
        %in = arith.andi %ge, %lt : i1
        %p = scf.if %in -> (f32) {{
          %l = memref.load {source}, %at] : {type_}
          scf.yield %l : f32
        }} else {{
          %z = arith.constant {border} : f32
          scf.yield %z : f32
        }}"""


def conv_pool(c: int, o: int, size: int, stride: int) -> str:
    """A padded 3x3 convolution in one dimension, then an overlapping maximum over 3, padded too."""
    pooled = (size - 1) // stride + 1
    x, w = f"memref<{c}x{size}xf32>", f"memref<{o}x{c}x3xf32>"
    t, y = f"memref<{o}x{size}xf32>", f"memref<{o}x{pooled}xf32>"
    conv = stage(
        "conv",
        f"o:{o} i:{size} c:{c}r k:3r",
        f"""{_padded("%x[%vc", x, size, 1, "0.0")}
        %q = memref.load %w[%vo, %vc, %vk] : {w}
        %old = memref.load %t[%vo, %vi] : {t}
        %pq = arith.mulf %p, %q : f32
        %new = arith.addf %old, %pq : f32
        memref.store %new, %t[%vo, %vi] : {t}""",
        "0.0 : f32",
    )
    pool = stage(
        "pool",
        f"o:{o} i:{pooled} k:3r",
        f"""{_padded("%t[%vo", t, size, stride, "-1000.0")}
        %old = memref.load %u[%vo, %vi] : {y}
        %new = arith.maximumf %old, %p : f32
        memref.store %new, %u[%vo, %vi] : {y}""",
        "-1000.0 : f32",
    )
    out = stage(
        "out",
        f"o:{o} i:{pooled}",
        f"""
        %r = memref.load %u[%vo, %vi] : {y}
        memref.store %r, %y[%vo, %vi] : {y}""",
    )
    return f"""tir.func @conv(%x: {x}, %w: {w}, %y: {y}) attributes {{outputs = array<i64: 2>}} {{
        %t = memref.alloca() : {t}
        %u = memref.alloca() : {y}
        {conv} {pool} {out} }}"""


def normalise(rows: int, columns: int) -> str:
    """Three stages over rows, like softmax: maximum, sum of differences, their product with x."""
    x, m = f"memref<{rows}x{columns}xf32>", f"memref<{rows}x1xf32>"

    def fold(label: str, op: str, source: str, row: str, start: str) -> str:
        return stage(
            label,
            f"i:{rows} k:{columns}r",
            f"""
            %z = arith.constant 0 : index
            %p = memref.load {source}[%vi, %vk] : {x}
            %old = memref.load {row}[%vi, %z] : {m}
            %new = {op} %old, %p : f32
            memref.store %new, {row}[%vi, %z] : {m}""",
            f"{start} : f32",
        )

    def combine(label: str, op: str, source: str, row: str, result: str) -> str:
        return stage(
            label,
            f"i:{rows} j:{columns}",
            f"""
            %z = arith.constant 0 : index
            %p = memref.load {source}[%vi, %vj] : {x}
            %q = memref.load {row}[%vi, %z] : {m}
            %r = {op} %p, %q : f32
            memref.store %r, {result}[%vi, %vj] : {x}""",
        )

    return f"""tir.func @normalise(%x: {x}, %y: {x}) attributes {{outputs = array<i64: 1>}} {{
        %m = memref.alloca() : {m}
        %e = memref.alloca() : {x}
        %s = memref.alloca() : {m}
        {fold("max", "arith.maximumf", "%x", "%m", "0xff800000")}
        {combine("sub", "arith.subf", "%x", "%m", "%e")}
        {fold("sum", "arith.addf", "%e", "%s", "0.0")}
        {combine("out", "arith.mulf", "%e", "%s", "%y")} }}"""


def total(rows: int, columns: int) -> str:
    """Row sums, accumulated in the output itself."""
    x, y = f"memref<{rows}x{columns}xf32>", f"memref<{rows}xf32>"
    body = stage(
        "sum",
        f"i:{rows} k:{columns}r",
        f"""
        %p = memref.load %x[%vi, %vk] : {x}
        %old = memref.load %y[%vi] : {y}
        %new = arith.addf %old, %p : f32
        memref.store %new, %y[%vi] : {y}""",
        "0.0 : f32",
    )
    return (
        f"""tir.func @total(%x: {x}, %y: {y}) attributes {{outputs = array<i64: 1>}} {{ {body} }}"""
    )


def transpose(rows: int, columns: int) -> str:
    """A flat copy that transposes, with divisions in its indices."""
    flat = f"memref<{rows * columns}xf32>"
    body = stage(
        "copy",
        f"i:{rows * columns}",
        f"""
        %at = affine.apply affine_map<(d0) ->
          (d0 mod {rows} * {columns} + d0 floordiv {rows})> (%vi)
        %p = memref.load %t[%at] : {flat}
        memref.store %p, %y[%vi] : {flat}""",
    )
    double = stage(
        "double",
        f"i:{rows * columns}",
        f"""
        %p = memref.load %x[%vi] : {flat}
        %q = arith.addf %p, %p : f32
        memref.store %q, %t[%vi] : {flat}""",
    )
    return f"""tir.func @transpose(%x: {flat}, %y: {flat}) attributes {{outputs = array<i64: 1>}} {{
        %t = memref.alloca() : {flat}
        {double} {body} }}"""
