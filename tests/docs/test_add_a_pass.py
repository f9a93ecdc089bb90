"""The pass and the FileCheck test on the page about passes work as they stand there."""

from __future__ import annotations

import re
import sys
import textwrap
from pathlib import Path
from types import ModuleType

import pytest
from filecheck.main import main as filecheck
from xdsl.parser import Parser
from xdsl.passes import ModulePass

from clopt.context import CloptContext

PAGE = (Path(__file__).parents[2] / "docs" / "extend" / "add-a-pass.md").read_text(encoding="utf-8")
NAME = "clopt.passes.nn.drop_repeated_relus"


def block(start: str) -> str:
    (found,) = re.findall(rf"    ```\w*\n(    {re.escape(start)}.*?)    ```", PAGE, re.S)
    return textwrap.dedent(found)


@pytest.fixture
def pass_class(monkeypatch: pytest.MonkeyPatch) -> type[ModulePass]:
    module = ModuleType(NAME)
    module.__package__ = NAME.rpartition(".")[0]
    monkeypatch.setitem(sys.modules, NAME, module)
    exec(block('"""Drop'), module.__dict__)
    return module.NNDropRepeatedRelusPass


@pytest.mark.parametrize(("limit", "code"), [(1000, 0), (1, 1)])
def test_the_pass_and_its_test(
    pass_class: type[ModulePass],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    limit: int,
    code: int,
):
    assert f'"{pass_class.name}": "passes.nn.drop_repeated_relus:{pass_class.__name__}",' in PAGE
    test, printed = tmp_path / "test.mlir", tmp_path / "printed.mlir"
    test.write_text(block("// RUN"))
    ctx = CloptContext()
    module = Parser(ctx, test.read_text()).parse_module()
    pass_class(limit=limit).apply(ctx, module)  # type: ignore[call-arg]
    printed.write_text(str(module))
    with pytest.raises(SystemExit) as left:
        filecheck(["filecheck", str(test), "--input-file", str(printed)])
    assert left.value.code == code
