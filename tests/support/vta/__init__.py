"""Streams of VTA, and what they have to compute."""
