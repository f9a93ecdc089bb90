"""The description of a device that code is compiled for, as a value.

A `Target` has four parts, a table of facts each: what the OpenCL API reports (`device`), rates and
capacities (`machine`), habits of the driver's compiler (`compiler`), and what the user asked for
(`policy`). An accelerator adds a table of its own. Files in `targets/` hold them as TOML.
"""
