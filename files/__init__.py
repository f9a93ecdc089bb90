"""Files: atomic writing, caches between processes, and files of the package."""
