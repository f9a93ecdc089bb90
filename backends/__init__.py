"""From the IR to text or to a running program."""
