"""Accelerator graphs as files in a folder, for simulators and for bringing up boards.

graphs.json         the target, the files of each graph by its name, and digests of the files
<graph>.<ending>    files of the accelerator's own format; for the VTA a stream and its constants
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
    """Write the graphs of a compiled module to `folder`, either completely or not at all.

    Raises CloptError for a module without such graphs, and for a folder that holds anything else.
    """
    graphs = graph_files(module, weights)
    if not graphs:
        raise CloptError(
            "No part of the model is a graph with files; choose an accelerator that computes "
            "part of it, such as vta=prefer for a quantised model."
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
