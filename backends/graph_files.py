"""The graphs of accelerators in a folder of their own, for simulators and for bringing up a board.

graphs.json         the target, and the files of each graph by its name
<graph>.<ending>    what the accelerator writes, for VTA a stream and its constants
"""

from __future__ import annotations

import json
from pathlib import Path

from xdsl.dialects.builtin import ModuleOp

from ..dialects.cl import target_of
from ..errors import CloptError
from ..files.folders import replace_folder
from ..version import VERSION
from ..weights import Weights
from .offload import graph_files

DESCRIPTION = "graphs.json"


def save_graphs(folder: Path, module: ModuleOp, weights: Weights) -> None:
    """Write the graphs of a compiled module to `folder`, complete or not at all.

    Raises CloptError for a module without such graphs, and for a folder with anything else.
    """
    graphs = graph_files(module, weights)
    if not graphs:
        raise CloptError(
            "No part of the model is a graph that has files; choose an accelerator that computes "
            "some of it, such as vta=prefer for a quantised model."
        )
    if folder.exists() and not (folder.is_dir() and _is_replaceable(folder)):
        raise CloptError(f"{folder} exists and has no graphs; name another folder.")
    listed = {name: sorted(files) for name, files in graphs.items()}
    description = {"clopt": VERSION, "target": target_of(module).name, "graphs": listed}

    def write(place: Path) -> None:
        (place / DESCRIPTION).write_text(json.dumps(description, indent=2) + "\n")
        for files in graphs.values():
            for name, content in files.items():
                (place / name).write_bytes(content)

    replace_folder(folder, write)


def _is_replaceable(folder: Path) -> bool:
    return (folder / DESCRIPTION).exists() or not any(folder.iterdir())
