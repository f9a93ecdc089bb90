"""C packages with a program binary: a stand-in for a board that computes graphs of VTA."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

import clopt
from clopt.backends.pyopencl_runtime import find_device
from support import processes
from support.c.compilers import infer, link
from support.vta.boards import X, binary, compiled, one_graph, two_graphs, write_board


def packed(model: clopt.CompiledModel, folder: Path, runtime: Sequence[Path]) -> tuple[Path, Path]:
    """The program of a package's example, and the package's program file."""
    model.save_c(folder, "net")
    (file,) = folder.glob("program_*.bin")
    assert file.name in json.loads((folder / "package.json").read_text())["files"]
    assert file.name in (folder / "README.md").read_text()
    return link(folder, runtime), file


@pytest.mark.in_turns
@pytest.mark.parametrize("memory", ["separate", "arena"])
def test_a_package_computes_what_our_core_does(
    memory: str, device: str, runtime: Sequence[Path], tmp_path: Path
) -> None:
    target = write_board(tmp_path, binary(device), memory=memory)
    model = compiled(two_graphs(), device, target)
    program, _ = packed(model, tmp_path / "net", runtime)
    (tmp_path / "board.bin").unlink()  # it travels in the package
    for options in ([], ["--replay"]):
        (found,), _ = infer(tmp_path / "net", program, device, model, [X], *options)
        np.testing.assert_array_equal(found, compiled(two_graphs(), device).run([X])[0])


def refusal(program: Path, folder: Path, device: str) -> str:
    arguments = ["--device", find_device(device).platform, "--weights", folder / "weights.bin"]
    done = processes.run([program, *arguments], capture_output=True, text=True)
    assert done.returncode == 1
    return done.stderr


@pytest.mark.in_turns
def test_the_file_is_what_computes(device: str, runtime: Sequence[Path], tmp_path: Path) -> None:
    """Another build of the same kernel may take its place, but nothing else."""
    model = compiled(one_graph(), device, write_board(tmp_path, binary(device)))
    folder = tmp_path / "net"
    program, file = packed(model, folder, runtime)
    (expected,), _ = infer(folder, program, device, model, [X])
    assert expected.any()
    file.write_bytes(binary(device, negates=True))
    (found,), _ = infer(folder, program, device, model, [X])
    np.testing.assert_array_equal(found, -expected)
    for content in (b"no program", b""):
        file.write_bytes(content)
        shown = refusal(program, folder, device)
        assert f"The device rejects the program {file}: it was built for another device." in shown
    file.unlink()
    assert f"Cannot read {file}: No such file" in refusal(program, folder, device)


@pytest.mark.parametrize(
    ("old", "new", "sentence"),
    [
        ('.name = "board"', '.name = "vta"', "has no kernel vta."),
        (".scalar_count = 2", ".scalar_count = 1", "has 10 parameters, but the model passes 9."),
    ],
)
def test_another_kernel_is_refused(
    old: str, new: str, sentence: str, runtime: Sequence[Path], tmp_path: Path
) -> None:
    model = compiled(one_graph(), "0", write_board(tmp_path, binary("0")))
    folder = tmp_path / "net"
    model.save_c(folder, "net")
    text = (folder / "net.c").read_text()
    assert text.count(old) == 1
    (folder / "net.c").write_text(text.replace(old, new))
    assert sentence in refusal(link(folder, runtime), folder, "0")


@pytest.mark.parametrize("end", ["", "/"])
def test_programs_in_another_folder(end: str, runtime: Sequence[Path], tmp_path: Path) -> None:
    """An application with the weights in memory, or elsewhere, names the folder."""
    model = compiled(one_graph(), "0", write_board(tmp_path, binary("0")))
    folder, other = tmp_path / "net", tmp_path / "other"
    model.save_c(folder, "net")
    (file,) = folder.glob("program_*.bin")
    other.mkdir()
    file.rename(other / file.name)
    main, line = (folder / "main.c").read_text(), "options.weights_path = given->weights;"
    assert line in main
    named = f'{line}\n    options.programs_folder = "{other}{end}";'
    (folder / "main.c").write_text(main.replace(line, named))
    (found,), _ = infer(folder, link(folder, runtime), "0", model, [X])
    np.testing.assert_array_equal(found, compiled(one_graph(), "0").run([X])[0])
