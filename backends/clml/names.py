"""The names of the libraries that compute CLML's operations."""

REFERENCE = "reference"
CLML_LIBRARIES = (REFERENCE,)
"""The libraries that can replace a device's own CLML, by name."""
