"""The parts of `tir-lower-textures`: facts about indices, packed accesses, and borders."""
