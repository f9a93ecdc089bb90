"""Cache of compiled models on disk, so that the second start of a model compiles nothing."""
