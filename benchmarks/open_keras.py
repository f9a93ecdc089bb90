"""Networks of Keras and functions of TensorFlow that tf2onnx exports, with open dimensions.

TensorFlow and tf2onnx need a Python environment of their own: `pip install tensorflow-cpu tf2onnx`.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from open_exporters import OpenModel
from open_networks import Draw

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import keras
import tensorflow as tf
import tf2onnx
from keras import layers

_OPSET = 18

Feeds = Mapping[str, np.ndarray]


@dataclass(frozen=True)
class KerasNetwork:
    """A function of tensors, the shapes of its inputs (None is open), and arrays of such shapes."""

    build: Callable[[], Callable[..., object]]
    shapes: Mapping[str, tuple[int | None, ...]]
    inputs: Callable[[Draw], Feeds]


def _floats(*shape: int) -> np.ndarray:
    return np.random.default_rng(sum(shape)).standard_normal(shape, np.float32)


def _tokens(*shape: int) -> np.ndarray:
    return np.random.default_rng(sum(shape)).integers(1, 50, shape, np.int32)


def _classifier() -> keras.Model:
    image = x = keras.Input((None, None, 3))
    for filters in (8, 16):
        x = layers.Conv2D(filters, 3, 2, "same", use_bias=False)(x)
        x = layers.ReLU()(layers.BatchNormalization()(x))
    x = layers.MaxPooling2D()(x)
    return keras.Model(image, layers.Dense(5, "softmax")(layers.GlobalAveragePooling2D()(x)))


def _inverted_residuals() -> keras.Model:
    image = keras.Input((None, None, 3))
    x = start = layers.Conv2D(8, 3, 2, "same", activation="relu6")(image)
    x = layers.Conv2D(24, 1, activation="silu")(x)
    x = layers.DepthwiseConv2D(5, padding="same", activation="silu")(x)
    weight = layers.GlobalAveragePooling2D(keepdims=True)(x)
    x = x * layers.Conv2D(24, 1, activation="hard_sigmoid")(weight)
    x = layers.Add()([start, layers.Conv2D(8, 1)(x)])
    return keras.Model(image, layers.SeparableConv2D(4, 3, padding="same")(x))


def _u_net() -> keras.Model:
    image = keras.Input((None, None, 1))
    skipped = layers.Conv2D(4, 3, padding="same", activation="elu")(image)
    x = layers.Conv2D(8, 3, 2, "same", activation="elu")(skipped)
    up = layers.Conv2DTranspose(4, 2, 2)(x)
    resized = layers.UpSampling2D()(x)
    x = layers.Concatenate()([skipped, up, resized])
    return keras.Model(image, layers.Conv2D(2, 1, activation="sigmoid")(x))


def _recurrent(kind: type[layers.LSTM | layers.GRU]) -> keras.Model:
    tokens = keras.Input((None,), dtype="int32")
    x = layers.Embedding(50, 8)(tokens)
    x = layers.Bidirectional(kind(6, return_sequences=True))(x)
    return keras.Model(tokens, layers.Dense(4)(kind(5)(x)))


def _encoder() -> keras.Model:
    tokens = keras.Input((None,), dtype="int32")
    x = layers.Embedding(50, 16)(tokens)
    attended = layers.MultiHeadAttention(2, 8)(x, x, use_causal_mask=True)
    x = layers.LayerNormalization()(x + attended)
    x = layers.LayerNormalization()(x + layers.Dense(16)(layers.Dense(32, "silu")(x)))
    return keras.Model(tokens, layers.Dense(50)(x))


def _dilated() -> keras.Model:
    sound = x = keras.Input((None, 4))
    for rate in (1, 2, 4):
        x = x + layers.Conv1D(4, 3, padding="causal", dilation_rate=rate, activation="tanh")(x)
    return keras.Model(sound, layers.AveragePooling1D(2)(x))


def _text_classifier() -> keras.Model:
    tokens = keras.Input((None,), dtype="int32")
    x = layers.Embedding(50, 8)(tokens)
    found = [layers.Conv1D(6, width, padding="same", activation="relu")(x) for width in (2, 3, 5)]
    pooled = layers.Concatenate()([layers.GlobalMaxPooling1D()(each) for each in found])
    return keras.Model(tokens, layers.Dense(3)(pooled))


def _recommender() -> keras.Model:
    numbers, item = keras.Input((6,)), keras.Input((1,), dtype="int32")
    deep = layers.Concatenate()([layers.Flatten()(layers.Embedding(50, 4)(item)), numbers])
    deep = layers.Dense(8, "selu")(layers.UnitNormalization()(deep))
    return keras.Model(
        [numbers, item], layers.Add()([layers.Dense(1)(deep), layers.Dense(1)(numbers)])
    )


def _resized(image: tf.Tensor) -> tf.Tensor:
    size = tf.shape(image)[1:3] * 2
    doubled = tf.image.resize(image, size, method="bilinear")
    return tf.nn.depth_to_space(tf.image.resize(doubled, [8, 12], method="nearest"), 2)


def _spectrum(sound: tf.Tensor) -> tf.Tensor:
    frames = tf.signal.frame(sound, 16, 8)
    angles = np.outer(np.arange(16), np.arange(9)) * (np.pi / 8)
    windowed = frames * tf.signal.hann_window(16)  # ONNX has no complex numbers
    parts = [
        tf.matmul(windowed, basis.astype(np.float32)) for basis in (np.cos(angles), np.sin(angles))
    ]
    return tf.math.log(parts[0] ** 2 + parts[1] ** 2 + 1e-3)


def _messages(nodes: tf.Tensor, edges: tf.Tensor) -> tf.Tensor:
    sent = tf.gather(nodes, edges[0])
    return tf.tensor_scatter_nd_add(tf.zeros_like(nodes), edges[1][:, None], sent)


def _nearest(queries: tf.Tensor, documents: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
    scores = tf.linalg.matmul(
        tf.math.l2_normalize(queries, -1), tf.math.l2_normalize(documents, -1), transpose_b=True
    )
    best = tf.math.top_k(scores, 3)
    return best.values, best.indices


def _doubled(x: tf.Tensor) -> tf.Tensor:
    """Double until the sum of squares is 1000 or more."""
    return tf.while_loop(lambda y: tf.reduce_sum(y * y) < 1000, lambda y: [2 * y], [x])[0]


def _images(channels: int, multiple: int) -> Callable[[Draw], Feeds]:
    def inputs(draw: Draw) -> Feeds:
        sizes = draw(2, 4), multiple * draw(4, 8), multiple * draw(4, 8)
        return {"x": _floats(*sizes, channels)}

    return inputs


def _sentences(draw: Draw) -> Feeds:
    return {"x": _tokens(draw(2, 4), draw(6, 20))}


def _pairs(draw: Draw) -> Feeds:
    batch = draw(2, 20)
    return {"x": _floats(batch, 6), "item": _tokens(batch, 1)}


def _graph(draw: Draw) -> Feeds:
    nodes = draw(51, 70)
    return {"nodes": _floats(nodes, 5), "edges": _tokens(2, draw(2, 40))}


_IMAGE = (None, None, None, 3)
_GRAY = (None, None, None, 1)

KERAS: dict[str, KerasNetwork] = {
    "Keras classifier": KerasNetwork(_classifier, {"x": _IMAGE}, _images(3, 2)),
    "Keras inverted residuals": KerasNetwork(_inverted_residuals, {"x": _IMAGE}, _images(3, 1)),
    "Keras U-Net": KerasNetwork(_u_net, {"x": _GRAY}, _images(1, 2)),
    "Keras LSTM": KerasNetwork(lambda: _recurrent(layers.LSTM), {"x": (None, None)}, _sentences),
    "Keras GRU": KerasNetwork(lambda: _recurrent(layers.GRU), {"x": (None, None)}, _sentences),
    "Keras causal attention": KerasNetwork(_encoder, {"x": (None, None)}, _sentences),
    "Keras TCN": KerasNetwork(
        _dilated, {"x": (None, None, 4)}, lambda draw: {"x": _floats(draw(2, 4), draw(9, 40), 4)}
    ),
    "Keras TextCNN": KerasNetwork(_text_classifier, {"x": (None, None)}, _sentences),
    "Keras wide and deep": KerasNetwork(_recommender, {"x": (None, 6), "item": (None, 1)}, _pairs),
    "TensorFlow resize": KerasNetwork(
        lambda: _resized,
        {"image": (None, None, None, 4)},
        lambda draw: {"image": _floats(draw(2, 4), draw(4, 9), draw(4, 9), 4)},
    ),
    "TensorFlow spectrum": KerasNetwork(
        lambda: _spectrum,
        {"sound": (None, None)},
        lambda draw: {"sound": _floats(draw(2, 4), draw(40, 90))},
    ),
    "TensorFlow graph": KerasNetwork(
        lambda: _messages, {"nodes": (None, 5), "edges": (2, None)}, _graph
    ),
    "TensorFlow retrieval": KerasNetwork(
        lambda: _nearest,
        {"queries": (None, 8), "documents": (None, 8)},
        lambda draw: {"queries": _floats(draw(2, 6), 8), "documents": _floats(draw(4, 40), 8)},
    ),
    "TensorFlow loop": KerasNetwork(
        lambda: _doubled, {"x": (None, 4)}, lambda draw: {"x": _floats(draw(2, 9), 4)}
    ),
}


def model_of(name: str) -> OpenModel:
    """Return a network with seeded weights as a model that tf2onnx writes."""
    network = KERAS[name]

    def write(path: Path) -> None:
        keras.utils.set_random_seed(0)
        built = network.build()
        feeds = network.inputs(lambda least, _: least)
        signature = [
            tf.TensorSpec(shape, tf.as_dtype(feeds[each].dtype), each)
            for each, shape in network.shapes.items()
        ]
        is_model = isinstance(built, keras.Model)  # which takes one argument
        call = (lambda *inputs: built([*inputs])) if is_model and len(signature) > 1 else built
        tf2onnx.convert.from_function(
            tf.function(call, input_signature=signature),
            input_signature=signature,
            opset=_OPSET,
            output_path=str(path),
        )

    return OpenModel(write, network.inputs)
