"""Where the reference library's sources are, and how they are compiled."""

from pathlib import Path

import clopt.backends.clml

REFERENCE = Path(clopt.backends.clml.__file__).parent / "reference"
INCLUDE = f"-I{REFERENCE / 'include'}"
