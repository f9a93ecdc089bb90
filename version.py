"""The version of clopt.

It stands in the code, not in the metadata of an installation: a checkout and an archive have none.
"""

VERSION = "0.1.0"
