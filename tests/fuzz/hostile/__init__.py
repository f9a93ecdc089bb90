"""Damaged and hostile files: each ends in one sentence, or compiles, in bounded time and memory.

`models` damages ONNX models, `texts` MLIR, saved folders and targets; `check` says what is right;
`worker` survives what kills a process. `python -m fuzz.hostile` is a campaign.
"""
