"""Decisions of the compiler outside of programs: the records of measured choices."""
