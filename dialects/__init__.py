"""The vocabulary of the IR: operations, types, attributes and their verifiers."""
