"""Random schedules of random kernels, compared with the kernels as they were."""
