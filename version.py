"""The version of clopt.

It is in the code because checkouts and archives have no installation metadata.
"""

import time

VERSION = "0.1.0"

IMPORTED_NS = time.time_ns()
"""The time at which this process began to import clopt."""
