"""Selection of the values of a float network that become int8, and of their scales."""
