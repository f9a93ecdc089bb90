"""Figures of compiled programs as values, and pages that show them; `clopt.tools` prints them."""
