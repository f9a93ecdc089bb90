"""Rewrites of the IR, one file per pass."""
