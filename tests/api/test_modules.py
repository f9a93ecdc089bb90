"""`clopt.compile` of MLIR text: an error names the file, the line and the column."""

from __future__ import annotations

from pathlib import Path

import pytest

import clopt

WRONG = {
    "parse": (
        "func.func @main(%x: i32) -> i32 {\n  func.return %y : i32\n}",
        "2:15: values used but not defined: [%y]",
        "  func.return %y : i32\n" + 14 * " " + "^",
    ),
    "verify": (
        "func.func @main() -> i32 {\n  func.return\n}",
        "2:3: 'func.return': Expected arguments to have the same types",
        "  func.return\n  ^",
    ),
}


@pytest.mark.parametrize("case", WRONG)
def test_error_in_a_file(case: str, tmp_path: Path) -> None:
    text, sentence, excerpt = WRONG[case]
    path = tmp_path / "bad.mlir"
    path.write_text(text)
    with pytest.raises(clopt.CloptError) as refusal:
        clopt.compile(path, target="pocl")
    assert f"bad.mlir:{sentence}" in str(refusal.value)
    assert refusal.value.__notes__ == [excerpt]
