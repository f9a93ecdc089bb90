"""Configuration of the real `lit`; `conftest.py` runs the same files inside pytest."""

import os
import sys
import tempfile

import lit.formats

config.name = "clopt"  # noqa: F821
config.test_format = lit.formats.ShTest(execute_external=False)  # noqa: F821
config.suffixes = [".mlir"]  # noqa: F821
config.excludes = ["Inputs"]  # noqa: F821
config.test_source_root = os.path.dirname(__file__)  # noqa: F821
config.test_exec_root = os.path.join(tempfile.gettempdir(), "clopt-lit")  # noqa: F821
# The clopt and filecheck of the environment that lit runs in.
config.environment["PATH"] = os.pathsep.join(  # noqa: F821
    [os.path.dirname(sys.executable), config.environment["PATH"]]  # noqa: F821
)
