"""`clopt-tune` with a planted device: the words of the command line come after a journal's path."""

from __future__ import annotations

import sys
from pathlib import Path

from clopt.tools.tune import machines
from clopt.tools.tune.__main__ import main
from support.tuning.planted import Steady

if __name__ == "__main__":
    steady = Steady(Path(sys.argv[1]), seconds=0.2)
    machines.OpenCLInstrument = lambda words: steady
    main(sys.argv[2:])
