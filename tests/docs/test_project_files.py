"""CHANGELOG, CITATION and their like name the version and follow their formats."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import yaml

from clopt.version import VERSION

ROOT = Path(__file__).parents[2]
KINDS = {"Added", "Changed", "Deprecated", "Removed", "Fixed", "Security"}
CITATION_TYPES: dict[str, type] = {
    "cff-version": str,
    "message": str,
    "type": str,
    "title": str,
    "abstract": str,
    "version": str,
    "license": str,
    "authors": list,
    "keywords": list,
}


def test_the_changelog_has_this_version_in_the_form_that_it_names():
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    versions = re.findall(r"^## (.*)$", text, re.M)
    assert all(
        re.fullmatch(r"\[\d+\.\d+\.\d+\] - (\d{4}-\d\d-\d\d|unreleased)", v) for v in versions
    )
    assert versions[0].startswith(f"[{VERSION}] ")
    assert set(re.findall(r"^### (.*)$", text, re.M)) <= KINDS


def test_the_citation_is_one_of_this_version():
    """The keys are those of the schema of the Citation File Format 1.2.0."""
    citation: dict[str, Any] = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert {key: type(value) for key, value in citation.items()} == CITATION_TYPES
    assert citation["cff-version"] == "1.2.0"
    assert citation["type"] in ("software", "dataset")
    assert citation["version"] == VERSION
    assert all(author.keys() == {"name"} for author in citation["authors"])
    assert (ROOT / "LICENSE").read_text(encoding="utf-8").startswith(citation["license"])
