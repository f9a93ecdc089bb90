"""Passes over the queue program."""
