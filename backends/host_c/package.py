"""The files of a C package, and the folder they are written to."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import cast

from xdsl.dialects.builtin import ModuleOp

from ...dialects import cl
from ...errors import CloptError
from ...files.folders import replace_folder
from ...weights import Weights
from .names import check_model_name
from .package_text import DESCRIPTION, Package
from .plans import make_plan
from .two_plans import PackageOfTwo


def package_files(
    module: ModuleOp,
    source: str,
    weights: Weights,
    name: str,
    fallback: tuple[ModuleOp, str] | None = None,
) -> dict[str, bytes]:
    """The files of a C package for a compiled module: contents by path.

    `module` has one planned `cl.program`, `source` is the OpenCL C of its kernels, `name` begins
    the names of the package's functions. Where a vendor's library computes a part of it, `fallback`
    is the same network by kernels alone: the package then has both plans. Raises CloptError for a
    name that C does not allow, and for a module that is not compiled.
    """
    check_model_name(name)
    plans = [make_plan(module, source, weights)]
    if fallback is not None and plans[0].offload:
        plans.append(make_plan(*fallback, weights))
    make = PackageOfTwo if len(plans) > 1 else Package
    return make(plans, weights, name, cl.target_of(module).name).files()


def write_package(folder: Path, contents: Mapping[str, bytes]) -> None:
    """Write a package to `folder`, complete or not at all.

    A folder that exists is replaced if nothing but a package is in it; otherwise CloptError.
    """
    _check_replaceable(folder)

    def write(place: Path) -> None:
        for path, content in contents.items():
            (place / path).parent.mkdir(parents=True, exist_ok=True)
            (place / path).write_bytes(content)

    replace_folder(folder, write)


def _check_replaceable(folder: Path) -> None:
    if not folder.exists() or (folder.is_dir() and not any(folder.iterdir())):
        return
    written = _written_files(folder / DESCRIPTION)
    if written is None:
        raise CloptError(f"{folder} exists and is no C package of clopt; name another folder.")
    found = {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}
    if strange := sorted(found - written):
        raise CloptError(
            f"{folder} has {strange[0]}, which clopt did not write; move it, or name another "
            "folder."
        )


def _written_files(description: Path) -> set[str] | None:
    """The files of the package that has this description; None where it is none."""
    try:
        parsed: object = json.loads(description.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    listed = cast("dict[str, object]", parsed).get("files") if isinstance(parsed, dict) else None
    return set(map(str, cast("list[object]", listed))) if isinstance(listed, list) else None
