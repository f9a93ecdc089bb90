"""The parts of `tir-lower-textures`: knowledge about indices, accesses, borders."""
