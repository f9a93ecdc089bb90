"""Memory reports of the tools: a table for the terminal, and files."""
