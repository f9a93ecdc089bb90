"""`clopt-tune` and its subcommands."""
