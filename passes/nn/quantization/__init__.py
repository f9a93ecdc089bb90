"""Which values of a float network become int8, and their scales."""
