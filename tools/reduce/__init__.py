"""`clopt-reduce`: shrink a model or module as long as a command finds it interesting."""
