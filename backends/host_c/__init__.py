"""Backend that writes a queue program as a C99 package, which runs without Python.

`tables` converts the program to tables, `model_source` prints them, `weights_file` writes the
constants and `package` assembles the files. The parts that all packages share are real files:
`runtime/` is the C library that interprets the tables, `templates/` has the rest.
"""

from __future__ import annotations

from .names import check_model_name, model_name
from .package import package_files, write_package

__all__ = ["check_model_name", "model_name", "package_files", "write_package"]
