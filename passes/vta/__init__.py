"""Passes for VTA: from layers to operations on tiles, and from tiles to instructions."""
