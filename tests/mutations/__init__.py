"""Seeded mistakes that measure what the tests notice; `python -m mutations` tries them."""
