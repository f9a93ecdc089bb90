"""The parts of `cl-range-launches`: which elements a kernel reads for those it writes.

Elements are followed by unit: a buffer of a ranged value consists of equal parts, one for each unit
of the symbol.
"""
