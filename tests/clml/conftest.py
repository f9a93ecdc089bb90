"""Makes the modules of this folder and small networks importable for its tests."""

import sys
from pathlib import Path

FOLDER = Path(__file__).parent
sys.path[:0] = [str(FOLDER), str(FOLDER.parent / "networks")]
