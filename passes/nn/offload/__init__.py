"""From nn operations to graphs of accelerators: matches, regions, costs, and what each brings."""
