"""The page that draws a search for plans."""
