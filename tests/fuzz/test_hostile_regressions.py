"""Hostile files that once ended in a traceback, reduced."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from fuzz.hostile.check import complaint_of
from fuzz.hostile.values import ODD_NAMES
from onnx import ModelProto, TensorProto, helper
from xdsl.dialects.builtin import ModuleOp

import clopt
from clopt.context import CloptContext
from clopt.dialects import nn
from clopt.errors import CloptError
from clopt.frontends.onnx import import_onnx
from clopt.messages.source import Source, SourceModule
from clopt.weights import Weights
from support.limits import bounded
from support.onnx.models import agree, load, model

X = "float[2,3] x"


def refusal(source: str | Path | ModelProto, target: str = "generic") -> str:
    """The sentence with which a file is refused."""
    with bounded(), pytest.raises(CloptError) as refused:
        clopt.compile(source, target)
    assert not complaint_of(str(refused.value))
    return str(refused.value)


def refusal_of_text(folder: Path, text: str, target: str = "generic") -> str:
    path = folder / "text.mlir"
    path.write_text(text)
    return refusal(path, target)


@pytest.mark.parametrize(
    ("key", "value"),
    [("offset", "1e3"), ("offset", ""), ("offset", "-4"), ("length", "x"), ("offset", "9" * 30)],
)
def test_place_of_external_data_is_no_number(key: str, value: str, tmp_path: Path) -> None:
    entries = {"location": "data.bin", key: value}
    assert "its data offset or length is not a number" in refusal(external(tmp_path, entries))


@pytest.mark.parametrize("location", ["a\0b", ".", "", "x" * 5000])
def test_external_data_in_no_file(location: str, tmp_path: Path) -> None:
    refusal(external(tmp_path, {"location": location}))


def external(folder: Path, entries: dict[str, str]) -> Path:
    """A model with a tensor in another file."""
    proto = model(X, "y = Add(x, c)")
    tensor = TensorProto(name="c", data_type=TensorProto.FLOAT, dims=[3])
    tensor.data_location = TensorProto.EXTERNAL
    for key, value in entries.items():
        tensor.external_data.add(key=key, value=value)
    proto.graph.initializer.append(tensor)
    (folder / "data.bin").write_bytes(bytes(12))
    (folder / "model.onnx").write_bytes(proto.SerializeToString())
    return folder / "model.onnx"


@pytest.mark.parametrize("opset", [0, -1, 2**31, 2**63 - 1, -(2**63)])
def test_opset_is_no_version(opset: int) -> None:
    proto = model(X, "y = Relu(x)")
    proto.opset_import[0].version = opset
    assert "opset" in refusal(proto)
    proto = model(X, "y = own.F(x)", domains={"own": 1})
    proto.opset_import[1].version = opset
    assert "has no operator F" in refusal(proto)


@pytest.mark.parametrize("name", ODD_NAMES, ids=map(ascii, (name[:20] for name in ODD_NAMES)))
def test_names_in_refusals(name: str) -> None:
    """Of nodes, operators, values, domains, attributes, dimensions and equations."""
    extra: dict[str, Any] = {name: 1}
    nodes = [
        helper.make_node("Det", ["x"], ["a"], name=name),
        helper.make_node(name, ["x"], ["b"]),
        helper.make_node("Relu", [name], ["c"]),
        helper.make_node("Relu", ["x"], ["d"], domain=name),
        helper.make_node("Relu", ["x"], ["e"], **extra),
        helper.make_node("Pad", ["x", "p"], ["f"], mode=name),
        helper.make_node("Einsum", ["x"], ["g"], equation=f"{name}.,."),
    ]
    proto = model(X, "y = Relu(x)", constants={"p": [0, 0, 0, 0]})
    proto.graph.node.extend(nodes)
    proto.graph.output.extend(onnx.ValueInfoProto(name=node.output[0]) for node in nodes)
    assert refusal(proto).startswith("7 nodes cannot be compiled:")
    proto = model(X, "y = Relu(x)")
    proto.graph.input[0].type.tensor_type.shape.dim[0].dim_param = name
    with pytest.raises(CloptError, match="is not fixed; bind with") as refused:
        import_onnx(proto, Weights())
    assert not complaint_of(str(refused.value))
    for field in ("input", "cycle", "twice"):
        proto = model(X, "y = Relu(x)")
        if field == "input":
            proto.graph.input[0].name = name
            proto.graph.input[0].type.Clear()
        elif field == "cycle":
            proto.graph.node[0].input[0] = "y"
            proto.graph.node[0].name = name
        else:
            proto.graph.node[0].output[0] = name
            proto.graph.node.append(proto.graph.node[0])
        refusal(proto)


def test_body_of_a_function_is_no_graph() -> None:
    node = helper.make_node("SequenceMap", ["x"], ["y"], body=3)
    proto = model(X, "y = Relu(x)")
    proto.graph.node[0].CopyFrom(node)
    assert "the attribute 'body' has the wrong type" in refusal(proto)


def test_permutation_that_repeats() -> None:
    assert "does not permute" in refusal(model(X, "y = Transpose<perm=[0,0]>(x)"))
    assert "does not permute" in refusal(model(X, "y = Transpose<perm=[0]>(x)"))


def test_resize_that_changes_nothing() -> None:
    """The operation that the importer did not need was still a use of the product."""
    body = "t = Transpose<perm=[0,2,1]>(x) a = MatMul(t, x) y = Resize(a, , s)"
    proto = model("float[1,3,4] x", body, constants={"s": [1.0, 1.0, 1.0]})
    agree(proto)
    clopt.compile(proto, "generic")


def test_scatter_of_nothing() -> None:
    body = "t = Transpose<perm=[1,0]>(x) a = MatMul(t, x) y = ScatterND(a, i, u)"
    constants = {"i": np.zeros((0, 1), np.int64), "u": np.zeros((0, 3), np.float32)}
    clopt.compile(model(X, body, constants=constants), "generic")


def test_mean_of_nothing_is_silent(recwarn: pytest.WarningsRecorder) -> None:
    proto = model("float[0,3] x", "y = ReduceMean<axes=[0]>(x)", 13)
    (y,) = load(proto).run(np.zeros((0, 3), np.float32))
    assert np.isnan(y).all()
    assert not recwarn.list


TEXTS = {
    "lists": ("module attributes {a = " + "[" * 3000, "nested too deeply"),
    "types": ("func.func private @f(" + "tuple<" * 3000, "nested too deeply"),
    "digits": (f"func.func @f() {{ %c = arith.constant {'9' * 5000} : index }}", "cannot read"),
    "quote": ('"' + "x" * 200, "does not end on its line"),
    "character": ("func.func \0", r"\x00"),
    "no network": ("module {}", "no network"),
    "indices": (
        "tir.func @f(%x: memref<4x4xf32>) attributes {outputs = array<i64: 0>} {"
        " %c = arith.constant 0 : index %v = arith.constant 0.0 : f32"
        " memref.store %v, %x[%c] : memref<4x4xf32> }",
        "index",
    ),
    "block": (
        "func.func @f(%x: tensor<1x6xf32, #nn.layout<[1 by 9223372036854775807]>>) { func.return }",
        "by 2 to 1024",
    ),
    "packed result": (
        "func.func @f(%x: tensor<1x4xf32>) -> tensor<1x4xf32, #nn.layout<[1 by 4]>> {"
        " %p = nn.relayout %x : tensor<1x4xf32> -> tensor<1x4xf32, #nn.layout<[1 by 4]>>"
        " func.return %p : tensor<1x4xf32, #nn.layout<[1 by 4]>> }",
        "needs plain tensors",
    ),
}

IMAGES = "#nn.layout<[1 by 4], #tir.scope<texture, [3]>>"
IMAGE_TEXT = f"""
    !image = tensor<1x8x4x4xf32, {IMAGES}>
    !plain = tensor<1x8x4x4xf32>
    func.func @f(%x: !plain) -> (!plain, !plain) {{
      %y = nn.fused %x : (!plain) -> !image {{
      ^bb0(%a: !plain):
        %r = nn.unary relu %a : (!plain) -> !plain
        nn.yield %r : !plain
      }}
      %p = nn.fused %y : (!image) -> !plain {{
      ^bb0(%b: !plain):
        %e = nn.unary exp %b : (!plain) -> !plain
        nn.yield %e : !plain
      }}
      %z = nn.relayout %y : !image -> !plain
      func.return %p, %z : !plain, !plain
    }}
"""


def test_images_for_a_target_without_images(tmp_path: Path) -> None:
    assert "is an image, but generic does not support images" in refusal_of_text(
        tmp_path, IMAGE_TEXT
    )


def test_program_for_a_target_without_images(tmp_path: Path) -> None:
    (tmp_path / "network.mlir").write_text(IMAGE_TEXT)
    program = clopt.compile(tmp_path / "network.mlir", "adreno-740 texture=prefer").module
    assert "is an image, but generic does not support images" in refusal_of_text(
        tmp_path, str(program)
    )


@pytest.mark.parametrize(("text", "said"), TEXTS.values(), ids=TEXTS.keys())
def test_texts(text: str, said: str, tmp_path: Path) -> None:
    for target in ("generic", "adreno-740 texture=prefer"):
        assert said in refusal_of_text(tmp_path, text, target)


@pytest.mark.parametrize(
    "damage",
    ["[" * 100_000, "[]", '{"files": {}}', '{"files": []}', '{"files": {"program.mlir": 3}}'],
    ids=["deep", "list", "empty", "digests", "number"],
)
def test_descriptions_of_saved_models(damage: str, tmp_path: Path) -> None:
    clopt.compile(model(X, "y = Relu(x)"), "pocl").save(tmp_path / "saved")
    (tmp_path / "saved" / "model.json").write_text(damage)
    with bounded(), pytest.raises(CloptError):
        clopt.load(tmp_path / "saved")


def test_program_of_a_saved_model_nests_deeply(tmp_path: Path) -> None:
    """The digests fit: whoever writes the folder can see to that."""
    import hashlib

    folder = tmp_path / "saved"
    clopt.compile(model(X, "y = Relu(x)"), "pocl").save(folder)
    for text in ("(" * 3000, '"' + "x" * 200):
        (folder / "program.mlir").write_text(text)
        described = json.loads((folder / "model.json").read_text())
        described["files"]["program.mlir"] = hashlib.sha256(text.encode()).hexdigest()
        (folder / "model.json").write_text(json.dumps(described))
        with bounded(), pytest.raises(CloptError, match="compile the model again"):
            clopt.load(folder)


@pytest.mark.parametrize(
    "target",
    [
        "adreno image_pitch_alignment_bytes=9223372036854775807",
        "pocl local_memory_bytes=1000000000000000000000",
        "pocl max_alloc_bytes=-2147483648",
        "adreno image_base_alignment_bytes=255",
        "pocl " + "x" * 5000 + "=1",
        "line\nbreak",
        "x" * 5000,
        "\u202edesrever",
    ],
    ids=["alignment", "memory", "negative", "odd", "fact", "line", "long", "direction"],
)
def test_targets(target: str) -> None:
    refusal(model(X, "y = Relu(x)"), target)


def test_networks_that_simplify_to_nothing(tmp_path: Path) -> None:
    text = """
        func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
          %y = nn.cast %x {to = f32} : (tensor<4xf32>) -> tensor<4xf32>
          func.return %y : tensor<4xf32>
        }
    """
    (tmp_path / "text.mlir").write_text(text)
    compiled = clopt.compile(tmp_path / "text.mlir", "generic")
    assert [port.name for port in (*compiled.inputs, *compiled.outputs)] == ["input0", "output0"]


@pytest.mark.parametrize("shape", [[8], [2, 8]])
def test_resize_of_few_dimensions_in_textures(shape: list[int]) -> None:
    scales = [1.0] * (len(shape) - 1) + [2.0]
    proto = model(f"float{shape} x", "y = Resize(x, , s)", constants={"s": scales})
    assert clopt.compile(proto, "adreno-740 texture=prefer").source


def test_numbers_that_do_not_fit() -> None:
    """The gates of so many units are three times as many."""
    weights = {"w": np.zeros((1, 3, 2), np.float32), "r": np.zeros((1, 3, 1), np.float32)}
    body = f"y = GRU<hidden_size={2**63 - 1}>(x, w, r)"
    assert "does not fit 64 bits" in refusal(model("float[2,1,2] x", body, 14, weights))


def test_external_data_in_a_file_of_no_name(tmp_path: Path) -> None:
    path = external(tmp_path, {"location": "data.bin"})
    path.write_bytes(path.read_bytes().replace(b"data.bin", b"dat\xff.bin"))
    assert "a name in it is not UTF-8" in refusal(path)


def test_numbers_of_slices_that_do_not_fit_their_type() -> None:
    """Indices from the end, of a type that does not hold the length of the dimension."""
    proto = model("float[1000] x", "y = Gather(x, i)", constants={"i": np.array([-1, -2], np.int8)})
    agree(model("float[1000] x", "y = Gather(x, i)", constants={"i": np.array([-1, -2], np.int32)}))
    text = str(clopt.compile(proto, "generic").module)
    assert "cl.program" in text


def test_variance_below_zero_is_silent(recwarn: pytest.WarningsRecorder) -> None:
    statistics = {"s": [1.0, 1.0, 1.0], "v": [-1.0, 1.0, 1.0]}
    body = "y = BatchNormalization(x, s, s, s, v)"
    clopt.compile(model("float[1,3,4] x", body, constants=statistics), "generic")
    assert not recwarn.list


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
@pytest.mark.parametrize("number", [1048576.0, -1234567.0, 999999.0, 1e9, 123456789.0, 1e30, 0.1])
def test_constants_are_read_as_they_were_printed(number: float, dtype: type[np.floating]) -> None:
    """xDSL prints 1048576.0 as the bits 0x49800000, and reads those in a list as a number."""
    with np.errstate(over="ignore"):
        array = np.array([number, 1], dtype)
    op = nn.ConstantOp.from_array(array)
    module = SourceModule.parse(CloptContext(), Source("text", str(ModuleOp([op])))).module
    (read,) = module.ops
    assert isinstance(read, nn.ConstantOp)
    got = nn.constant_value(read.result)
    assert got is not None
    np.testing.assert_array_equal(got, array)


@pytest.mark.parametrize("fact", ["local_memory_bytes=2", "image_pitch_alignment_bytes=7"])
def test_odd_facts(fact: str) -> None:
    """Too little memory to share a sum in, and rows of no whole texels."""
    body = "y = GlobalAveragePool(x) z = MaxPool<kernel_shape=[3,3]>(x)"
    proto = model("float[1,8,32,33] x", body)
    model_ = clopt.compile(proto, f"adreno-650 texture=prefer image_from_buffer=true {fact}")
    assert model_.source
