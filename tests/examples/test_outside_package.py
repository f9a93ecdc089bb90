"""The packages of docs/extend/from-outside.md and add-a-backend.md, built from the pages alone."""

from __future__ import annotations

import re
import shlex
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest

from clopt import formats, plugins
from clopt.errors import CloptError
from support import packages

DOCS = Path(__file__).parents[2] / "docs" / "extend"

# What the page says beside its example, in the process of its `use.py`.
CHECKS = """
import contextlib
import io
import sys

from clopt.tools.opt import main
from clopt.tools.run import main as clopt_run
from clopt.tools.tune.__main__ import main as clopt_tune
from xdsl.universe import Universe

def clopt_prints(*arguments):
    printed = io.TextIOWrapper(io.BytesIO())
    with contextlib.redirect_stdout(printed), contextlib.suppress(SystemExit):
        main(list(arguments))
    printed.flush()
    return printed.buffer.getvalue().decode()

assert 'tir.plan<"rows-of-a-copy", 1, {rows = 3}>' in str(model.module), model.module
assert "shiny-drop-repeated-relus" in Universe.get_multiverse().all_passes
assert "Remove a relu whose operand" in " ".join(clopt_prints("--list-passes").split())
wave = str(Path(__file__).with_name("wave.chain"))
assert clopt_prints(wave).count("shiny.snake") == 1
printed = clopt_prints(wave, "-p", "simplify,fuse")
assert "nn.unary relu" in printed and "nn.fused" in printed
clopt_run([wave, "--seed", "1"])
wrong = Path(sys.argv[1]).with_name("wrong.chain")
wrong.write_text("6 5 sneak".replace(" s", chr(10) + "s"))
for tool, words in ((clopt_run, []), (clopt_tune, ["--target", "pocl", "--time", "1"]), (main, [])):
    told = io.StringIO()
    with contextlib.redirect_stderr(told), contextlib.suppress(SystemExit):
        tool([str(wrong), *words])
    assert '"sneak" is no function; write snake or' in told.getvalue(), told.getvalue()
    assert len(told.getvalue().splitlines()) == 1
twice = sys.argv[1]
with open(twice, "w") as file:
    file.write('''
func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = nn.unary relu %x : (tensor<4xf32>) -> tensor<4xf32>
  %z = nn.unary relu %y : (tensor<4xf32>) -> tensor<4xf32>
  %snake = shiny.snake %z : (tensor<4xf32>) -> tensor<4xf32>
  func.return %snake : tensor<4xf32>
}
''')
assert clopt_prints(twice).count("nn.unary relu") == 2
assert clopt_prints(twice, "-p", "shiny-drop-repeated-relus").count("nn.unary relu") == 1
"""


@pytest.mark.by_default(cases=1)
def test_a_package_out_of_tree(tmp_path: Path):
    package = packages.install(DOCS / "from-outside.md", tmp_path)
    script = package / "use.py"
    script.write_text(script.read_text() + CHECKS)
    packages.run_script(package, "use.py", tmp_path / "twice.mlir")


def test_a_text_backend_out_of_tree(tmp_path: Path):
    page = DOCS / "add-a-backend.md"
    package = packages.install(page, tmp_path)
    (session,) = re.findall(r"```\n\$ clopt (.*?)\n(.*?)```", page.read_text(), re.S)
    script = package / "run_clopt.py"
    script.write_text("from clopt.tools.opt import main\nmain()\n")
    command, printed = session
    quiet = "-q"  # on a busy machine clopt says on stderr what it is doing
    assert packages.run_script(package, script.name, quiet, *shlex.split(command)) == printed


def test_a_package_reads_no_format_of_ours(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(formats, "plugins", lambda group: {"mlir": None})
    with pytest.raises(CloptError, match=r'clopt\.frontends: "mlir" exists twice; uninstall one'):
        formats.format_of("network.toy")


def test_a_package_replaces_nothing():
    with pytest.raises(CloptError, match=r'clopt\.onnx: "Relu" exists twice; uninstall one'):
        plugins.refuse_twice("clopt.onnx", "Relu", {"Relu": None})


def test_a_package_that_cannot_be_imported_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    broken = EntryPoint("npu", "an_npu_that_is_gone:ROW", "clopt.test")
    monkeypatch.setattr(plugins, "installed", lambda: {"clopt.test": (broken,)})
    sentence = (
        r'^clopt\.test: "npu" \(an_npu_that_is_gone:ROW\) cannot be imported: No module named '
        r"'an_npu_that_is_gone'; repair or uninstall its package\.$"
    )
    with pytest.raises(CloptError, match=sentence):
        plugins.plugins("clopt.test")
