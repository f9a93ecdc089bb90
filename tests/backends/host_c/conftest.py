"""Lets the tests of this folder import its modules, those of `networks` and of `runtime`."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2] / "runtime"))
sys.path.insert(0, str(Path(__file__).parents[2] / "networks"))
sys.path.insert(0, str(Path(__file__).parent))

from c_compilers import runtime as runtime
