"""Outputs of a model as numpy files."""

from __future__ import annotations

from collections.abc import Sequence
from io import BytesIO
from pathlib import Path
from zipfile import ZipFile

import numpy as np

from ..errors import CloptError
from ..messages.printable import printable, visible
from .console import write_user_file, writing
from .inputs import Array

_LONGEST_NAME = 240
"""Maximum bytes of a file's name; file systems allow 255."""


def check_output(path: Path, names: Sequence[str]) -> None:
    """Refuse a path that cannot take the outputs called `names`, before anything is computed."""
    if path.suffix == ".npy" and len(names) != 1:
        raise CloptError(
            f"{path}: the model has {len(names)} outputs and an .npy file holds one; name an .npz "
            "file or a folder."
        )
    if path.suffix not in ("", ".npy", ".npz") and not path.is_dir():
        raise CloptError(
            f"{path}: name an .npz file, an .npy file or a folder; to use this "
            "name, create the folder."
        )
    if path.suffix not in (".npy", ".npz"):
        files = [_file_name(name) for name in names]
        double = next((file for file in files if files.count(file) > 1), None)
        if double:
            raise CloptError(f"{path}: two outputs would be {double}; name an .npz file.")


def write_outputs(path: Path, names: Sequence[str], outputs: Sequence[Array]) -> None:
    """Write an .npz file, an .npy file or a folder of .npy files, each file atomically."""
    contents = {name: _npy(output) for name, output in zip(names, outputs, strict=True)}
    match path.suffix:
        case ".npz":
            archive = BytesIO()
            with ZipFile(archive, "w") as members:
                for name, content in contents.items():
                    # The archive's names end at a NUL.
                    members.writestr(name.replace("\0", r"\0") + ".npy", content)
            write_user_file(path, archive.getvalue())
        case ".npy":
            write_user_file(path, *contents.values())
        case _:
            with writing(path):
                path.mkdir(parents=True, exist_ok=True)
            for name, content in contents.items():
                write_user_file(path / _file_name(name), content)


def _npy(array: Array) -> bytes:
    content = BytesIO()
    np.save(content, array)
    return content.getvalue()


def _file_name(output: str) -> str:
    name = visible(output)
    if len(name.encode()) > _LONGEST_NAME:
        name = printable(output, _LONGEST_NAME // 8)
    return name.replace("/", "_") + ".npy"
