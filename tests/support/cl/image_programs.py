"""Queue programs over images, written by hand, and their results in numpy."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from xdsl.dialects.builtin import ModuleOp
from xdsl.parser import Parser

from clopt.context import CloptContext
from clopt.dialects.cl import Target, set_target
from clopt.passes.tir.lower_textures import TIRLowerTexturesPass

KINDS = {"image1d_buffer": "[]", "image2d": "[1]", "image2d_array": "[1, 2]"}
"""The separators that make an image of a kind of three axes and a texel."""

DTYPES = {"i8": np.int8, "i16": np.int16, "i32": np.int32, "f16": np.float16, "f32": np.float32}


def memory(shape: Sequence[int], element: str, kind: str = "") -> str:
    """A memref type, in a buffer where no kind of image is given."""
    scope = f", #tir.scope<texture, {KINDS[kind]}>" if kind else ""
    return f"memref<{'x'.join(map(str, shape))}x{element}{scope}>"


def lowered(text: str, target: Target) -> ModuleOp:
    """The module of `text` for a target, with its accesses to images lowered."""
    ctx = CloptContext()
    module = Parser(ctx, text).parse_module()
    set_target(module, target)
    module.verify()
    TIRLowerTexturesPass().apply(ctx, module)
    module.verify()
    return module


def texels(shape: Sequence[int], body: str, kind: str = "vectorized") -> str:
    """Loops over the texels of a shape of four axes, one work-item each, and over their lanes."""
    a, b, c, _ = shape
    return f"""
  tir.for global_z %a = 0 to {a} {{ tir.for global_y %b = 0 to {b} {{
  tir.for global_x %c = 0 to {c} {{ tir.for {kind} %l = 0 to 4 {{
    {body}
  }} }} }} }}"""


def kernel(name: str, params: str, output: int, shape: Sequence[int], body: str) -> str:
    """A kernel with a work-item per texel."""
    a, b, c, _ = shape
    return f"""
tir.func @{name}({params}) attributes {{outputs = array<i64: {output}>,
    global_size = array<i64: {c}, {b}, {a}>, local_size = array<i64: 1, 1, 1>}} {{
{body}
}}"""


def copy_kernel(name: str, shape: Sequence[int], x: str, y: str, lanes: str = "vectorized") -> str:
    """`y = x`, texel by texel."""
    body = f"""%v = memref.load %x[%a, %b, %c, %l] : {x}
    memref.store %v, %y[%a, %b, %c, %l] : {y}"""
    return kernel(name, f"%x: {x}, %y: {y}", 1, shape, texels(shape, body, lanes))


def copies(shape: Sequence[int], element: str, kind: str, lanes: str = "vectorized") -> str:
    """Buffer to image by a command, to another image by a kernel, and that to a buffer."""
    plain, image = memory(shape, element), memory(shape, element, kind)
    return f"""{copy_kernel("copy", shape, image, image, lanes)}
cl.program @main(%x: {plain} {{cl.name = "x"}}, %y: {plain} {{cl.name = "y"}}) inputs 1 {{
  %t = cl.alloc : {image}
  %u = cl.alloc : {image}
  %v = cl.alloc : {image}
  cl.enqueue_copy %x, %t : {plain} to {image}
  cl.enqueue_kernel @copy(%t, %u) : {image}, {image}
  cl.enqueue_copy %u, %v : {image}
  cl.enqueue_copy %v, %y : {image} to {plain}
  cl.return
}}"""


def blur(shape: Sequence[int], key: str, kind: str) -> str:
    """Each channel's own 3x3 filter over rows and columns, with a border of zeros.

    The weights are an image of `kind`, too; the loop over the rows of the filter has its bound as
    an argument. The input is copied to an image by a kernel.
    """
    n, h, w, _ = shape
    plain, image = memory(shape, "f32"), memory(shape, "f32", kind)
    weights = memory((n, 3, 3, 4), "f32", kind)
    t = "memref<4xf32, #tir.scope<private>>"
    body = f"""
  tir.for global_z %a = 0 to {n} {{ tir.for global_y %b = 0 to {h} {{
  tir.for global_x %c = 0 to {w} {{
    %t = memref.alloca() : {t}
    tir.for vectorized %l = 0 to 4 {{
      %nothing = arith.constant 0.0 : f32
      memref.store %nothing, %t[%l] : {t}
    }}
    tir.for rolled %i = 0 to 3 {{ tir.for unrolled %j = 0 to 3 {{ tir.for vectorized %l = 0 to 4 {{
      %row = affine.apply affine_map<(d0, d1) -> (d0 + d1 - 1)> (%b, %i)
      %col = affine.apply affine_map<(d0, d1) -> (d0 + d1 - 1)> (%c, %j)
      %zero = arith.constant 0 : index
      %height = arith.constant {h} : index
      %width = arith.constant {w} : index
      %c0 = arith.cmpi sge, %row, %zero : index
      %c1 = arith.cmpi slt, %row, %height : index
      %c2 = arith.cmpi sge, %col, %zero : index
      %c3 = arith.cmpi slt, %col, %width : index
      %a0 = arith.andi %c0, %c1 : i1
      %a1 = arith.andi %a0, %c2 : i1
      %a2 = arith.andi %a1, %c3 : i1
      %v = scf.if %a2 -> (f32) {{
        %e = memref.load %x[%a, %row, %col, %l] : {image}
        scf.yield %e : f32
      }} else {{
        %border = arith.constant 0.0 : f32
        scf.yield %border : f32
      }}
      %k = memref.load %w[%a, %i, %j, %l] : {weights}
      %p = arith.mulf %v, %k : f32
      %old = memref.load %t[%l] : {t}
      %new = arith.addf %old, %p : f32
      memref.store %new, %t[%l] : {t}
    }} }} }}
    tir.for vectorized %l = 0 to 4 {{
      %sum = memref.load %t[%l] : {t}
      memref.store %sum, %y[%a, %b, %c, %l] : {image}
    }}
  }} }} }}"""
    return f"""{copy_kernel("pack", shape, plain, image)}
{kernel("blur", f"%x: {image}, %w: {weights}, %y: {image}", 2, shape, body)}
{copy_kernel("unpack", shape, image, plain)}
cl.program @main(%x: {plain} {{cl.name = "x"}}, %y: {plain} {{cl.name = "y"}}) inputs 1 {{
  %w = cl.constant "{key}" : {weights}
  %t = cl.alloc : {image}
  %u = cl.alloc : {image}
  cl.enqueue_kernel @pack(%x, %t) : {plain}, {image}
  cl.enqueue_kernel @blur(%t, %w, %u) : {image}, {weights}, {image}
  cl.enqueue_kernel @unpack(%u, %y) : {image}, {plain}
  cl.return
}}"""


def blurred(x: np.ndarray, w: np.ndarray) -> np.ndarray:
    """The result of `blur`."""
    _, h, width, _ = x.shape
    padded = np.pad(x, ((0, 0), (1, 1), (1, 1), (0, 0)))
    windows = [
        padded[:, i : i + h, j : j + width] * w[:, i : i + 1, j : j + 1]
        for i in range(3)
        for j in range(3)
    ]
    return np.sum(windows, axis=0)


def aliases(first: Sequence[int], second: Sequence[int], write: str, read: str) -> str:
    """One buffer, written as an image or buffer of one shape and read as one of another."""
    plain, result = memory(first, "f32"), memory(second, "f32")
    written, seen = memory(first, "f32", write), memory(second, "f32", read)
    return f"""{copy_kernel("fill", first, plain, written)}
{copy_kernel("drain", second, seen, result)}
cl.program @main(%x: {plain} {{cl.name = "x"}}, %y: {result} {{cl.name = "y"}}) inputs 1 {{
  %t = cl.alloc : {written}
  %u = cl.view %t : {written} to {seen}
  cl.enqueue_kernel @fill(%x, %t) : {plain}, {written}
  cl.enqueue_kernel @drain(%u, %y) : {seen}, {result}
  cl.return
}}"""
