"""Write the texts in `networks/` again, as IREE's compiler prints them.

    pip install 'iree-base-compiler[onnx]==3.13.0' jax
    PYTHONPATH=tests python tests/frontends/linalg/export.py

Networks from ONNX are those of `support.onnx.builders`, in opset 17. Beside those from JAX lie the
inputs and what JAX computes from them. The conversions are the documented ones (docs/linalg.md).
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from support import processes

HERE = Path(__file__).parent / "networks"
FROM_ONNX = ("mobilenet_v1", "squeezenet1_1", "densenet121", "resnet50", "unet")
TORCH = (
    "--torch-onnx-to-torch-backend-pipeline",
    "--torch-backend-to-linalg-on-tensors-backend-pipeline",
)
STABLEHLO = ("--iree-stablehlo-input-transformation-pipeline",)


def run(tool: str, *words: str) -> None:
    """Run a tool of the package iree-base-compiler."""
    path = Path(sys.executable).with_name(tool)
    processes.run([path, *words], check=True)


def export_onnx(folder: Path) -> None:
    """Write the networks from ONNX, whose shapes must stand in the model."""
    import onnx
    from onnx import version_converter

    from support.onnx import builders

    for name in FROM_ONNX:
        model = version_converter.convert_version(builders.NETWORKS[name](), 17)
        onnx.save(onnx.shape_inference.infer_shapes(model), folder / f"{name}.onnx")
        run("iree-import-onnx", str(folder / f"{name}.onnx"), "-o", str(folder / "torch.mlir"))
        run("iree-opt", str(folder / "torch.mlir"), *TORCH, "-o", str(HERE / f"{name}.mlir"))


def export_jax(folder: Path) -> None:
    """Write the networks from JAX, with inputs and outputs."""
    import jax

    rng = np.random.default_rng(0)
    for name, make in NETWORKS.items():
        function, x = make(rng)
        text = jax.jit(function).lower(x).as_text()
        (folder / "stablehlo.mlir").write_text(text)
        run(
            "iree-opt", str(folder / "stablehlo.mlir"), *STABLEHLO, "-o", str(HERE / f"{name}.mlir")
        )
        np.savez_compressed(HERE / f"{name}.npz", input=x, output=np.asarray(function(x)))


Network = tuple[Callable[[Any], Any], np.ndarray[Any, Any]]


def weights(rng: np.random.Generator, *shape: int) -> Any:
    """Small numbers."""
    return (rng.standard_normal(shape) * 0.2).astype(np.float32)


def _convolve(x: Any, w: Any, stride: int = 1, groups: int = 1) -> Any:
    from jax import lax

    order = ("NHWC", "HWIO", "NHWC")
    return lax.conv_general_dilated(
        x, w, (stride, stride), "SAME", dimension_numbers=order, feature_group_count=groups
    )


def _layer_norm(x: Any, scale: Any, bias: Any) -> Any:
    from jax import lax

    centred = x - x.mean(-1, keepdims=True)
    return centred * lax.rsqrt((centred**2).mean(-1, keepdims=True) + 1e-6) * scale + bias


def cnn(rng: np.random.Generator) -> Network:
    """Convolutions with batch norms, one by channel, a maximum over windows, a mean and softmax."""
    import jax
    from jax import lax

    def norm(x: Any, scale: Any, bias: Any, mean: Any, var: Any) -> Any:
        return (x - mean) * lax.rsqrt(abs(var) + 1) * scale + bias

    first, second, by_channel, last = (
        weights(rng, *shape) for shape in ((3, 3, 3, 8), (3, 3, 8, 8), (3, 3, 1, 8), (8, 5))
    )
    norms = [[weights(rng, 8) for _ in range(4)] for _ in range(3)]

    def network(x: Any) -> Any:
        x = jax.nn.relu(norm(_convolve(x, first, 2), *norms[0]))
        y = jax.nn.relu6(norm(_convolve(x, second), *norms[1]))
        x = x + jax.nn.silu(norm(_convolve(y, by_channel, groups=8), *norms[2]))
        x = lax.reduce_window(x, -np.inf, lax.max, (1, 3, 3, 1), (1, 2, 2, 1), "SAME")
        return jax.nn.softmax(x.mean((1, 2)) @ last)

    return network, weights(rng, 1, 16, 16, 3)


def transformer(rng: np.random.Generator) -> Network:
    """An embedding, attention of several heads and a GELU, with layer norms before them."""
    import jax
    import jax.numpy as jnp

    size, heads = 16, 4
    table = jnp.array(weights(rng, 20, size))
    q, k, v, out = (weights(rng, size, size) for _ in range(4))
    wide, narrow = weights(rng, size, 32), weights(rng, 32, size)
    scale, bias = weights(rng, size) + 1, weights(rng, size)

    def network(tokens: Any) -> Any:
        x = table[tokens]
        y = _layer_norm(x, scale, bias)
        split = (*y.shape[:2], heads, size // heads)
        a, b, c = ((y @ w).reshape(split) for w in (q, k, v))
        scores = jax.nn.softmax(jnp.einsum("bthd,bshd->bhts", a, b) / 2)
        x = x + jnp.einsum("bhts,bshd->bthd", scores, c).reshape(x.shape) @ out
        return x + jax.nn.gelu(_layer_norm(x, scale, bias) @ wide) @ narrow

    return network, rng.integers(0, 20, (1, 12)).astype(np.int32)


def classifier(rng: np.random.Generator) -> Network:
    """A perceptron whose result is the position of its greatest number."""
    import jax.numpy as jnp

    first, bias, second = weights(rng, 10, 16), weights(rng, 16), weights(rng, 16, 7)

    def network(x: Any) -> Any:
        return jnp.argmax(jnp.tanh(x @ first + bias) @ second, -1)

    return network, weights(rng, 6, 10)


def mixer(rng: np.random.Generator) -> Network:
    """Perceptrons over patches and over channels, with transposes in between."""
    import jax

    patches = weights(rng, 4, 4, 3, 12)
    shapes = ((16, 20), (20, 16), (12, 24), (24, 12))
    a, b, c, d = (weights(rng, *shape) for shape in shapes)
    one, zero = np.ones(12, np.float32), np.zeros(12, np.float32)

    def network(x: Any) -> Any:
        x = _convolve(x, patches, 4).reshape(x.shape[0], 16, 12)
        y = _layer_norm(x, one, zero).transpose(0, 2, 1)
        x = x + (jax.nn.gelu(y @ a) @ b).transpose(0, 2, 1)
        return (x + jax.nn.gelu(_layer_norm(x, one, zero) @ c) @ d).mean(1)

    return network, weights(rng, 2, 16, 16, 3)


def upsampler(rng: np.random.Generator) -> Network:
    """A transposed convolution beside a bilinear resize, and a concatenation."""
    import jax
    import jax.numpy as jnp
    from jax import lax

    shapes = ((3, 3, 3, 4), (3, 3, 4, 8), (3, 3, 8, 8), (3, 3, 12, 3))
    first, second, up, last = (weights(rng, *shape) for shape in shapes)

    def network(x: Any) -> Any:
        a = jax.nn.leaky_relu(_convolve(x, first))
        b = jax.nn.leaky_relu(_convolve(a, second, 2))
        resized = jax.image.resize(b, (1, 12, 12, 8), "bilinear")
        up_sampled = lax.conv_transpose(b, up, (2, 2), "SAME")
        return _convolve(jnp.concatenate([up_sampled + resized, a], -1), last)

    return network, weights(rng, 1, 12, 12, 3)


def lstm(rng: np.random.Generator) -> Network:
    """Three steps of an LSTM."""
    import jax
    import jax.numpy as jnp

    state, given, bias = weights(rng, 8, 32), weights(rng, 6, 32), weights(rng, 32)

    def network(x: Any) -> Any:
        h = c = jnp.zeros((2, 8))
        for step in range(x.shape[1]):
            i, f, g, o = jnp.split(h @ state + x[:, step] @ given + bias, 4, -1)
            c = jax.nn.sigmoid(f) * c + jax.nn.sigmoid(i) * jnp.tanh(g)
            h = jax.nn.sigmoid(o) * jnp.tanh(c)
        return h

    return network, weights(rng, 2, 3, 6)


NETWORKS: dict[str, Callable[[np.random.Generator], Network]] = {
    "cnn": cnn,
    "transformer": transformer,
    "classifier": classifier,
    "mixer": mixer,
    "upsampler": upsampler,
    "lstm": lstm,
}
"""Those from JAX."""

if __name__ == "__main__":
    HERE.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as name:
        for export in (export_onnx, export_jax):
            export(Path(name))
