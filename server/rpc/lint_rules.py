"""Converts the catalogue of lint rules to messages for the console and editors."""

from dataclasses import asdict
from typing import Final

from gnomon.engine.v1 import console_service_pb2 as pb
from server.lint.catalogue import RULES
from server.lint.rule import NO_BOUNDS, Rule


def _rule(rule: Rule) -> pb.LintRule:
    bounds = None if rule.bounds == NO_BOUNDS else pb.LintBounds(**asdict(rule.bounds))
    return pb.LintRule(
        id=rule.id,
        severity=rule.severity,
        applies_to=rule.applies_to,
        message=rule.message,
        family=rule.family,
        static=rule.static,
        evaluator=rule.evaluator,
        options=pb.LintOptions(attribute=rule.attribute, value=rule.value, bounds=bounds),
    )


LINT_RULES: Final = tuple(map(_rule, RULES))
