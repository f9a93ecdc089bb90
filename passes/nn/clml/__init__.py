"""The lowering of nn operations to CLML graphs: patterns, legality, regions and graphs."""
