"""Reads and writes of texels compute the same as the loads and stores, and stay inside images."""

from __future__ import annotations

import itertools
import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from xdsl.dialects import memref, scf
from xdsl.dialects.builtin import MemRefType

from clopt import CloptError
from clopt.dialects import tir
from clopt.dialects.cl import Target
from clopt.passes.tir.lower_textures import lower_textures
from support import effort
from support.tir import interpreter, kernels

SPACES = ["", *(f", #tir.scope<texture, {cuts}>" for cuts in ("[]", "[1]", "[2]", "[3]"))]
SPACES += [f", #tir.scope<texture, {cuts}>" for cuts in ("[1, 2]", "[2, 3]", "[1, 3]")]


def run_both(text: str, seed: int = 0) -> tir.FuncOp:
    """Check the lowered kernel of `text` against itself before; returns the lowered one."""
    func = kernels.parse(text)
    rng = np.random.default_rng(seed)
    arrays: list[np.ndarray] = []
    for param in func.params:
        assert isinstance(param.type, MemRefType)
        arrays.append(rng.integers(1, 9, param.type.get_shape()).astype(np.float32))
    expected = [array.copy() for array in arrays]
    interpreter.run(func, expected)
    lower_textures(func)
    func.verify()
    interpreter.run(func, arrays)
    for ours, theirs in zip(arrays, expected, strict=True):
        np.testing.assert_array_equal(ours, theirs, err_msg=str(func))
    return func


def window(
    shape: tuple[int, int, int, int],
    kernel: tuple[int, int, int],
    low: tuple[int, int, int],
    spaces: tuple[str, str],
    fill: float,
    tests: list[str],
) -> str:
    """Sums over windows of channel blocks, rows and columns; `low` are the borders before them."""
    n, c, h, w = shape
    x, y = (f"memref<{n}x{c}x{h}x{w}x4xf32{space}>" for space in spaces)
    names = "chw"
    sizes = dict(zip(names, (c, h, w), strict=True))
    conditions = {
        **{f"{a}ge": f"arith.cmpi sge, %i{a}, %zero : index" for a in names},
        **{f"{a}lt": f"arith.cmpi slt, %i{a}, %size{a} : index" for a in names},
    }
    lines = ["%zero = arith.constant 0 : index"]
    for a, before in zip(names, low, strict=True):
        lines.append(
            f"%i{a} = affine.apply affine_map<(d0, d1) -> (d0 + d1 - {before})> (%{a}, %k{a})"
        )
        lines.append(f"%size{a} = arith.constant {sizes[a]} : index")
    lines += [f"%{name} = {conditions[name]}" for name in tests]
    inside = tests[0]
    for i, name in enumerate(tests[1:]):
        lines.append(f"%and{i} = arith.andi %{inside}, %{name} : i1")
        inside = f"and{i}"
    body = "\n".join(lines)
    return f"""
tir.func @window(%x: {x}, %y: {y}) attributes {{outputs = array<i64: 1>}} {{
  tir.for parallel %n = 0 to {n} {{ tir.for parallel %c = 0 to {c} {{
  tir.for parallel %h = 0 to {h} {{ tir.for parallel %w = 0 to {w} {{
    %t = memref.alloca() : memref<4xf32, #tir.scope<private>>
    tir.for vectorized %l = 0 to 4 {{
      %start = arith.constant 0.0 : f32
      memref.store %start, %t[%l] : memref<4xf32, #tir.scope<private>>
    }}
    tir.for serial %kc = 0 to {kernel[0]} {{
    tir.for rolled %kh = 0 to {kernel[1]} {{ tir.for unrolled %kw = 0 to {kernel[2]} {{
    tir.for vectorized %l = 0 to 4 {{
      {body}
      %v = scf.if %{inside} -> (f32) {{
        %e = memref.load %x[%n, %ic, %ih, %iw, %l] : {x}
        scf.yield %e : f32
      }} else {{
        %f = arith.constant {fill} : f32
        scf.yield %f : f32
      }}
      %old = memref.load %t[%l] : memref<4xf32, #tir.scope<private>>
      %new = arith.addf %old, %v : f32
      memref.store %new, %t[%l] : memref<4xf32, #tir.scope<private>>
    }} }} }} }}
    tir.for vectorized %l = 0 to 4 {{
      %sum = memref.load %t[%l] : memref<4xf32, #tir.scope<private>>
      memref.store %sum, %y[%n, %c, %h, %w, %l] : {y}
    }}
  }} }} }} }}
}}"""


@settings(max_examples=effort.examples(30, long=800))
@given(st.data())
@pytest.mark.by_default(cases=1)
def test_windows_with_borders(data: st.DataObject):
    shape = data.draw(st.tuples(*[st.integers(1, 2)] * 2, *[st.integers(1, 4)] * 2))
    kernel = data.draw(st.tuples(st.integers(1, 2), st.integers(1, 3), st.integers(1, 3)))
    low = tuple(data.draw(st.integers(0, size - 1)) for size in kernel)
    spaces = data.draw(st.tuples(*[st.sampled_from(SPACES)] * 2))
    fill = data.draw(st.sampled_from([0.0, 0.0, 0.0, -3.5]))
    tests = [f"{a}ge" for a, k in zip("chw", low, strict=True) if k]
    tests += [f"{a}lt" for a, k, b in zip("chw", kernel, low, strict=True) if k - 1 > b]
    tests = tests or ["hge"]
    random.Random(data.draw(st.integers(0, 99))).shuffle(tests)
    func = run_both(window(shape, kernel, low, spaces, fill, tests))  # type: ignore[arg-type]
    left = [op for op in func.walk() if isinstance(op, scf.IfOp)]
    assert not left, "a border needs no branch"
    for buffer in func.params:
        users = {type(use.operation) for use in buffer.uses}
        assert users <= {tir.TexelReadOp, tir.TexelWriteOp}


@pytest.mark.parametrize(("height", "width", "columns"), [(5, 13, 4), (3, 7, 2), (4, 9, 4)])
@pytest.mark.parametrize("cuts", ["[]", "[1]", "[2]", "[1, 2]"])
def test_guards_prove_writes(height: int, width: int, columns: int, cuts: str):
    """A padded grid: 2 blocks of channels, rows and tiles of columns rounded up."""
    type_ = f"memref<2x{height}x{width}x4xf32, #tir.scope<texture, {cuts}>>"
    tiles = -(-width // columns)
    text = f"""
tir.func @guard(%x: {type_}, %y: {type_}) attributes {{outputs = array<i64: 1>, global_size = array<i64: {tiles + 1}, {height + 2}, 3>}} {{
  tir.for global_x %wo = 0 to {tiles + 1} {{ tir.for global_y %h = 0 to {height + 2} {{
  tir.for global_z %c = 0 to 3 {{
    %two = arith.constant 2 : index
    %height = arith.constant {height} : index
    %first = arith.cmpi slt, %c, %two : index
    %second = arith.cmpi slt, %h, %height : index
    %both = arith.andi %first, %second : i1
    scf.if %both {{
      tir.for unrolled %wi = 0 to {columns} {{
        %width = arith.constant {width} : index
        %w = affine.apply affine_map<(d0, d1) -> (d0 * {columns} + d1)> (%wo, %wi)
        %third = arith.cmpi slt, %w, %width : index
        scf.if %third {{
          tir.for vectorized %l = 0 to 4 {{
            %v = memref.load %x[%c, %h, %w, %l] : {type_}
            memref.store %v, %y[%c, %h, %w, %l] : {type_}
          }}
          scf.yield
        }} else {{
          scf.yield
        }}
      }}
      scf.yield
    }}
  }} }} }}
}}"""  # noqa: E501
    func = run_both(text)
    assert not any(isinstance(op, memref.LoadOp | memref.StoreOp) for op in func.walk())


@pytest.mark.parametrize(
    ("first", "index"),
    [
        (0, "d0 mod 4 - d0 mod 2"),  # its terms have bounds that their sum has not
        (8, "d0 + 6"),  # nothing reaches it
    ],
)
def test_trying_all_values_proves_an_index(first: int, index: str):
    type_ = "memref<3x4xf32, #tir.scope<texture, []>>"
    text = f"""
tir.func @tried(%x: {type_}, %y: {type_}) attributes {{outputs = array<i64: 1>}} {{
  tir.for parallel %i = 0 to 8 {{
    %first = arith.constant {first} : index
    %some = arith.cmpi sge, %i, %first : index
    scf.if %some {{
      %at = affine.apply affine_map<(d0) -> ({index})> (%i)
      tir.for unrolled %l = 0 to 4 {{
        %v = memref.load %x[%at, %l] : {type_}
        memref.store %v, %y[%at, %l] : {type_}
      }}
      scf.yield
    }} else {{
      scf.yield
    }}
  }}
}}"""
    run_both(text)


@pytest.mark.parametrize("last", [8, 9])
def test_an_index_that_no_trial_proves_is_refused(last: int):
    type_ = "memref<8x4xf32, #tir.scope<texture, []>>"
    text = f"""
tir.func @outside(%x: {type_}, %y: {type_}) attributes {{outputs = array<i64: 1>}} {{
  tir.for parallel %i = 0 to {last} {{
    %at = affine.apply affine_map<(d0) -> (d0 + d0 mod 2 - d0 floordiv 8)> (%i)
    tir.for unrolled %l = 0 to 4 {{
      %v = memref.load %x[%at, %l] : {type_}
      memref.store %v, %y[%at, %l] : {type_}
    }}
  }}
}}"""
    with pytest.raises(CloptError, match="cannot be proved to be below 8"):
        lower_textures(kernels.parse(text))


def test_the_other_branch_knows_the_opposite():
    type_ = "memref<8x4xf32, #tir.scope<texture, []>>"
    copy = f"""tir.for unrolled %l = 0 to 4 {{
        %v = memref.load %x[%AT, %l] : {type_}
        memref.store %v, %y[%i, %l] : {type_}
      }}"""
    text = f"""
tir.func @both(%x: {type_}, %y: {type_}) attributes {{outputs = array<i64: 1>}} {{
  tir.for parallel %i = 0 to 8 {{
    %five = arith.constant 5 : index
    %early = arith.cmpi slt, %i, %five : index
    %later = affine.apply affine_map<(d0) -> (d0 + 3)> (%i)
    %before = affine.apply affine_map<(d0) -> (d0 - 5)> (%i)
    scf.if %early {{
      {copy.replace("%AT", "%later")}
      scf.yield
    }} else {{
      {copy.replace("%AT", "%before")}
      scf.yield
    }}
  }}
}}"""
    run_both(text)


def test_clamped_indices_are_inside():
    type_ = "memref<8x4xf32, #tir.scope<texture, []>>"
    text = f"""
tir.func @clamp(%x: {type_}, %at: memref<8xi32>, %y: {type_}) attributes {{outputs = array<i64: 2>}} {{
  tir.for parallel %i = 0 to 8 {{
    %zero = arith.constant 0 : i32
    %seven = arith.constant 7 : i32
    %raw = memref.load %at[%i] : memref<8xi32>
    %low = arith.maxsi %raw, %zero : i32
    %high = arith.minsi %low, %seven : i32
    %j = arith.index_cast %high : i32 to index
    tir.for vectorized %l = 0 to 4 {{
      %v = memref.load %x[%j, %l] : {type_}
      memref.store %v, %y[%i, %l] : {type_}
    }}
  }}
}}"""  # noqa: E501
    func = kernels.parse(text)
    lower_textures(func)
    x = np.arange(32, dtype=np.float32).reshape(8, 4)
    at = np.array([-5, 0, 3, 9, 7, 2, 2, 100], np.int32)
    y = np.zeros_like(x)
    interpreter.run(func, [x, at, y])
    np.testing.assert_array_equal(y, x[np.clip(at, 0, 7)])
    unclamped = kernels.parse(text.replace("arith.index_cast %high", "arith.index_cast %raw"))
    with pytest.raises(CloptError, match="cannot be proved to be below 8"):
        lower_textures(unclamped)


READ = """
tir.func @read(%x: memref<2x3x4xf32, #tir.scope<texture, CUTS>>, %y: memref<1xf32>) attributes {{outputs = array<i64: 1>}} {{
  %x0 = arith.constant {0} : index
  %x1 = arith.constant {1} : index
  %lane = arith.constant 1 : index
  %zero = arith.constant 0 : index
  %v = tir.texel_read %x[COORDS] lane %lane BORDER : memref<2x3x4xf32, #tir.scope<texture, CUTS>> -> f32
  memref.store %v, %y[%zero] : memref<1xf32>
}}"""  # noqa: E501


@pytest.mark.parametrize("border", ["", "border"])
def test_the_interpreter_knows_borders(border: str):
    x = np.arange(1, 25, dtype=np.float32).reshape(2, 3, 4)
    text = READ.replace("CUTS", "[1]").replace("COORDS", "%x0, %x1").replace("BORDER", border)
    for i, j in itertools.product(range(-2, 5), range(-2, 4)):
        func = kernels.parse(text.format(i, j))
        y = np.zeros(1, np.float32)
        inside = 0 <= i < 3 and 0 <= j < 2
        if not inside and not border:
            with pytest.raises(IndexError, match="outside of an image"):
                interpreter.run(func, [x, y])
            continue
        interpreter.run(func, [x, y])
        assert y[0] == (x[j, i, 1] if inside else 0)


@pytest.mark.parametrize(
    ("cuts", "limits"),
    [
        ("[]", {"max_image_buffer_texels": 6}),
        ("[1]", {"max_image_width": 3, "max_image_height": 2}),
    ],
)
def test_the_interpreter_knows_limits(cuts: str, limits: dict[str, int]):
    coords = "%x0" if cuts == "[]" else "%x0, %x1"
    text = READ.replace("CUTS", cuts).replace("COORDS", coords).replace("BORDER", "").format(0, 0)
    func = kernels.parse(text)
    arrays = [np.ones((2, 3, 4), np.float32), np.zeros(1, np.float32)]
    interpreter.run(func, arrays, Target.from_facts("generic", {"images": True, **limits}))  # type: ignore[arg-type]
    for name in limits:
        less = limits | {name: limits[name] - 1}
        with pytest.raises(AssertionError, match="limits of images"):
            interpreter.run(func, arrays, Target.from_facts("generic", {"images": True, **less}))  # type: ignore[arg-type]


def test_the_interpreter_wants_whole_texels():
    type_ = "memref<2x4xf32, #tir.scope<texture, []>>"
    text = f"""
tir.func @part(%y: {type_}) attributes {{outputs = array<i64: 0>}} {{
  %v = arith.constant 1.0 : f32
  tir.for parallel %i = 0 to 2 {{ tir.for unrolled %l = 0 to 3 {{
    tir.texel_write %v, %y[%i] lane %l : f32, {type_}
  }} }}
}}"""
    with pytest.raises(AssertionError, match="a texel is written whole"):
        interpreter.run(kernels.parse(text), [np.zeros((2, 4), np.float32)])
