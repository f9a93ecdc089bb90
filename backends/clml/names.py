"""The names of the libraries that compute CLML's operations."""

REFERENCE = "reference"
CLML_LIBRARIES = (REFERENCE,)
"""What stands in for a device's own CLML, by name."""
