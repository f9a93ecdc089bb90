"""Files: folders that are written whole, caches between processes, files of the package."""
