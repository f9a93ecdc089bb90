"""A worker of a fleet with a planted device, which its scheduler cannot reach.

So is a worker behind a forwarded port: its address leads nowhere on the scheduler's machine.
"""

from __future__ import annotations

import os
import sys
from functools import partial
from pathlib import Path

from clopt.tuning import fleet_worker
from clopt.tuning.fleet_security import Certificates
from support.tuning.planted import Planted

if __name__ == "__main__":
    address, journal, seconds, *files = sys.argv[1:]
    pid = os.getpid()
    # All of 127.0.0.0/8 is this machine, where nothing listens on port 1.
    nowhere = f"127.{pid >> 16 & 255}.{pid >> 8 & 255}.{pid & 255}:1"
    contact = f"{address.split(':')[0]}://{nowhere}"
    fleet_worker._Worker = partial(fleet_worker._Worker, contact_address=contact)
    place = fleet_worker.WorkerPlace(address, Certificates(*map(Path, files)))
    fleet_worker.serve(place, Planted(Path(journal)), 1, float(seconds))
