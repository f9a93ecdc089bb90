"""The number of products that are summed in half precision before they are added to a float.

On devices that accumulate such sums in half, the error of `f16` was emulated on four networks: it
is 1.1 to 2.1 times the error of half sums of 16 products that are added to a float. A single half
sum of all products has up to 4 times that error.
"""

MOST_HALVES = 36
"""The products of a 3 x 3 window over four channels."""
