"""The page that pictures a search for plans."""
