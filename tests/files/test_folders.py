"""Folders that clopt replaces: all of their files are its own, or they stay as they are."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from clopt import CloptError
from clopt.files.folders import FILES, digests, replace_folder
from clopt.tools import compile


def write(folder: Path, **contents: str) -> None:
    """Write files as a saved model, a package or graphs would be written."""

    def fill(place: Path) -> None:
        for name, content in contents.items():
            (place / "deep").mkdir(exist_ok=True)
            (place / "deep" / name).write_text(content)
        (place / "model.json").write_text(json.dumps({FILES: digests(place)}))

    replace_folder(folder, fill, "model.json", "compiled model")


def state(folder: Path) -> dict[str, object]:
    """Everything below a folder."""
    return {
        str(path.relative_to(folder)): path.readlink()
        if path.is_symlink()
        else path.read_bytes()
        if path.is_file()
        else path.stat().st_mode
        for path in folder.rglob("*")
    }


def test_own_files_are_replaced(tmp_path: Path) -> None:
    folder = tmp_path / "out"
    write(folder, a="1", b="2")
    write(folder, c="3")
    assert {path.name for path in folder.rglob("*")} == {"model.json", "deep", "c"}
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def tensorflow(folder: Path) -> None:
    """A model of TensorFlow.js, whose description is a model.json, too."""
    (folder / "deep" / "a").unlink()
    (folder / "deep").rmdir()
    (folder / "model.json").write_text('{"modelTopology": {}, "weightsManifest": []}')
    (folder / "group1-shard1of1.bin").write_bytes(b"weights")


FOREIGN: dict[str, tuple[Callable[[Path], object], str]] = {
    "another format": (tensorflow, "model.json does not list the files that clopt wrote"),
    "no manifest": (lambda f: (f / "model.json").unlink(), "is no compiled model"),
    "a manifest of another program": (
        lambda f: (f / "model.json").write_text("[]"),
        "model.json does not list",
    ),
    "another file": (lambda f: (f / "thesis.tex").write_text("x"), "has thesis.tex, which clopt"),
    "a hidden file": (lambda f: (f / "deep" / ".x").write_text("x"), "has deep/.x, which clopt"),
    "an empty folder": (lambda f: (f / "mine").mkdir(), "has mine, which clopt did not write"),
    "a link": (lambda f: (f / "mine").symlink_to("/usr"), "has mine, which clopt did not write"),
    "a changed file": (
        lambda f: (f / "deep" / "a").write_text("mine"),
        "changed since clopt wrote it",
    ),
    "a link to the same content": (
        lambda f: ((f / "deep" / "a").rename(f.parent / "a"), (f / "deep" / "a").symlink_to("a")),
        "deep/a has changed since clopt wrote it",
    ),
    "a pipe": (
        lambda f: ((f / "deep" / "a").unlink(), os.mkfifo(f / "deep" / "a")),
        "deep/a has changed since clopt wrote it",
    ),
}


@pytest.mark.parametrize("case", FOREIGN)
def test_what_clopt_did_not_write_stays(tmp_path: Path, case: str) -> None:
    change, sentence = FOREIGN[case]
    folder = tmp_path / "out"
    write(folder, a="1")
    change(folder)
    before = state(tmp_path)
    with pytest.raises(CloptError, match=sentence) as caught:
        write(folder, a="2")
    assert "\n" not in str(caught.value)
    assert state(tmp_path) == before


def test_a_link_to_a_folder_stays_one(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to("real")
    write(tmp_path / "link", a="1")
    write(tmp_path / "link", a="2")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "real" / "deep" / "a").read_text() == "2"


def test_a_file_is_no_folder(tmp_path: Path) -> None:
    (tmp_path / "out").write_text("mine")
    with pytest.raises(CloptError, match="out exists and is a file; name another folder"):
        write(tmp_path / "out", a="1")
    assert (tmp_path / "out").read_text() == "mine"


def test_a_report_in_the_folder_belongs_to_the_model(tmp_path: Path) -> None:
    folder, model = tmp_path / "out", tmp_path / "net.mlir"
    model.write_text(
        "func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {\n"
        "  %y = nn.unary exp %x : (tensor<4xf32>) -> tensor<4xf32>\n"
        "  func.return %y : tensor<4xf32>\n}"
    )
    for emit in ("saved", "c"):
        words = ["--emit", emit, "-o", str(folder / emit), "--target", "pocl"]
        words += ["--memory-report", str(folder / emit / "memory.svg")]
        for _ in range(2):
            compile.main([str(model), *words])
        (folder / emit / "memory.svg").write_text("mine")
        with pytest.raises(SystemExit):
            compile.main([str(model), *words])
        assert (folder / emit / "memory.svg").read_text() == "mine"
