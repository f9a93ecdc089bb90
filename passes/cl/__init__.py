"""Passes over `cl.program`: packing of constants, order of commands, and planning of memory."""
