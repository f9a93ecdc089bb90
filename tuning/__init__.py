"""Finds the fastest plans for a device by trying them: `clopt-tune`."""
