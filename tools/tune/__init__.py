"""`clopt-tune`: the best plans of kernels for a device, and the databases that keep them."""
