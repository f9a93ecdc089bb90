"""How many products a sum in half adds on devices that add up such sums in half, too.

Emulated on four networks, the error of `f16` is then 1.1 to 2.1 times that of sums of 16 products
which a float takes. One sum in half of all products has up to 4 times that error.
"""

MOST_HALVES = 36
"""Those of a 3 x 3 window of four channels."""
