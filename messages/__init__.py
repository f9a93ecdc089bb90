"""Sentences for people: checks of the arguments of callers, names that can be printed."""
