"""From other formats to the IR."""
