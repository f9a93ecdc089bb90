"""The C runtime, compiled once."""

from support.c.compilers import runtime as runtime
