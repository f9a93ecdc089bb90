"""Descriptions of programs: complete, equal after JSON, valid by the schema, and true."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import clopt
from clopt.backends.describe import describe
from clopt.description import Description, json_schema
from clopt.weights import Weights
from support.cl.programs import KERNELS, PROGRAM, WEIGHT, parse

ROOT = Path(__file__).parents[1]
CONV = ROOT / "docs" / "conv.onnx"
TARGETS = ("pocl", "adreno-740 texture=prefer", "adreno-740 clml=prefer")


@pytest.fixture(scope="module", params=TARGETS)
def model(request: pytest.FixtureRequest) -> clopt.CompiledModel:
    return clopt.compile(CONV, request.param, {"batch": 1})


def test_json_gives_the_same_description(model: clopt.CompiledModel) -> None:
    described = model.describe()
    assert described == model.describe()
    table = json.loads(str(described))
    assert table == json.loads(json.dumps(described.as_json()))
    assert Description.from_json(table) == described


def test_json_is_valid_by_the_schema(model: clopt.CompiledModel) -> None:
    # A part of clopt[test], which ./tests/run.sh installs.
    fastjsonschema = pytest.importorskip("fastjsonschema")
    validate: Callable[[Any], Any] = fastjsonschema.compile(json_schema())
    table = model.describe().as_json()
    validate(json.loads(json.dumps(table)))
    for damage in ({"version": 2}, {"memories": [{"bytes": 4}]}, {"commands": [{"op": "wait"}]}):
        with pytest.raises(fastjsonschema.JsonSchemaException):
            validate(table | damage)
    del table["kernels"]
    with pytest.raises(fastjsonschema.JsonSchemaException):
        validate(table)


def test_a_description_says_what_the_program_does(model: clopt.CompiledModel) -> None:
    described, memory = model.describe(), model.memory
    assert [
        (p.name, p.shape, np.dtype(p.type)) for p in (*described.inputs, *described.outputs)
    ] == [(info.name, info.shape, info.dtype) for info in (*model.inputs, *model.outputs)]
    sizes = described.bytes_by_kind()
    assert sizes["input"] == memory.inputs
    assert sizes["output"] == memory.outputs
    assert sizes.get("arena", 0) == memory.peak
    assert sizes.get("constant", 0) == memory.weights - memory.graph_weights
    lives = {value.live for value in described.values if value.live}
    assert lives == {(row.first, row.last) for row in memory.rows}
    assert described.weight_keys == set(model.weights.keys())
    for value in described.values:
        count = np.prod(value.shape, dtype=int) * np.dtype(value.type).itemsize
        assert value.bytes == (count if not value.pitch else value.pitch * value.image.height)  # type: ignore[union-attr]
    for command in described.commands:
        if command.op == "launch":
            kernel = described.kernels[command.kernel]
            text = described.kernel_source(kernel)
            assert f"__kernel void {kernel.function}(" in text
            assert text.count("__kernel") == 1
            assert kernel.plan.startswith("#tir.plan<")
            assert kernel.nodes
            given = [described.values[argument] for argument in command.arguments]
            wanted = [each for each in kernel.parameters if each.kind != "scalar"]
            assert [(v.type, v.shape) for v in given] == [(p.type, p.shape) for p in wanted]
            assert [v.image is not None for v in given] == [p.kind == "image" for p in wanted]


def test_images_have_their_extents_and_formats() -> None:
    described = clopt.compile(CONV, TARGETS[1], {"batch": 1}).describe()
    (packed,) = (v for v in described.values if v.image and v.live)
    assert packed.image is not None
    assert (packed.shape, packed.type) == ((1, 1, 16, 16, 4), "float32")
    assert (packed.image.kind, packed.image.channel_type) == ("image2d", "CL_FLOAT")
    assert (packed.image.width, packed.image.height) == (16, 16)
    assert described.memories[packed.memory].kind == "arena"
    assert packed.pitch >= 16 * packed.image.width
    assert described.requires == ("images",)
    weights = [m for m in described.memories if m.kind == "constant" and m.image]
    assert [(m.image.width, m.image.height) for m in weights if m.image] == [(36, 2)]


def test_graphs_of_accelerators() -> None:
    described = clopt.compile(CONV, TARGETS[2], {"batch": 1}).describe()
    (graph,) = described.graphs
    assert graph.accelerator == "CLML"
    assert "clml.conv_activation relu" in graph.text
    done = [command for command in described.commands if command.op == "offload"]
    assert [graph.commands[command.command] for command in done] == list(graph.commands)
    assert graph.weights


def test_views_copies_and_scalars() -> None:
    text = """
    cl.kernel @set(memref<4xi8>, memref<4xf32>) outputs [1] global [4] local [1]
      function "f" scalars [[1, 8, 5]] program "key"
    cl.kernel @tail(memref<4xf32>, memref<4xf32>) outputs [1] global [4] local [1] bounds [7]
      in_place [[0, 1]]
    cl.program @main(%x: memref<4xi8> {cl.name = "x", cl.element_type = ui8},
                     %y: memref<8xf32> {cl.name = "y"}) inputs 1 {
      %t = cl.alloc : memref<4xf32>
      %first = cl.view %y[0] : memref<8xf32> to memref<4xf32>
      %second = cl.view %y[16] : memref<8xf32> to memref<2x2xf32>
      %flat = cl.view %second : memref<2x2xf32> to memref<4xf32>
      cl.enqueue_kernel @set(%x, %t) : memref<4xi8>, memref<4xf32>
      cl.enqueue_copy %t, %first : memref<4xf32>
      cl.enqueue_kernel @tail(%t, %flat) : memref<4xf32>, memref<4xf32>
      cl.return
    }"""
    described = describe(parse(text), KERNELS)
    launch, copy, last = described.commands
    assert (launch.op, copy.op, last.op) == ("launch", "copy", "launch")
    x, t, y, first, flat = described.values
    assert described.inputs[0].type == "uint8"
    assert x.type == "int8"
    assert [value.name for value in (x, t, y, first, flat)] == ["x", "t", "y", "first", "flat"]
    assert (first.view_of, first.offset, first.bytes) == (2, 0, 16)
    assert (flat.view_of, flat.offset, flat.shape, flat.memory) == (2, 16, (4,), y.memory)
    assert t.live == (0, 2)
    assert y.live is None
    setter, tail = described.kernels
    assert (setter.function, setter.binary) == ("f", "key")
    assert [p.kind for p in setter.parameters] == ["buffer", "scalar", "buffer"]
    assert (setter.parameters[1].type, setter.parameters[1].value) == ("uint64", 5)
    assert (tail.parameters[2].type, tail.parameters[2].value) == ("int32", 7)
    assert tail.in_place == ((0, 1),)
    assert described.weight_keys == {"key"}


def test_a_program_without_a_plan_for_its_memory() -> None:
    weights = Weights()
    described = describe(parse(PROGRAM.format(key=weights.add(WEIGHT))), KERNELS)
    assert [memory.kind for memory in described.memories] == [
        "input",
        "output",
        "intermediate",
        "constant",
    ]


DAMAGES: dict[str, tuple[Callable[[dict[str, Any]], object], str]] = {
    "another format": (lambda t: t.update(format="other"), "format: expected one of"),
    "a newer version": (lambda t: t.update(version=2), "version: expected one of 1"),
    "bytes behind the end": (lambda t: t["values"][1].update(offset=4), r"values\[1\]: its bytes"),
    "bytes before the start": (lambda t: t["values"][1].update(offset=-4), r"values\[1\]: its"),
    "less than no bytes": (lambda t: t["values"][1].update(bytes=-4), r"values\[1\]: its bytes"),
    "no such memory": (
        lambda t: t["values"][0].update(memory=9),
        r"values\[0\].memory: 9 is out of",
    ),
    "no such port": (lambda t: t["inputs"][0].update(memory=-1), "a port's memory: -1 is out of"),
    "no such kernel": (lambda t: t["commands"][1].update(kernel=2), r"commands\[1\]: 2 is out of"),
    "no such value": (lambda t: t["commands"][0].update(arguments=[0, 5]), r"commands\[0\]: 5 is"),
    "a short launch": (
        lambda t: t["commands"][0].update(arguments=[0]),
        r"commands\[0\]: expected 2",
    ),
}


@pytest.fixture(scope="module")
def text() -> str:
    return str(clopt.compile(CONV, "pocl", {"batch": 1}).describe())


@pytest.mark.parametrize("case", DAMAGES)
def test_a_damaged_description_is_refused(case: str, text: str) -> None:
    table = json.loads(text)
    change, sentence = DAMAGES[case]
    change(table)
    with pytest.raises(
        clopt.CloptError, match=f"^This is not a description of a program: {sentence}"
    ):
        Description.from_json(table)
