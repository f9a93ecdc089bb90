"""Installed next to xDSL, clopt's dialects, passes and targets work in a stock `xdsl-opt`."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest
from xdsl.universe import XDSL_UNIVERSE, Universe

from clopt.universe import CLOPT_UNIVERSE, NAMED_PIPELINES
from support import processes

PAGE = Path(__file__).parents[1] / "docs" / "embedding.md"
XDSL_OPT = Path(sys.executable).with_name("xdsl-opt")
MODULE = """
func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = nn.unary relu %x : (tensor<4xf32>) -> tensor<4xf32>
  func.return %y : tensor<4xf32>
}
"""

KINDS = ("all_dialects", "all_passes", "all_targets")


@pytest.mark.parametrize("kind", KINDS)
def test_entry_point_offers_all_rows(kind: str):
    everything = getattr(Universe.get_multiverse(), kind)
    assert set(getattr(CLOPT_UNIVERSE, kind)) <= set(everything)


@pytest.mark.parametrize("kind", KINDS)
def test_no_name_hides_one_of_xdsl(kind: str):
    assert not set(getattr(CLOPT_UNIVERSE, kind)) & set(getattr(XDSL_UNIVERSE, kind))


@pytest.mark.parametrize("kind", KINDS)
def test_rows_load_and_keep_their_names(kind: str):
    for name, load in getattr(CLOPT_UNIVERSE, kind).items():
        assert load().name == name


@pytest.mark.by_default(cases=1)
def test_the_documented_command_of_a_stock_driver():
    """The command and its output are those of the page, over a module with operations of others."""
    (block,) = re.findall(
        r"```mlir\n// \$ xdsl-opt (.*?) \| sed -n '/(.*?)/ p'\n(.*?)```", PAGE.read_text(), re.S
    )
    arguments, wanted, shown = block
    command = [XDSL_OPT, *arguments.split()]
    done = processes.run(command, cwd=PAGE.parents[1], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert any(name in arguments for name in NAMED_PIPELINES)
    lines = [line for line in done.stdout.splitlines() if wanted in line]
    assert lines == shown.splitlines()
    assert len(lines) == 2
    assert "scf.if %is_last" in done.stdout
