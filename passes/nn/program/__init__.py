"""The lowering of a function of regions to a queue program, for `nn-to-cl`."""
