"""The graphs of accelerators in a folder of their own, for simulators and for bringing up a board.

graphs.json         the target, the files of each graph by its name, and their digests
<graph>.<ending>    what the accelerator writes, for VTA a stream and its constants
"""

from __future__ import annotations

import json
from pathlib import Path

from xdsl.dialects.builtin import ModuleOp

from ..dialects.cl import target_of
from ..errors import CloptError
from ..files.folders import FILES, digests, replace_folder
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
    listed = {name: sorted(files) for name, files in graphs.items()}
    description = {"clopt": VERSION, "target": target_of(module).name, "graphs": listed}

    def write(place: Path) -> None:
        for files in graphs.values():
            for name, content in files.items():
                (place / name).write_bytes(content)
        text = json.dumps(description | {FILES: digests(place)}, indent=2)
        (place / DESCRIPTION).write_bytes(f"{text}\n".encode())

    replace_folder(folder, write, DESCRIPTION, "folder of graphs")
