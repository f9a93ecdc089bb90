"""Graphs as files: a simulator that has nothing else computes what the graph does."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from xdsl.dialects.builtin import ModuleOp

import clopt
from clopt.backends.graph_files import save_graphs
from clopt.backends.vta.simulator import Simulator, make_dram
from clopt.dialects.vta import BATCH_2, BLOCK_16, Config, DramKind, Memory, encode_uops
from clopt.dialects.vta.stream_file import read_stream, side_by_side
from clopt.errors import CloptError
from clopt.tools.compile import main as compile_main
from clopt.tools.vta_objdump import main as objdump_main
from support.nn.quantized import Quantized
from support.vta.queue_programs import program


def run_files(folder: Path, name: str, inputs: list[np.ndarray]) -> np.ndarray:
    """The first output of a graph, of whose files a simulator reads all that it needs."""
    file = read_stream((folder / f"{name}.vta").read_bytes())
    config, places = file.config, side_by_side(file.symbols)
    sizes = {symbol.name: symbol.elements for symbol in file.symbols}
    count = sum(each.elements for each in file.symbols if each.kind is DramKind.ACT)
    shape = config.element_shape(Memory.OUT)
    activations = np.full((count, *shape), 77, np.int8)
    for n, x in enumerate(inputs):
        start = places[f"input{n}"]
        activations[start : start + sizes[f"input{n}"]] = x.reshape(-1, *shape)
    arrays: dict[Memory, np.ndarray] = {Memory.UOP: encode_uops(file.uops, config)}
    for key, memory, dtype in (("weights", Memory.WGT, "<i1"), ("biases", Memory.ACC, "<i4")):
        if key in sizes:
            arrays[memory] = np.fromfile(folder / f"{name}.{key}.bin", dtype)
    shared = dict.fromkeys((Memory.INP, Memory.ACC_8BIT, Memory.OUT), activations)
    Simulator(config).run(file.linked(places), make_dram(config, arrays | shared))
    start = places["output0"]
    return activations[start : start + sizes["output0"]].reshape(-1)


@pytest.mark.parametrize("config", [BLOCK_16, BATCH_2])
def test_a_simulator_runs_them(config: Config, tmp_path: Path) -> None:
    model = program(config)
    for _ in range(2):  # such a folder is replaced
        save_graphs(tmp_path / "graphs", model.module, model.weights)
    x = model.input()
    hidden = run_files(tmp_path / "graphs", "vta_0", [-x])
    found = run_files(tmp_path / "graphs", "vta_1", [-hidden, x])
    np.testing.assert_array_equal(-found, model.expected(x))


def layer() -> Quantized:
    net = Quantized()
    x = net.input(1, 16, 2, 2)
    weight = np.ones((16, 16, 1, 1), np.float32)
    net.result(net.round(net.relu(net.conv(net.back(x, -4), weight)), -2))
    return net


def test_from_a_model_to_a_listing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    net = layer()
    path, folder = tmp_path / "net.mlir", tmp_path / "graphs"
    path.write_text(str(ModuleOp([net.function()])))
    weights = tmp_path / "net.safetensors"
    net.context.weights.save(weights)
    arguments = f"--weights {weights} --target pocl vta=prefer --emit=graphs -o {folder}"
    compile_main([str(path), *arguments.split()])
    assert sorted(each.name for each in folder.iterdir()) == [
        "graphs.json", "vta_0.vta", "vta_0.weights.bin",
    ]  # fmt: skip
    capsys.readouterr()
    objdump_main([str(folder / "vta_0.vta")])
    shown = capsys.readouterr().out
    assert "// %input0 : act, 4 elements\n// %output0 : act, 4 elements\n" in shown
    assert "vta.insn.load %weights[0] to wgt[0] size [1, 1]" in shown
    assert " to %output0[0] size " in shown


def test_refusals(tmp_path: Path) -> None:
    model = program(BLOCK_16)
    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(CloptError, match="exists and is no folder of graphs; name another folder"):
        save_graphs(tmp_path, model.module, model.weights)
    net = layer()
    plain = clopt.compile(ModuleOp([net.function()]), "pocl", weights=net.context.weights)
    with pytest.raises(CloptError, match="No part of the model is a graph with files"):
        plain.save_graphs(tmp_path / "graphs")
