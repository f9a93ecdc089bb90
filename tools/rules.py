"""The tables of schedule rules and their parameters that `clopt --list-rules` prints."""

from __future__ import annotations

from typing import Any

from ..passes.tir.rules import Rule, rules
from .json_output import VERSION, print_json
from .tables import table, terminal


def print_rules(is_json: bool) -> None:
    """Print all rules in the order in which they are tried, each with its parameters."""
    if is_json:
        return print_json({"version": VERSION, "rules": list(map(_described, rules()))})
    console = terminal()
    summary = table("rule", "version", "needs")
    parameters = table("rule", "parameter", "type", "meaning", "only for")
    for rule in rules():
        summary.add_row(rule.name, str(rule.version), str(rule.needs))
        for each in rule.parameters:
            parameters.add_row(rule.name, each.shown_name, each.kind.value, each.meaning, each.when)
    console.print(summary)
    console.print(parameters)


def _described(rule: Rule[Any]) -> dict[str, object]:
    return {
        "name": rule.name,
        "version": rule.version,
        "needs": str(rule.needs),
        "parameters": [
            {
                "name": each.name,
                "type": each.kind.value,
                "meaning": each.meaning,
                "when": each.when,
                "absent": each.absent,
                "repeated": each.repeated,
            }
            for each in rule.parameters
        ],
    }
