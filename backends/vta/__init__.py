"""VTA, a tensor accelerator programmed by instructions: simulators, and its core in OpenCL C."""
