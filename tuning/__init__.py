"""The search for the fastest plans on a device, used by `clopt-tune`."""
