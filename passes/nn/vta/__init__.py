"""From quantised nn operations to layers of VTA."""
