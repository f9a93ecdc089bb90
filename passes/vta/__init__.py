"""Passes over vta: from operations on tiles to instructions."""
