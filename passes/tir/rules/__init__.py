"""Schedule rules: how a kernel of a given shape runs well on a given target.

A rule looks at a naive kernel and, where it fits, transforms it with the primitives of
`clopt.passes.tir.schedule`; which loops it split by what is seen in the result and, for the
parameters that a tuner may want to change, in the kernel's `schedule` attribute.
"""
