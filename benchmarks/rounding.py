"""The error of storing a network in half, with all arithmetic in float, by onnxruntime.

`python benchmarks/rounding.py [name ...]` prints the error of each network, relative to the largest
value of its output, when weights, values or both are rounded to half. Any engine that stores half
has about this error.
"""

from __future__ import annotations

import argparse
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import models
import numpy as np
import onnx
import onnxruntime
from clml import CLASSIFIERS, SIZES
from compare import relative_error
from onnx import NodeProto, TensorProto, helper, numpy_helper

ACTIVATIONS = ("Relu", "Clip")
"""Operators that are fused with the convolution or sum before them, without rounding between."""


def rounded(path: Path, weights: bool = True, values: bool = True) -> onnx.ModelProto:
    """Return the network with folded batch norms, weights and intermediates in half."""
    model = _folded(path)
    graph = model.graph
    for tensor in graph.initializer if weights else ():
        if tensor.data_type == TensorProto.FLOAT:
            half = numpy_helper.to_array(tensor).astype(np.float16)
            tensor.CopyFrom(numpy_helper.from_array(half.astype(np.float32), tensor.name))
    if values:
        nodes = list(_with_casts(graph))
        del graph.node[:]
        graph.node.extend(nodes)
    return model


def error(path: Path, weights: bool = True, values: bool = True) -> float:
    """Return the error of `rounded`."""
    inputs = models.sample_inputs(path)
    expected = onnxruntime.InferenceSession(str(path)).run(None, inputs)
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    text = rounded(path, weights, values).SerializeToString()
    return relative_error(
        onnxruntime.InferenceSession(text, options).run(None, inputs), list(expected)
    )


def _folded(path: Path) -> onnx.ModelProto:
    with tempfile.TemporaryDirectory() as folder:
        folded = Path(folder, path.name)
        options = onnxruntime.SessionOptions()
        options.graph_optimization_level = (
            onnxruntime.GraphOptimizationLevel.ORT_ENABLE_BASIC  # folds, but fuses nothing
        )
        options.optimized_model_filepath = str(folded)
        onnxruntime.InferenceSession(str(path), options)
        return onnx.load(folded)


def _with_casts(graph: onnx.GraphProto) -> Iterator[NodeProto]:
    """Return the nodes, with each value except the outputs rounded by its producer."""
    constants = {tensor.name for tensor in graph.initializer}
    floats = {v.name for v in graph.input if v.type.tensor_type.elem_type == TensorProto.FLOAT}
    kept = {value.name for value in graph.output} | constants
    uses = Counter(name for node in graph.node for name in node.input)
    activated = {n.input[0] for n in graph.node if n.op_type in ACTIVATIONS}
    names: dict[str, str] = {}
    for name in sorted(floats - constants):
        yield from _rounding(name, names)
    for node in graph.node:
        for i, name in enumerate(node.input):
            node.input[i] = names.get(name, name)
        yield node
        fused = {name for name in node.output if name in activated and uses[name] == 1}
        for name in node.output:
            if node.op_type != "Constant" and name not in kept | fused:
                yield from _rounding(name, names)


def _rounding(name: str, names: dict[str, str]) -> Iterator[NodeProto]:
    half, names[name] = f"{name}_half", f"{name}_rounded"
    yield helper.make_node("Cast", [name], [half], to=TensorProto.FLOAT16)
    yield helper.make_node("Cast", [half], [names[name]], to=TensorProto.FLOAT)


def main() -> None:
    """Run the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", default=[*CLASSIFIERS], metavar="name")
    for name in parser.parse_args().names:
        path = models.export(name, SIZES.get(name, 224))
        errors = (error(path, True, False), error(path, False, True), error(path))
        texts = zip(("weights", "values", "both"), errors, strict=True)
        print(f"{name}: {', '.join(f'{what} {number:.1e}' for what, number in texts)}", flush=True)


if __name__ == "__main__":
    main()
