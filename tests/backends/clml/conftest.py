"""Lets the tests of this folder import those of C packages."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "host_c"))
sys.path.insert(0, str(Path(__file__).parent))
