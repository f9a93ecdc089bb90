"""The networks of a module that another compiler owns: their boundary and their callers."""
