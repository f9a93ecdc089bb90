"""The description of the device for which code is compiled, as a value.

A `Target` has four tables of facts: what the OpenCL API reports (`device`), rates and capacities
(`machine`), habits of the driver's compiler (`compiler`), and the user's wishes (`policy`). Each
accelerator adds a table. The files in `targets/` are their TOML form.
"""
