"""Names of the libraries that can compute CLML's operations."""

REFERENCE = "reference"
CLML_LIBRARIES = (REFERENCE,)
"""Libraries that can replace a device's own CLML."""
