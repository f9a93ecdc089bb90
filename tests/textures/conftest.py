"""Lets the tests of this folder import its modules and those of `networks`."""

import sys
from pathlib import Path

FOLDER = Path(__file__).parent
sys.path[:0] = [str(FOLDER), str(FOLDER.parent / "networks")]
