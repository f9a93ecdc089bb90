"""Whatever tensors and models are called, their package compiles and shows what it has."""

from __future__ import annotations

import re
import shutil
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, StringAttr

from clopt import CloptError
from clopt.backends.host_c import check_model_name, model_name, package_files
from clopt.backends.host_c.names import SIGNIFICANT, Names, identifier
from clopt.dialects import cl
from clopt.weights import Weights
from support import effort, processes
from support.c.compilers import RUNTIME, STRICT, compilers
from support.cl.programs import parse

HARD = [
    *("h", "H", "e", "pi", "x_1", "x", "x/1", "x:1", "count", "input_count", "tensor_count"),
    *("int", "class", "namespace", "_Bool", "__FILE__", "EOF", "NULL", "errno", "main", "1"),
    *("", " ", "_", "__", "-", "a b", "größe", "输入", "שלום 1", "\N{RIGHT-TO-LEFT OVERRIDE}x"),
    *("nul\0l", "nul\0m", "line\nbreak", "tab\t", "\r", "\x1b[31mred", "a*/b", "/*", "//", "**//"),
    *(
        "??/",
        "??/\n",
        "back\\",
        "back\\\n",
        "\\",
        "\\u0041",
        '"',
        "'",
        "`",
        "a|b",
        "%s%n",
        "@name@",
    ),
    *(
        "${X}",
        "#define x",
        "CL_TRUE",
        "TRUE",
        "LAYOUT_OPTIMAL_QCOM",
        "\ud800",
        "\U0001f600",
        "\x80",
    ),
    *("n" * 63, "n" * 64, "n" * 64 + "m", "long" * 1250, "l" * 4095, "ö" * 2048, "?" * 5000),
]


def package(names: Sequence[str], name: str = "net") -> dict[str, bytes]:
    """A package whose inputs have these names, and its one output the first of them."""
    x = "memref<4xf32>"
    parameters = ", ".join(f"%p{i}: {x}" for i in range(len(names) + 1))
    module = parse(f"""
cl.program @main({parameters}) inputs {len(names)} {{
  cl.enqueue_copy %p0, %p{len(names)} : {x}
  cl.return
}}
""")
    (program,) = (op for op in module.ops if isinstance(op, cl.ProgramOp))
    program.arg_attrs = ArrayAttr(
        [DictionaryAttr({"cl.name": StringAttr(text)}) for text in [*names, names[0]]]
    )
    return package_files(module, "", Weights(), name)


def write(folder: Path, files: Mapping[str, bytes]) -> Path:
    folder.mkdir(exist_ok=True)
    for path, data in files.items():
        if "/" not in path:
            (folder / path).write_bytes(data)
    return folder


def check(*words: str | Path) -> None:
    """The compiler has nothing to say."""
    done = processes.run(words, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")


def check_sources(folder: Path) -> None:
    include = [f"-I{folder}", f"-I{RUNTIME}"]
    for compiler in compilers():
        check(compiler, *STRICT, *include, "-fsyntax-only", *sorted(folder.glob("*.c")))
    if shutil.which("g++"):
        header = folder / "use.cpp"
        lines = [f'#include "{path.name}"\n' for path in sorted(folder.glob("*.h"))]
        header.write_text("#include <cmath>\n" + "".join(lines + lines))
        check("g++", "-std=c++11", *STRICT[1:], *include, "-fsyntax-only", header)


@pytest.fixture(scope="module")
def hard(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write(tmp_path_factory.mktemp("hard"), package(HARD))


def test_names_that_are_hard(hard: Path) -> None:
    check_sources(hard)


def test_a_model_called_m(tmp_path: Path) -> None:
    """With the tensor `h` its enumerator was the header's guard, with `e` a number of math.h."""
    folder = write(tmp_path / "m", package(["h", "e", "h"], "m"))
    source = "#define _GNU_SOURCE\n#include <math.h>\n" + (folder / "m.c").read_text()
    (folder / "m.c").write_text(source)
    check_sources(folder)


def test_text_shows_every_character(hard: Path) -> None:
    """No line has a character that a reader does not see, or that moves others."""
    for path in (path for path in hard.iterdir() if path.suffix != ".bin"):
        text = path.read_text()
        assert re.search(r"[^\n -~\u00a1-\u024f\u4e00-\u9fff\U0001f600]", text) is None, path
    header = (hard / "net.h").read_text()
    assert r"/* nul\x00l: float32 4 */" in header
    assert r"/* \u05e9\u05dc\u05d5\u05dd 1: float32 4 */" in header
    assert re.search(r"/\* (long){12}lo\.\.\. \(5,000 characters\): float32 4 \*/", header)
    assert max(map(len, header.splitlines())) < 200


def test_rows_of_the_readme(hard: Path) -> None:
    rows = (hard / "README.md").read_text().split("|---|---|---|---|---|---|\n")[1].split("\n\n")[0]
    lines = rows.splitlines()
    assert len(lines) == len(HARD) + 1
    for line in lines:
        assert len(re.findall(r"(?<!\\)\|", line)) == 7, line
        assert re.match(r"\| \d+ \| (input|output) \| (`+).*\2 \| float32 \| 4 \| 16 \|$", line)


def test_enumerators_are_told_apart_by_c99(hard: Path) -> None:
    for path in ("net.h", "net.c"):
        names = re.findall(r"(?m)^    (\w+)(?= = \d|,$)", (hard / path).read_text())
        assert len(names) > len(HARD)
        assert max(map(len, names)) <= SIGNIFICANT
        assert len(set(names)) == len(names)


@pytest.mark.by_default(cases=1)
def test_names_at_run_time(hard: Path) -> None:
    """Programs find tensors by their names; C's strings end at a NUL, which is spelled out."""
    main = hard / "names.c"
    main.write_text("""
#include "net.h"
#include <stdio.h>

int main(void) {
    for (size_t i = 0; i < net_info.input_count; i++) {
        for (const char *c = net_info.tensors[i].name; *c; c++) {
            printf("%02x", (unsigned char)*c);
        }
        printf("\\n");
    }
    return 0;
}
""")
    sources = [hard / "net.c", hard / "net_kernels.c", *sorted(RUNTIME.glob("*.c"))]
    program = hard / "names"
    include = [f"-I{hard}", f"-I{RUNTIME}"]
    check(compilers()[0], "-w", *include, main, *sources, "-lOpenCL", "-o", program)
    main.unlink()
    told = processes.run([program], capture_output=True, text=True, check=True).stdout
    program.unlink()
    for line, name in zip(told.splitlines(), HARD, strict=True):
        shown = name.replace("\0", r"\x00").encode(errors="backslashreplace")
        assert bytes.fromhex(line) == shown


@settings(max_examples=effort.examples(3))
@given(st.lists(st.text(max_size=80), min_size=40, max_size=120))
def test_any_names(names: list[str]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        check_sources(write(Path(folder), package(names)))


STEMS = [
    *("main", "int", "clopt", "cl", "clml", "3d-net", "math", "string", "pthread", "timer"),
    *("test", "", "-", "größe", "Stdio", "a" * 5000, "a" * 5001, "return", "kernels", "runtime"),
]


def test_models_by_the_names_of_files(tmp_path: Path) -> None:
    """Their headers go into one source, after C's own."""
    names = [model_name(stem) for stem in STEMS]
    assert len(set(map(str.lower, names))) == len(STEMS) - 1  # "-" is ""
    for name in dict.fromkeys(names):
        assert check_model_name(name) == name
        assert len(name) <= 23
        write(tmp_path, package(["x"], name))
    (tmp_path / "main.c").unlink()
    check_sources(tmp_path)


@pytest.mark.parametrize("name", ["main", "math", "cl_x", "CLOPT", "pthread_key", "timer", "ALL"])
def test_names_of_models_that_are_taken(name: str) -> None:
    with pytest.raises(CloptError, match=f'A model cannot have the reserved name "{name}"; choose'):
        check_model_name(name)


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("a" * 41, r'"a{20}... \(41 characters\)" is too long .* at most 40 characters.'),
        ("x\N{RIGHT-TO-LEFT OVERRIDE}", r'"x\\u202e" cannot begin the names of C functions;'),
    ],
)
def test_names_of_models_that_c_has_not(name: str, said: str) -> None:
    with pytest.raises(CloptError, match=said):
        check_model_name(name)


@given(st.lists(st.text(), max_size=20))
def test_identifiers(texts: list[str]) -> None:
    names = Names()
    made = [names.add(identifier(text)) for text in texts]
    assert len(set(made)) == len(made)
    for name in made:
        assert re.fullmatch(r"\w+", name, re.ASCII)
        assert len(name) <= 52
