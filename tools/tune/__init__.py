"""`clopt-tune`: find the best plans of kernels for a device, and manage tuning databases."""
