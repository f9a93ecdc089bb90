"""Decisions between equally correct ways to compute something: sites, choices, records.

A pass that decides something names the site, looks up whether the module demands a choice, and
notes what it chose. This package knows dialects, and no passes.
"""

from .choices import Choices, deciding, demand
from .sites import Site, SiteKind

__all__ = ["Choices", "Site", "SiteKind", "deciding", "demand"]
