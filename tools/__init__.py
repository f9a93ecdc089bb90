"""The command-line tools, thin layers over the Python API."""
