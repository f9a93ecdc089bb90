"""Passes over the nn dialect, and the lowering out of it."""
