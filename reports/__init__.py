"""Figures of compiled programs, as values: `clopt.tools` prints them."""
