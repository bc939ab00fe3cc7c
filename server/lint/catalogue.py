"""All rules, and the identification of this edition."""

import hashlib

from server.lint.rule import Rule
from server.lint.rules import (
    bpmn_compensation,
    bpmn_conditions,
    bpmn_events,
    bpmn_flows,
    bpmn_mappings,
    bpmn_messages,
    bpmn_signals,
    bpmn_structure,
    bpmn_tasks,
    bpmn_user_tasks,
    deployments,
    dmn,
    forms,
)

PROFILE = "camunda-8.9"
CATALOG_VERSION = 3

RULES: tuple[Rule, ...] = (
    *bpmn_structure.RULES,
    *bpmn_events.RULES,
    *bpmn_messages.RULES,
    *bpmn_signals.RULES,
    *bpmn_compensation.RULES,
    *bpmn_conditions.RULES,
    *bpmn_flows.RULES,
    *bpmn_tasks.RULES,
    *bpmn_user_tasks.RULES,
    *bpmn_mappings.RULES,
    *dmn.RULES,
    *forms.RULES,
    *deployments.RULES,
)


def etag() -> str:
    """Return a hash of the catalogue's content, the same on every machine and for every tenant."""
    rows = "\n".join(sorted(repr(rule) for rule in RULES))
    return hashlib.sha256(f"{PROFILE}\n{CATALOG_VERSION}\n{rows}".encode()).hexdigest()
