"""A compiler for programs over pictures, which has clopt compile the networks in them."""
