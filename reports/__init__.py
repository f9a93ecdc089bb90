"""Reports about compiled programs, as values and as HTML pages."""
