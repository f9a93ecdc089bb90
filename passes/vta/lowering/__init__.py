"""How layers become operations on tiles: tiling, folding into micro-ops, packing of constants."""
