"""The parts of `tir-lower-textures`: what is known of indices, accesses, zero fills."""
