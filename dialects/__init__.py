"""What the IR can say: operations, types, attributes and their verifiers."""
