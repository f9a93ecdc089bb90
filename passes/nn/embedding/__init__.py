"""The networks of a module that other compilers own: what is theirs, and how they call ours."""
