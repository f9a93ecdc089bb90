"""Imports point down: tools, tuning, reports and frontends, backends and passes, then dialects."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from support import processes

ROOT = Path(__file__).parents[1]
# From the bottom to the top.
ROOMS = (
    *("messages", "machine", "files", "dialects", "decisions", "passes", "backends"),
    *("frontends", "reports", "tuning", "tools"),
)

# The rooms that a room may not import: those above it, and some beside it.
FORBIDDEN_ROOMS = {room: set(ROOMS[i + 1 :]) for i, room in enumerate(ROOMS)}
FORBIDDEN_ROOMS["backends"] |= {"passes"}
FORBIDDEN_ROOMS["frontends"] |= {"passes", "backends"}
FORBIDDEN_ROOMS["reports"] |= {"backends", "frontends"}

# Modules of the root that look up what is installed; the lowest rooms know no registry.
REGISTRIES = {"accelerators", "plugins", "targets", "universe"}
FORBIDDEN_ROOMS["dialects"] |= REGISTRIES
FORBIDDEN_ROOMS["machine"] |= REGISTRIES
FORBIDDEN_ROOMS["decisions"] |= REGISTRIES

# The exception: a dialect's hook for canonicalisation finds its patterns there, when it is called.
EXEMPT = {"dialects": ("clopt", "passes", "nn", "canonicalization")}

# The only rooms that may import these.
OWNERS = {
    "pyopencl": "backends/pyopencl_runtime",
    "highspy": "passes",
    "msgspec": "decisions",
    "onnx": ("frontends/onnx", "tools/reduce/onnx_model.py"),  # the latter writes models, too
    "onnxruntime": "tools",
    "rich": "tools",
    "sklearn": "tuning",
    "distributed": "tuning",
    "torch": ("benchmarks", "frontends/fx"),  # by name, so that clopt is checked without it
}


def modules() -> list[Path]:
    files = [p for room in ROOMS for p in (ROOT / room).rglob("*.py")]
    return sorted(p.relative_to(ROOT) for p in [*files, *ROOT.glob("*.py")] if p.name != "setup.py")


def imported(path: Path) -> Iterator[tuple[str, ...]]:
    """The dotted names that a module imports, absolute, those of clopt starting with `clopt`."""
    package = ("clopt", *path.parent.parts)
    for node in ast.walk(ast.parse((ROOT / path).read_text())):
        if isinstance(node, ast.Import):
            yield from (tuple(alias.name.split(".")) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            module = tuple(node.module.split(".")) if node.module else ()
            if node.level:
                module = package[: len(package) - node.level + 1] + module
            yield from ((*module, alias.name) for alias in node.names)


@pytest.mark.parametrize("path", modules(), ids=str)
def test_module_imports_only_what_its_room_may(path: Path):
    room = path.parts[0]
    for name in imported(path):
        exempt = EXEMPT.get(room, ("no exception",))
        if name[0] == "clopt" and name[: len(exempt)] != exempt:
            assert len(name) == 1 or name[1] not in FORBIDDEN_ROOMS.get(room, set()), name
        assert name[0] not in ROOMS, f"{'.'.join(name)}: import it relatively"
        if owner := OWNERS.get(name[0]):
            assert str(path).startswith(owner), f"only {owner} imports {name[0]}"


def test_package_itself_is_imported_relatively():
    for path in modules():
        source = ast.parse((ROOT / path).read_text())
        absolute = {
            node.module.split(".")[0]
            for node in ast.walk(source)
            if isinstance(node, ast.ImportFrom) and node.module and not node.level
        }
        assert "clopt" not in absolute, path


def loaded_after(statements: str) -> set[str]:
    """The top-level modules that a fresh interpreter has loaded after `statements`."""
    program = f"{statements}\nimport sys; print(*{{name.split('.')[0] for name in sys.modules}})"
    done = processes.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    return set(done.stdout.split())


def test_passes_need_neither_opencl_nor_onnx():
    names = [str(p.with_suffix("")).replace("/", ".") for p in modules() if p.parts[0] == "passes"]
    statements = "\n".join(f"import clopt.{name.removesuffix('.__init__')}" for name in names)
    assert not {"pyopencl", "onnx", "rich", "onnxruntime"} & loaded_after(statements)


def test_dialects_load_no_passes():
    names = {p.parts[1] for p in modules() if p.parts[0] == "dialects" and len(p.parts) > 2}
    statements = "\n".join(f"import clopt.dialects.{name}" for name in sorted(names))
    check = "import sys; assert not any(m.startswith('clopt.passes') for m in sys.modules)"
    assert not {"pyopencl", "onnx"} & loaded_after(f"{statements}\n{check}")


def test_importing_clopt_is_cheap():
    assert not {"pyopencl", "onnx", "xdsl", "numpy", "msgspec"} & loaded_after("import clopt")


@pytest.mark.by_default(cases=1)
def test_the_cache_of_models_needs_no_compiler():
    assert not {"onnx", "xdsl"} & loaded_after("import clopt.compiled_cache, clopt.tools.run")
