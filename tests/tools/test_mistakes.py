"""Options that do not exist, and values of options."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from clopt.errors import CloptError
from clopt.tools import compile, opt, run, vta_objdump
from clopt.tools.option_values import parse_bytes, parse_dims, parse_open_dims, parse_seconds
from clopt.tools.reduce import __main__ as reduce
from clopt.tools.tune import __main__ as tune

DIGITS = str(Path(__file__).parents[2] / "examples" / "digits" / "digits.onnx")

REFUSED: dict[str, tuple[Callable[[list[str]], None], str]] = {
    "m.onnx --devise pocl": (run.main, "clopt-run: there is no option --devise; did you mean "),
    "m.onnx --devices=pocl": (run.main, "no option --devices; did you mean --device?"),
    "m.onnx --xyzzy": (run.main, "no option --xyzzy; clopt-run --help shows the usage."),
    "m.onnx n.onnx": (run.main, 'clopt-run: "n.onnx" is one argument too many; clopt-run --help'),
    "m.onnx --tolerance -1": (run.main, "--tolerance must be at least 0; clopt-run --help"),
    "m.onnx --ouput o": (compile.main, "are required: -o/--output; clopt-compile --help"),
    "m.onnx -o o --ouput o": (compile.main, "no option --ouput; did you mean --output?"),
    "m.onnx --dumpdir d": (opt.main, "clopt: there is no option --dumpdir; did you mean --dump-d"),
    # A missing file in the first place is told before options are read, which takes long.
    "--trails 3 m.onnx": (tune.main, "no option --trails; did you mean --trials?"),
    "show d --kernal k": (tune.main, "clopt-tune show: there is no option --kernal; did you mean "),
    "m.onnx -o o --timout 3 -- true {}": (
        reduce.main,
        "no option --timout; did you mean --timeout?",
    ),
    "s.vta --konfig k": (vta_objdump.main, "no option --konfig; did you mean --config?"),
}


@pytest.mark.parametrize("words", REFUSED)
def test_a_command_line_that_cannot_be_read(words: str, capsys: pytest.CaptureFixture[str]):
    main, sentence = REFUSED[words]
    with pytest.raises(SystemExit) as left:
        main(words.split())
    assert left.value.code == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert sentence in err
    assert err.count("\n") == 1


def test_dimensions_are_repeated_or_separated_by_commas():
    assert parse_dims(["batch=1,h=32", "w=64"]) == {"batch": 1, "h": 32, "w": 64}
    assert parse_dims(["f(a,b)=3"]) == {"f(a,b)": 3}
    assert parse_open_dims(["batch=1..64,h=32"]) == {"batch": (1, 64), "h": 32}
    assert parse_open_dims(["batch=1..64..20"]) == {"batch": (1, 64, 20)}


@pytest.mark.parametrize("item", ["batch=1..", "batch=..4", "batch=-1", "batch=1.5", "batch", "=1"])
def test_a_dimension_that_cannot_be_read(item: str):
    with pytest.raises(CloptError, match=re.escape(f"--dim {item}: write name=value")):
        parse_open_dims([item])


def test_what_needs_one_program_takes_no_range():
    with pytest.raises(CloptError, match=r"--dim batch=1\.\.64: write one size, not a range"):
        parse_dims(["batch=1..64"])


def test_an_array_outside_of_a_range(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    np.save(tmp_path / "x.npy", np.zeros((5, 1, 16, 16), np.float32))
    with pytest.raises(SystemExit) as left:
        run.main([DIGITS, "--dim", "batch=1..4", "--input", str(tmp_path / "x.npy"), "-q"])
    assert left.value.code == 1
    assert "The dimension batch is 5, but its range is from 1 to 4." in capsys.readouterr().err


SIZES = {"1000": 1000, "1GB": 10**9, "1 GB": 10**9, "1.5kB": 1500, "64MiB": 64 << 20, "8b": 8}


@pytest.mark.parametrize("text", SIZES)
def test_sizes_have_units(text: str):
    assert parse_bytes("--memory-limit", text) == SIZES[text]


TIMES = {"90": 90.0, "1.5s": 1.5, "10m": 600.0, "2h": 7200.0}


@pytest.mark.parametrize("text", TIMES)
def test_times_have_units(text: str):
    assert parse_seconds("--time", text) == TIMES[text]


@pytest.mark.parametrize("text", ["", "-1", "1m", "GB", "1e6", "nan"])
def test_what_is_no_size(text: str):
    with pytest.raises(CloptError, match=f"--memory-limit {text}: write a number of bytes"):
        parse_bytes("--memory-limit", text)


@pytest.mark.parametrize("text", ["", "0", "0.0h", "-1", "1MB"])
def test_what_is_no_time(text: str):
    with pytest.raises(CloptError, match=f"--time {text}: write a number of seconds above 0"):
        parse_seconds("--time", text)
