"""Windows over each channel that read blocks of channels and write a plain result."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import clopt
from clopt.context import CloptContext
from clopt.dialects import tir
from clopt.messages.source import Source, SourceModule
from clopt.targets import load_target
from support import effort


@dataclass(frozen=True)
class Window:
    """A depthwise convolution, or a maximum if `pools`, of `lanes` channels a block."""

    batch: int
    blocks: int
    lanes: int
    size: tuple[int, int]
    kernel: tuple[int, int]
    strides: tuple[int, int]
    dilations: tuple[int, int]
    pads: tuple[int, int, int, int]
    pools: bool

    @property
    def channels(self) -> int:
        return self.blocks * self.lanes

    @property
    def is_empty(self) -> bool:
        """Whether there is no window, or one outside of the operand."""
        return any(
            max(self.pads[i], self.pads[i + 2]) >= k
            or n + self.pads[i] + self.pads[i + 2] <= d * (k - 1)
            for i, (n, k, d) in enumerate(zip(self.size, self.kernel, self.dilations, strict=True))
        )

    def expected(self, x: np.ndarray, w: np.ndarray) -> np.ndarray:
        top, left, bottom, right = self.pads
        fill = -np.inf if self.pools else 0.0
        padded = np.pad(x, ((0, 0), (0, 0), (top, bottom), (left, right)), constant_values=fill)
        spans = [d * (k - 1) + 1 for k, d in zip(self.kernel, self.dilations, strict=True)]
        windows = np.lib.stride_tricks.sliding_window_view(padded, spans, axis=(2, 3))
        rows, columns = self.strides
        taken = windows[:, :, ::rows, ::columns, :: self.dilations[0], :: self.dilations[1]]
        if self.pools:
            return taken.max(axis=(4, 5))
        return np.einsum("nchwkl,ckl->nchw", taken, w[:, 0])

    def text(self, shape: tuple[int, ...]) -> str:
        """The function with given layouts; each operand is packed first."""

        def list_(values: tuple[int, ...]) -> str:
            return ", ".join(map(str, values))

        x = f"{self.batch}x{self.channels}x{'x'.join(map(str, self.size))}xf32"
        w = f"{self.channels}x1x{'x'.join(map(str, self.kernel))}xf32"
        y = f"tensor<{'x'.join(map(str, shape))}xf32>"
        at = (
            f"strides = array<i64: {list_(self.strides)}>, "
            f"dilations = array<i64: {list_(self.dilations)}>, "
            f"pads = array<i64: {list_(self.pads)}>"
        )
        kernel = f"kernel = array<i64: {list_(self.kernel)}>"
        conv = (
            f"nn.conv %a, %b {{{at}, groups = {self.channels} : i64}} "
            f": (tensor<{x}>, tensor<{w}>) -> {y}"
        )
        pool = f"nn.pool max %a {{{kernel}, {at}}} : (tensor<{x}>) -> {y}"
        packed = f"tensor<{x}, #nn.layout<[1 by {self.lanes}]>>"
        weights = f"tensor<{w}, #nn.layout<[0 by {self.lanes}]>>"
        return f"""
builtin.module {{
  func.func @main(%x: tensor<{x}> {{nn.name = "x"}}, %w: tensor<{w}> {{nn.name = "w"}})
      -> ({y} {{nn.name = "y"}}) {{
    %p = nn.relayout %x : tensor<{x}> -> {packed}
    %q = nn.relayout %w : tensor<{w}> -> {weights}
    %y = nn.fused %p, %q : ({packed}, {weights}) -> {y} {{
    ^bb0(%a: tensor<{x}>, %b: tensor<{w}>):
      %r = {pool if self.pools else conv}
      nn.yield %r : {y}
    }}
    func.return %y : {y}
  }}
}}"""


def _compiled(window: Window, shape: tuple[int, ...], **arguments: Any) -> clopt.CompiledModel:
    module = SourceModule.parse(CloptContext(), Source("windows", window.text(shape))).module
    return clopt.compile(module, f"pocl vector_width={window.lanes}", **arguments)


def _last_plan(model: clopt.CompiledModel) -> tir.Plan:
    plan = [op for op in model.module.ops if isinstance(op, tir.FuncOp)][-1].plan
    assert plan is not None
    return plan.data


def _check(window: Window, device: str) -> None:
    rng = np.random.default_rng(window.channels + window.size[0])
    x = rng.standard_normal((window.batch, window.channels, *window.size), dtype=np.float32)
    w = rng.standard_normal((window.channels, 1, *window.kernel), dtype=np.float32)
    expected = window.expected(x, w)
    (found,) = _compiled(window, expected.shape, device=device).run({"x": x, "w": w})
    np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-4)


MOBILE = Window(2, 3, 8, (13, 17), (3, 3), (2, 2), (1, 1), (1, 1, 1, 1), pools=False)
"""Such as those of MobileNetV2."""


@pytest.mark.by_default(cases=1)
@pytest.mark.parametrize("pools", [False, True])
def test_lanes_are_channels_and_a_tile_lies_along_a_row(pools: bool) -> None:
    """A tile across rows or images would store single elements of many lines."""
    plan = _last_plan(_compiled(replace(MOBILE, pools=pools), (2, 24, 7, 9)))
    assert plan.rule == "channel-blocks"
    blocks, columns = (plan.parameters[name] for name in ("blocks", "columns"))
    assert isinstance(blocks, int)
    assert isinstance(columns, int)
    assert columns > 1
    # The other registers keep operands for the next step of the window.
    assert blocks * columns <= load_target("pocl").machine.vector_registers // 2


@pytest.mark.parametrize(("channels", "width"), [(96, 16), (120, 8)])
def test_lanes_of_means_are_channels_of_one_image(channels: int, width: int) -> None:
    """Vectors across images would gather each element from another page."""
    x, y = f"tensor<32x{channels}x7x7xf32>", f"tensor<32x{channels}x1x1xf32>"
    packed = f"tensor<32x{channels}x7x7xf32, #nn.layout<[1 by 16]>>"
    mean = f"nn.reduce mean %a {{axes = array<i64: 2, 3>, keepdims}} : ({x}) -> {y}"
    text = f"""
func.func @main(%x: {x} {{nn.name = "x"}}) -> ({y} {{nn.name = "y"}}) {{
  %p = nn.relayout %x : {x} -> {packed}
  %y = nn.fused %p : ({packed}) -> {y} {{
  ^bb0(%a: {x}):
    %r = {mean}
    nn.yield %r : {y}
  }}
  func.return %y : {y}
}}"""
    module = SourceModule.parse(CloptContext(), Source("means", text)).module
    plan = _last_plan(clopt.compile(module, "pocl vector_width=16 vector_registers=32"))
    assert plan.rule == "register-tile"
    assert (plan.parameters["col"], plan.parameters["width"]) == (1, width)


def pairs(least: int, most: int) -> st.SearchStrategy[tuple[int, int]]:
    return st.tuples(st.integers(least, most), st.integers(least, most))


@pytest.mark.in_turns
@pytest.mark.usefixtures("quick_builds")
@settings(max_examples=effort.examples(6, 40), deadline=None)
@given(
    window=st.builds(
        Window,
        batch=st.integers(1, 3),
        blocks=st.integers(1, 3),
        lanes=st.sampled_from([4, 8, 16]),
        size=pairs(3, 20),
        kernel=pairs(1, 5),
        strides=pairs(1, 3),
        dilations=pairs(1, 2),
        pads=st.tuples(*[st.integers(0, 2)] * 4),
        pools=st.booleans(),
    )
)
def test_windows(window: Window, device: str) -> None:
    if not window.is_empty:
        _check(window, device)
