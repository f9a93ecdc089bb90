"""`--print-completion`: bash completes what the tools take."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from clopt.tools import compile, opt, run, vta_objdump
from clopt.tools.reduce import __main__ as reduce
from clopt.tools.tune import __main__ as tune
from support import processes

_COMPLETE = """
source "$1"; shift
definition=$(complete -p "$1")
function=${definition##*-F }
COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); COMP_LINE="$*"; COMP_POINT=${#COMP_LINE}
${function%% *} "$1" "${!#}" "${@: -2:1}"
printf '%s\\n' "${COMPREPLY[@]}"
"""

CASES: list[tuple[Callable[[list[str]], None], str, set[str]]] = [
    (opt.main, "clopt --print-ir-after-a", {"--print-ir-after-all"}),
    (run.main, "clopt-run --dur", {"--duration"}),
    (run.main, "clopt-run m.onnx --precision f16", {"f16", "f16-storage"}),
    (run.main, "clopt-run big", {"big model.onnx"}),
    (compile.main, "clopt-compile m.onnx --choices big", {"big model.onnx"}),
    (reduce.main, "clopt-reduce --while", {"--while-fails"}),
    (tune.main, "clopt-tune sho", {"show"}),
    (tune.main, "clopt-tune search --sche", {"--scheduler"}),
    (tune.main, "clopt-tune show --ker", {"--kernel"}),
    (vta_objdump.main, "vta-objdump --con", {"--config"}),
]


@pytest.mark.parametrize(("main", "line", "found"), CASES)
def test_bash_completes(
    main: Callable[[list[str]], None], line: str, found: set[str], tmp_path: Path, capsys
):
    with pytest.raises(SystemExit) as leaving:
        main(["--print-completion", "bash"])
    assert not leaving.value.code
    script = tmp_path / "completion.sh"
    script.write_text(capsys.readouterr().out)
    (tmp_path / "big model.onnx").touch()
    command = ["bash", "--norc", "-c", _COMPLETE, "bash", str(script), *line.split()]
    done = processes.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=60)
    assert set(done.stdout.splitlines()) == found, done.stderr
    assert not done.returncode


def test_zsh_has_a_script(capsys):
    with pytest.raises(SystemExit):
        run.main(["--print-completion", "zsh"])
    assert capsys.readouterr().out.startswith("#compdef clopt-run\n")


def test_the_extra_is_named_where_it_is_missing(capsys, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(sys.modules, "shtab", None)
    with pytest.raises(SystemExit) as leaving:
        run.main(["--print-completion", "bash"])
    assert leaving.value.code == 1
    assert "install it with pip install 'clopt[completion]'." in capsys.readouterr().err
