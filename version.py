"""The version of clopt.

It stands in the code, not in the metadata of an installation: a checkout and an archive have none.
"""

import time

VERSION = "0.1.0"

IMPORTED_NS = time.time_ns()
"""The time at which this process began to import clopt."""
