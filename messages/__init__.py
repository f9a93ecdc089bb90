"""Texts for users: checks of arguments, printable names, and explanations."""
