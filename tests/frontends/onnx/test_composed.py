"""Operators composed of many nn operations: signals, detection, sampling."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from onnx.reference import ReferenceEvaluator

from clopt.errors import CloptError
from support.onnx.models import agree, load, model, random_inputs
from support.onnx.single_node import examples, shapes

SIGNALS = {
    "real": ("float[2,5,1] x", "y = DFT(x)", 17),
    "complex": ("float[2,5,2] x", "y = DFT<inverse=1>(x)", 17),
    "onesided": ("float[2,6,1] x", "y = DFT<onesided=1>(x)", 17),
    "padded": ("float[2,3,5,2] x", "y = DFT<axis=2>(x, n)", 17),
    "frames": ("float[2,20,1] x", "y = STFT(x, s, w)", 17),
    "frames without complex parts": ("float[2,20] x", "y = STFT(x, s, w)", 17),
    "complex frames": ("float[1,16,2] x", "y = STFT<onesided=0>(x, s, , n)", 17),
}


@pytest.mark.parametrize("name", SIGNALS)
def test_fourier_transform(name: str):
    inputs, node, opset = SIGNALS[name]
    window = np.hanning(8).astype(np.float32)
    constants = {"n": 7, "s": 3, "w": window}
    read = {k: v for k, v in constants.items() if f" {k})" in node or f" {k}," in node}
    agree(model(inputs, node, opset, read), tolerance=1e-4)


@pytest.mark.parametrize("length", [6, 7])
def test_real_signal_from_half_a_spectrum(length: int):
    x = np.random.default_rng(0).standard_normal(length)
    spectrum = np.fft.rfft(x)
    halves = np.stack([spectrum.real, spectrum.imag], -1)[None].astype(np.float32)
    proto = model(
        f"float[1,{len(spectrum)},2] x", "y = DFT<onesided=1, inverse=1>(x, n)", 20, {"n": length}
    )
    (y,) = load(proto).run(halves)
    np.testing.assert_allclose(y[0, :, 0], x, atol=1e-5)


@pytest.mark.parametrize(("exclusive", "reverse"), list(product([0, 1], repeat=2)))
def test_cumprod(exclusive: int, reverse: int):
    node = f"y = CumProd<exclusive={exclusive}, reverse={reverse}>(x, a)"
    x = np.random.default_rng(0).uniform(0.5, 1.5, (2, 7)).astype(np.float32)
    turned = x[:, ::-1] if reverse else x
    if exclusive:
        turned = np.concatenate([np.ones((2, 1), np.float32), turned[:, :-1]], 1)
    expected = np.cumprod(turned, 1)
    (y,) = load(model("float[2,7] x", node, 26, {"a": 1})).run(x)
    np.testing.assert_allclose(y, expected[:, ::-1] if reverse else expected, rtol=1e-5)


GRIDS = list(product(["bilinear", "nearest", "bicubic"], ["zeros", "border", "reflection"], [0, 1]))


@pytest.mark.parametrize(("mode", "padding", "align"), GRIDS)
def test_grid_sample(mode: str, padding: str, align: int):
    node = f'GridSample<mode="{mode}", padding_mode="{padding}", align_corners={align}>'
    agree(model("float[2,3,4,5] x, float[2,3,4,2] g", f"y = {node}(x, g)", 16), tolerance=1e-4)


def test_grid_sample_of_volumes():
    inputs = "float[1,2,3,4,5] x, float[1,2,2,3,3] g"
    agree(model(inputs, 'y = GridSample<mode="linear">(x, g)', 20), tolerance=1e-4)


@pytest.mark.parametrize("mode", ["half_pixel", "output_half_pixel"])
@pytest.mark.parametrize("pool", ["avg", "max"])
def test_roi_align(mode: str, pool: str):
    node = f'RoiAlign<mode="{pool}", coordinate_transformation_mode="{mode}", spatial_scale=0.5,'
    node += " sampling_ratio=2, output_height=3, output_width=2>"
    rois = np.array([[0, 1, 9, 11], [-4, 3, 30, 7], [5, 5, 5.5, 5.5]], np.float32)
    constants = {"r": rois, "b": [0, 1, 1]}
    agree(model("float[2,3,8,7] x", f"y = {node}(x, r, b)", 16, constants), tolerance=1e-4)


def test_roi_align_with_a_number_of_samples_that_depends_on_the_data():
    proto = model("float[2,3,8,7] x, float[1,4] r", "y = RoiAlign(x, r, b)", 16, {"b": [0]})
    with pytest.raises(CloptError, match="sampling_ratio must be 1 to 64"):
        load(proto)


def by_reference(inputs: str, node: str, opset: int, constants: dict[str, object]) -> None:
    """Compare with ONNX's reference, where onnxruntime has no kernel."""
    proto = model(inputs, node, opset, constants)
    feeds = random_inputs(proto)
    (expected, *_) = ReferenceEvaluator(proto).run(None, feeds)
    (got, *_) = load(proto).run(*feeds.values())
    assert got.dtype == expected.dtype
    np.testing.assert_allclose(got, expected, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize(
    "attributes",
    ["", "pads=[1,0,0,1], strides=[2,1]", "dilations=[1,2]"],
)
def test_col2im_undoes_overlapping_blocks(attributes: str):
    blocks = {"": 20, "pads=[1,0,0,1], strides=[2,1]": 18, "dilations=[1,2]": 16}[attributes]
    by_reference(
        f"float[2,12,{blocks}] x",
        f"y = Col2Im<{attributes}>(x, i, b)" if attributes else "y = Col2Im(x, i, b)",
        18,
        {"i": [5, 6], "b": [2, 2]},
    )


def test_deformable_convolution():
    rng = np.random.default_rng(0)
    by_reference(
        "float[2,4,6,5] x, float[2,36,4,3] o, float[2,18,4,3] m",
        "y = DeformConv<group=2, offset_group=2, pads=[0,0,0,0]>(x, w, o, b, m)",
        19,
        {
            "w": rng.standard_normal((4, 2, 3, 3), np.float32),
            "b": rng.standard_normal(4, np.float32),
        },
    )


@pytest.mark.parametrize(
    ("mode", "coordinates"),
    list(product(["linear", "cubic"], ["half_pixel", "half_pixel_symmetric", "asymmetric"])),
)
def test_antialias_widens_the_kernel(mode: str, coordinates: str):
    node = f'Resize<antialias=1, mode="{mode}", coordinate_transformation_mode="{coordinates}">'
    by_reference("float[1,2,7,9] x", f"y = {node}(x, , s)", 19, {"s": [1.0, 1.0, 0.6, 1.4]})


def test_scale_that_leaves_a_fraction_has_no_corners():
    node = 'Resize<mode="linear", coordinate_transformation_mode="align_corners">'
    proto = model("float[1,1,4,4] x", f"y = {node}(x, , s)", 19, {"s": [1.0, 1.0, 0.6, 0.6]})
    with pytest.raises(CloptError, match="of 4 elements leaves a fraction; give sizes"):
        load(proto)


def test_tensor_scatter_is_circular():
    node = 'y = TensorScatter<mode="circular", axis=1>(x, u, i)'
    proto = model("float[2,4,3] x, float[2,2,3] u, int64[2] i", node, 24)
    feeds = random_inputs(proto) | {"i": np.array([3, 1])}
    (expected,) = ReferenceEvaluator(proto).run(None, feeds)
    np.testing.assert_array_equal(load(proto).run(*feeds.values())[0], expected)


def test_causal_convolution_keeps_its_state():
    proto = model(
        "float[2,3,5] x, float[3,1,4] w, float[3] b, float[2,3,3] s",
        'y, n = CausalConvWithState<activation="silu">(x, w, b, s)',
        27,
    )
    feeds = random_inputs(proto)
    expected = ReferenceEvaluator(proto).run(None, feeds)
    for got, wanted in zip(load(proto).run(*feeds.values()), expected, strict=True):
        np.testing.assert_allclose(got, wanted, rtol=1e-5, atol=1e-5)


MEL_EDGES = [(0.0, 4000.0), (125.0, 3800.0), (3000.0, 3100.0)]


@pytest.mark.parametrize(("low", "high"), MEL_EDGES)
@pytest.mark.parametrize("bands", [1, 8, 40])
def test_mel_filters(low: float, high: float, bands: int):
    constants = {"b": bands, "d": 64, "r": 8192, "l": low, "h": high}
    by_reference("float[1] x", "y = MelWeightMatrix(b, d, r, l, h) z = Relu(x)", 17, constants)


def matrices(seed: int, batch: tuple[int, ...], size: int, rank: int) -> np.ndarray:
    """Matrices of float64 with the given rank, whose pivots need row exchanges."""
    rng = np.random.default_rng(seed)
    left, right = (rng.standard_normal((*batch, size, rank)) for _ in range(2))
    return left @ right.swapaxes(-1, -2)


@examples(20)
@given(
    seed=st.integers(0, 99),
    batch=shapes(0, 2, 3),
    size=st.integers(1, 7),
    lost=st.integers(0, 1),
)
def test_determinant(seed: int, batch: tuple[int, ...], size: int, lost: int):
    x = matrices(seed, batch, size, size - lost)
    dims = ",".join(map(str, x.shape))
    (y,) = load(model(f"double[{dims}] x", "y = Det(x)", 22)).run(x)
    assert y.shape == batch
    np.testing.assert_allclose(y, np.linalg.det(x), rtol=1e-9, atol=1e-9)


def test_determinant_of_special_matrices():
    x = np.array([[[0, 1], [1, 0]], [[0, 0], [0, 0]], [[2, np.nan], [1, 1]]], np.float32)
    (y,) = load(model("float[3,2,2] x", "y = Det(x)", 22)).run(x)
    np.testing.assert_array_equal(y, [-1, 0, np.nan])
