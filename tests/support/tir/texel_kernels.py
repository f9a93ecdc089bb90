"""Kernels over texels as text: in images of every kind and in packed buffers."""

from __future__ import annotations

SHAPE = (2, 3, 4, 4)
EXTENTS = {"image1d_buffer": (24,), "image2d": (4, 6), "image2d_array": (4, 3, 2)}
"""Of an image behind that shape: width, height, layers."""
SCOPES = {
    "buffer": "",
    "image1d_buffer": ", #tir.scope<texture, []>",
    "image2d": ", #tir.scope<texture, [2]>",
    "image2d_array": ", #tir.scope<texture, [1, 2]>",
}
TEXTURES = tuple(EXTENTS)
_COORDINATES = {
    "buffer": ["(d0 * 3 + d1) * 4 + d2"],
    "image1d_buffer": ["(d0 * 3 + d1) * 4 + d2"],
    "image2d": ["d2", "d0 * 3 + d1"],
    "image2d_array": ["d2", "d1", "d0"],
}
LANES = {
    "vector": ("serial %c = 0 to 4", "vectorized %l = 0 to 4", "d0", "d1"),
    "reversed": ("serial %c = 0 to 4", "vectorized %l = 0 to 4", "d0", "3 - d1"),
    "unrolled": ("serial %c = 0 to 4", "unrolled %l = 0 to 4", "d0", "d1"),
    "halves": (
        "unrolled %c = 0 to 8",
        "vectorized %l = 0 to 2",
        "d0 floordiv 2",
        "(d0 * 2 + d1) mod 4",
    ),
    "two_texels": (
        "serial %c = 0 to 2",
        "vectorized %l = 0 to 8",
        "d0 * 2 + d1 floordiv 4",
        "d1 mod 4",
    ),
    "columns": ("unrolled %l = 0 to 4", "vectorized %c = 0 to 4", "d1", "d0"),
}
"""Two loops over 4 texels of 4 lanes; texel and lane by their variables."""


def memory(kind: str, element: str) -> str:
    """The type of `SHAPE` in a kind of memory."""
    return f"memref<{'x'.join(map(str, SHAPE))}x{element}{SCOPES[kind]}>"


def doubled(source: str, destination: str, element: str, lanes: str) -> str:
    """`y = x + x` from one kind of memory to another."""
    first, second, texel, lane = LANES[lanes]
    outer, inner = first.split()[1], second.split()[1]
    add = "arith.addf" if element.startswith("f") else "arith.addi"
    x, y = memory(source, element), memory(destination, element)
    name = f"{source}_to_{destination}_{element}_{lanes}"
    return f"""
tir.func @{name}(%x: {x}, %y: {y})
    attributes {{outputs = array<i64: 1>, global_size = array<i64: 3, 2>}} {{
  tir.for global_y %a = 0 to 2 {{ tir.for global_x %b = 0 to 3 {{
    tir.for {first} {{ tir.for {second} {{
      %texel = affine.apply affine_map<(d0, d1) -> ({texel})> ({outer}, {inner})
      %lane = affine.apply affine_map<(d0, d1) -> ({lane})> ({outer}, {inner})
      {_applied("i", source, "%a, %b, %texel")}
      %v = tir.texel_read %x[{_names("i", source)}] lane %lane : {x} -> {element}
      %r = {add} %v, %v : {element}
      {_applied("o", destination, "%a, %b, %texel")}
      tir.texel_write %r, %y[{_names("o", destination)}] lane %lane : {element}, {y}
    }} }}
  }} }}
}}
"""


def shifted(kind: str, by: tuple[int, int, int]) -> str:
    """Every texel is the one at an offset in each coordinate, zero outside of the image."""
    extents = (*EXTENTS[kind], 1, 1)[:3]
    width, height, layers = extents
    x, y = memory(kind, "f32"), f"memref<{width * height * layers}x4xf32>"
    applied = "\n      ".join(
        f"%{to} = affine.apply affine_map<(d0) -> (d0 + {shift})> ({of})"
        for to, of, shift in zip("ijk", ("%column", "%row", "%layer"), by, strict=True)
    )
    coords = ", ".join(f"%{name}" for name in "ijk"[: len(EXTENTS[kind])])
    return f"""
tir.func @shifted_{kind}(%x: {x}, %y: {y})
    attributes {{outputs = array<i64: 1>, global_size = array<i64: {width}, {height}, {layers}>}} {{
  tir.for global_z %layer = 0 to {layers} {{ tir.for global_y %row = 0 to {height} {{
    tir.for global_x %column = 0 to {width} {{ tir.for vectorized %l = 0 to 4 {{
      {applied}
      %v = tir.texel_read %x[{coords}] lane %l border : {x} -> f32
      %at = affine.apply affine_map<(d0, d1, d2) -> ((d0 * {height} + d1) * {width} + d2)>
          (%layer, %row, %column)
      tir.texel_write %v, %y[%at] lane %l : f32, {y}
    }} }}
  }} }}
}}
"""


def lookup(kind: str) -> str:
    """Of every texel the lane that another buffer gives, and one that a loop variable gives."""
    x = memory(kind, "f32")
    return f"""
tir.func @lookup_{kind}(%x: {x}, %lanes: memref<2x3x4xi32>, %y: memref<2x3x4xf32>)
    attributes {{outputs = array<i64: 2>, global_size = array<i64: 3, 2>}} {{
  tir.for global_y %a = 0 to 2 {{ tir.for global_x %b = 0 to 3 {{ tir.for serial %c = 0 to 4 {{
    {_applied("i", kind, "%a, %b, %c")}
    %number = memref.load %lanes[%a, %b, %c] : memref<2x3x4xi32>
    %lane = arith.index_cast %number : i32 to index
    %v = tir.texel_read %x[{_names("i", kind)}] lane %lane : {x} -> f32
    %next = affine.apply affine_map<(d0) -> ((d0 + 1) mod 4)> (%c)
    %w = tir.texel_read %x[{_names("i", kind)}] lane %next : {x} -> f32
    %r = arith.subf %v, %w : f32
    memref.store %r, %y[%a, %b, %c] : memref<2x3x4xf32>
  }} }} }}
}}
"""


def widened(kind: str) -> str:
    """`y = f16(f32(x) * 1.5 + 0.1)`: halves in memory, floats in between."""
    x = memory(kind, "f16")
    return f"""
tir.func @widened_{kind}(%x: {x}, %y: {x})
    attributes {{outputs = array<i64: 1>, global_size = array<i64: 3, 2>}} {{
  tir.for global_y %a = 0 to 2 {{ tir.for global_x %b = 0 to 3 {{
    tir.for serial %c = 0 to 4 {{ tir.for vectorized %l = 0 to 4 {{
      {_applied("i", kind, "%a, %b, %c")}
      %v = tir.texel_read %x[{_names("i", kind)}] lane %l : {x} -> f16
      %wide = arith.extf %v : f16 to f32
      %k = arith.constant 1.5 : f32
      %d = arith.constant 0.1 : f32
      %m = arith.mulf %wide, %k : f32
      %s = arith.addf %m, %d : f32
      %r = arith.truncf %s : f32 to f16
      tir.texel_write %r, %y[{_names("i", kind)}] lane %l : f16, {x}
    }} }}
  }} }}
}}
"""


def convolution(columns: int = 4) -> str:
    """3 x 3, stride 1, padding 1, 16 channels to 8 in images; a work-item computes a few columns.

    `kh` stays a loop; the row outside of the image is -1.
    """
    return f"""
tir.func @conv(%image: {_IMAGE}, %weights: {_WEIGHTS}, %bias: memref<2x4xf32>, %result: {_RESULT})
    attributes {{outputs = array<i64: 3>, comment = "conv",
                 global_size = array<i64: {16 // columns}, 16, 2>}} {{
  tir.for global_z %o = 0 to 2 {{ tir.for global_y %h = 0 to 16 {{
  tir.for global_x %w = 0 to {16 // columns} {{
    %acc = memref.alloca() : memref<{columns}x4xf32, #tir.scope<private>>
    %zero = arith.constant 0.0 : f32
    %outside = arith.constant -1 : index
    %c0 = arith.constant 0 : index
    %c16 = arith.constant 16 : index
    tir.for unrolled %j = 0 to {columns} {{ tir.for vectorized %l = 0 to 4 {{
      memref.store %zero, %acc[%j, %l] : memref<{columns}x4xf32, #tir.scope<private>>
    }} }}
    tir.for serial %c4 = 0 to 4 {{ tir.for rolled %kh = 0 to 3 {{
      tir.for unrolled %kw = 0 to 3 {{ tir.for unrolled %j = 0 to {columns} {{
      tir.for unrolled %i = 0 to 4 {{ tir.for vectorized %l = 0 to 4 {{
        %at = affine.apply affine_map<(d0, d1) -> (d0 + d1 - 1)> (%h, %kh)
        %low = arith.cmpi sge, %at, %c0 : index
        %high = arith.cmpi slt, %at, %c16 : index
        %inside = arith.andi %low, %high : i1
        %line = affine.apply affine_map<(d0, d1, d2) -> (d0 * 16 + d1 + d2 - 1)> (%c4, %h, %kh)
        %row = arith.select %inside, %line, %outside : index
        %column = affine.apply affine_map<(d0, d1, d2) -> (d0 * {columns} + d1 + d2 - 1)>
            (%w, %j, %kw)
        %v = tir.texel_read %image[%column, %row] lane %i border : {_IMAGE} -> f32
        %tap = affine.apply affine_map<(d0, d1, d2, d3) -> (((d0 * 3 + d1) * 3 + d2) * 4 + d3)>
            (%c4, %kh, %kw, %i)
        %u = tir.texel_read %weights[%tap, %o] lane %l : {_WEIGHTS} -> f32
        %old = memref.load %acc[%j, %l] : memref<{columns}x4xf32, #tir.scope<private>>
        %p = arith.mulf %v, %u : f32
        %new = arith.addf %old, %p : f32
        memref.store %new, %acc[%j, %l] : memref<{columns}x4xf32, #tir.scope<private>>
      }} }} }} }}
    }} }}
    tir.for unrolled %j = 0 to {columns} {{ tir.for vectorized %l = 0 to 4 {{
      %v = memref.load %acc[%j, %l] : memref<{columns}x4xf32, #tir.scope<private>>
      %b = tir.texel_read %bias[%o] lane %l : memref<2x4xf32> -> f32
      %r = arith.addf %v, %b : f32
      %column = affine.apply affine_map<(d0, d1) -> (d0 * {columns} + d1)> (%w, %j)
      %row = affine.apply affine_map<(d0, d1) -> (d0 * 16 + d1)> (%o, %h)
      tir.texel_write %r, %result[%column, %row] lane %l : f32, {_RESULT}
    }} }}
  }} }} }}
}}
"""


def _applied(prefix: str, kind: str, indices: str) -> str:
    """The coordinates of a texel, as operations."""
    return "\n      ".join(
        f"%{prefix}{n} = affine.apply affine_map<(d0, d1, d2) -> ({expr})> ({indices})"
        for n, expr in enumerate(_COORDINATES[kind])
    )


def _names(prefix: str, kind: str) -> str:
    return ", ".join(f"%{prefix}{n}" for n in range(len(_COORDINATES[kind])))


_IMAGE = "memref<1x4x16x16x4xf32, #tir.scope<texture, [3]>>"
_WEIGHTS = "memref<2x4x3x3x4x4xf32, #tir.scope<texture, [1]>>"
_RESULT = "memref<1x2x16x16x4xf32, #tir.scope<texture, [3]>>"

TWO_ROLLED = """
tir.func @two_rolled(%x: memref<6x4xf32>, %y: memref<4x4xf32>)
    attributes {outputs = array<i64: 1>, global_size = array<i64: 4>} {
  tir.for global_x %i = 0 to 4 {
    %sum = memref.alloca() : memref<4xf32, #tir.scope<private>>
    %zero = arith.constant 0.0 : f32
    tir.for vectorized %l = 0 to 4 {
      memref.store %zero, %sum[%l] : memref<4xf32, #tir.scope<private>>
    }
    tir.for rolled %k = 0 to 2 {
      tir.for rolled %j = 0 to 3 {
        tir.for vectorized %l = 0 to 4 {
          %at = affine.apply affine_map<(d0, d1, d2) -> ((d0 + d1 + d2) mod 6)> (%i, %k, %j)
          %v = tir.texel_read %x[%at] lane %l : memref<6x4xf32> -> f32
          %old = memref.load %sum[%l] : memref<4xf32, #tir.scope<private>>
          %new = arith.addf %old, %v : f32
          memref.store %new, %sum[%l] : memref<4xf32, #tir.scope<private>>
        }
      }
    }
    tir.for vectorized %l = 0 to 4 {
      %r = memref.load %sum[%l] : memref<4xf32, #tir.scope<private>>
      tir.texel_write %r, %y[%i] lane %l : f32, memref<4x4xf32>
    }
  }
}
"""

PARTS = """
tir.func @parts(%x: memref<6x4xf16>, %y: memref<6x4xf16>)
    attributes {outputs = array<i64: 1>, global_size = array<i64: 6>} {
  tir.for global_x %i = 0 to 6 {
    tir.for unrolled %l = 0 to 3 {
      %other = affine.apply affine_map<(d0) -> (3 - d0)> (%l)
      %v = tir.texel_read %x[%i] lane %other : memref<6x4xf16> -> f16
      tir.texel_write %v, %y[%i] lane %l : f16, memref<6x4xf16>
    }
  }
}
"""

ALSO_BY_ELEMENT = """
tir.func @also_by_element(%x: memref<6x4xf32>, %y: memref<6x4xf32>)
    attributes {outputs = array<i64: 1>, global_size = array<i64: 6>} {
  tir.for global_x %i = 0 to 6 {
    %c2 = arith.constant 2 : index
    %s = memref.load %x[%i, %c2] : memref<6x4xf32>
    tir.for vectorized %l = 0 to 4 {
      %v = tir.texel_read %x[%i] lane %l : memref<6x4xf32> -> f32
      %r = arith.mulf %v, %s : f32
      tir.texel_write %r, %y[%i] lane %l : f32, memref<6x4xf32>
    }
  }
}
"""


def guarded(kind: str, element: str) -> str:
    """`y[r, c] = x[r - 1, c - 4]`, a constant where that is outside; four columns at a time."""
    x = f"memref<6x16x{element}>"
    return f"""
tir.func @guarded_{kind}_{element}(%x: {x}, %y: {x})
    attributes {{outputs = array<i64: 1>, global_size = array<i64: 4, 6>}} {{
  %c0 = arith.constant 0 : index
  tir.for global_y %r = 0 to 6 {{ tir.for global_x %c = 0 to 4 {{
    tir.for unrolled %part = 0 to 2 {{ tir.for {kind} %l = 0 to 2 {{
      %row = affine.apply affine_map<(d0) -> (d0 - 1)> (%r)
      %from = affine.apply affine_map<(d0, d1, d2) -> (d0 * 4 + d1 * 2 + d2 - 4)> (%c, %part, %l)
      %to = affine.apply affine_map<(d0, d1, d2) -> (d0 * 4 + d1 * 2 + d2)> (%c, %part, %l)
      %c1 = arith.constant 1 : index
      %below = arith.cmpi sge, %row, %c0 : index
      %right = arith.cmpi sge, %c, %c1 : index
      %inside = arith.andi %below, %right : i1
      %v = scf.if %inside -> ({element}) {{
        %loaded = memref.load %x[%row, %from] : {x}
        scf.yield %loaded : {element}
      }} else {{
        %fill = arith.constant 0.5 : {element}
        scf.yield %fill : {element}
      }}
      memref.store %v, %y[%r, %to] : {x}
    }} }}
  }} }}
}}
"""


ELEMENTS = ("f32", "f16", "i8", "i16", "i32")
EVERY_KERNEL = [
    *(doubled(kind, kind, element, "vector") for kind in SCOPES for element in ELEMENTS),
    *(doubled("image2d", "buffer", "f32", lanes) for lanes in LANES),
    *(doubled("buffer", "image2d", "f16", lanes) for lanes in LANES if lanes != "vector"),
    *(shifted(kind, (1, 1, 1)) for kind in TEXTURES),
    *(lookup(kind) for kind in SCOPES),
    *(widened(kind) for kind in SCOPES),
    convolution(),
    *(guarded(kind, element) for kind in ("unrolled", "vectorized") for element in ("f32", "f16")),
    TWO_ROLLED,
    PARTS,
    ALSO_BY_ELEMENT,
]
