"""`clopt-reduce`: shrink a model or module to the least that a command still finds interesting."""
