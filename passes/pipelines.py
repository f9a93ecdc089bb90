"""The named pipelines, each a tuple of passes in the order in which they run."""

from __future__ import annotations

from xdsl.passes import ModulePass

PIPELINES: dict[str, tuple[ModulePass, ...]] = {}
