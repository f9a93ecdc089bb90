"""Writes a queue program as a C99 package that runs without Python.

`tables` turns the program into tables, `model_source` prints them, `weights_file` writes the
constants, `package` puts the files together. What all packages have in common are real files:
`runtime/` is the C library that interprets the tables, `templates/` are the rest.
"""

from __future__ import annotations

from .names import check_model_name, model_name
from .package import package_files, write_package

__all__ = ["check_model_name", "model_name", "package_files", "write_package"]
