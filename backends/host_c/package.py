"""The files of a C package, and the folder to which they are written."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from xdsl.dialects.builtin import ModuleOp

from ...dialects import cl
from ...files.folders import replace_folder
from ...size_table import SizeTable
from ...weights import Weights
from .names import check_model_name
from .package_sizes import PackageSizes
from .package_text import DESCRIPTION, Package
from .plans import make_plan
from .two_plans import PackageOfTwo


def package_files(
    module: ModuleOp,
    source: str,
    weights: Weights,
    name: str,
    fallback: tuple[ModuleOp, str] | None = None,
    table: SizeTable | None = None,
) -> dict[str, bytes]:
    """Return the files of a C package for a compiled module: contents by path.

    `module` has one planned `cl.program`, `source` is the OpenCL C of its kernels, and `name`
    begins the names of the package's functions. If a vendor's library computes part of the module,
    `fallback` is the same network with kernels only, and the package has both plans. The package
    takes the sizes that program 0 of `table` serves. Raises CloptError for a name that C does not
    allow, and for a module that is not compiled.
    """
    check_model_name(name)
    sizes = None if table is None else PackageSizes.of(table)
    if sizes is not None:
        given, weights = weights, Weights()
        weights.adopt(given)
    plans = [make_plan(module, source, weights, sizes)]
    if fallback is not None and plans[0].offload:
        plans.append(make_plan(*fallback, weights, sizes))
    make = PackageOfTwo if len(plans) > 1 else Package
    return make(plans, weights, name, cl.target_of(module).name).files()


def write_package(folder: Path, contents: Mapping[str, bytes]) -> None:
    """Write a package to `folder`, either completely or not at all.

    An existing folder is replaced if it holds only a package; otherwise CloptError is raised.
    """

    def write(place: Path) -> None:
        for path, content in contents.items():
            (place / path).parent.mkdir(parents=True, exist_ok=True)
            (place / path).write_bytes(content)

    replace_folder(folder, write, DESCRIPTION, "C package of clopt")
