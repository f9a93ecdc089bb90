"""Rules for GPUs, for kernels in plain memory or in any."""
