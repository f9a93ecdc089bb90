"""Code that rules for several kinds of devices share, and the rules for all kinds."""
