"""Each wait of the tests has a limit, so that a defect fails one test and not the whole run."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

TESTS = Path(__file__).parent
FILES = [*TESTS.rglob("*.py"), *(TESTS.parent / "lit_tests").rglob("*.py")]
EXEMPT = {TESTS / "support" / "processes.py", TESTS / "mutations" / "__main__.py"}
RUNS = {"run", "call", "check_call", "check_output"}
WAITS = {"communicate", "join", "result", "wait"}


def faults(text: str) -> list[str]:
    """Return the lines that may wait for ever, and what to write there."""
    found: list[tuple[int, str]] = []
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.With):
            openings = [ast.unparse(item.context_expr) for item in node.items]
            if any(opening.startswith("subprocess.Popen(") for opening in openings):
                found.append((node.lineno, "open the process with support.processes.started"))
        if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)):
            continue
        name, options = node.func.attr, {keyword.arg for keyword in node.keywords}
        if name in RUNS and ast.unparse(node.func.value) == "subprocess":
            found.append((node.lineno, f"call support.processes.run, not subprocess.{name}"))
        elif name in WAITS and not node.args and "timeout" not in options:
            found.append((node.lineno, f"{name} waits for ever without a timeout"))
    return [f"{line}: {fault}" for line, fault in sorted(found)]


@pytest.mark.by_default(cases=1)
def test_each_wait_has_a_limit():
    assert len(FILES) > 300
    found = {
        str(file.relative_to(TESTS.parent)): faults(file.read_text())
        for file in FILES
        if file not in EXEMPT
    }
    assert {file: lines for file, lines in found.items() if lines} == {}


@pytest.mark.parametrize(
    "line",
    [
        "subprocess.run(['true'], check=True)",
        "subprocess.check_output(['true'], timeout=1)",
        "with subprocess.Popen(['true']) as process: pass",
        "process.wait()",
        "process.communicate(input=b'')",
        "thread.join()",
        "future.result()",
    ],
)
def test_the_rule_finds(line: str):
    assert len(faults(line)) == 1


def test_the_rule_lets_pass():
    lines = ["processes.run(['true'])", "process.wait(5)", "','.join(x)", "f.result(timeout=1)"]
    assert faults("\n".join(lines)) == []
