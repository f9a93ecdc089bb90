"""The files of a C package, and the folder they are written to."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from xdsl.dialects.builtin import ModuleOp

from ...dialects import cl
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

    def write(place: Path) -> None:
        for path, content in contents.items():
            (place / path).parent.mkdir(parents=True, exist_ok=True)
            (place / path).write_bytes(content)

    replace_folder(folder, write, DESCRIPTION, "C package of clopt")
