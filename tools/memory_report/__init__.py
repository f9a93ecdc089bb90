"""Memory reports for people: a table for the terminal, a picture, a page."""
