"""Lowering layers to operations on tiles: tiling, micro-op folding, packing of constants."""
