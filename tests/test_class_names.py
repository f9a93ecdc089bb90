"""Two classes of the product do not share a name, except operations of two dialects."""

from __future__ import annotations

import ast
from collections import defaultdict
from pathlib import Path

import clopt

ROOT = Path(clopt.__file__).parent
ELSEWHERE = {"tests", "lit_tests", "benchmarks", "docs", "examples", "build"}


def test_each_class_has_a_name_of_its_own() -> None:
    found: defaultdict[str, set[str]] = defaultdict(set)
    for path in ROOT.rglob("*.py"):
        place = path.relative_to(ROOT).parts
        if place[0] in ELSEWHERE or place[0].startswith("."):
            continue
        # An attribute or operation has the name of its dialect before it: `nn.ConvOp`.
        home = f"dialects/{place[1]}" if place[0] == "dialects" else "/".join(place)
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ClassDef):
                found[node.name].add(home)
    shared = {name: homes for name, homes in found.items() if len(homes) > 1}
    of_dialects = {
        name
        for name, homes in shared.items()
        if all(home.startswith("dialects/") for home in homes)
    }
    assert {name: shared[name] for name in shared.keys() - of_dialects} == {}
