"""From nn operations to CLML graphs: patterns, their legality, regions and graphs."""
