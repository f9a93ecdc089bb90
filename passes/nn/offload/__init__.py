"""Offload of nn operations to accelerators: matches, offers, regions, costs and graphs."""
