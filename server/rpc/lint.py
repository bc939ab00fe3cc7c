"""Servicer for linting models in editors, while a person edits."""

from collections.abc import Sequence
from dataclasses import asdict

from gnomon.engine.v1 import lint_service_pb2 as pb
from gnomon.engine.v1.console_service_pb2 import LintRule
from server.lint.files import BPMN_ENDINGS, DMN_ENDING, FORM_ENDING, lint_file
from server.lint.linter import Finding
from server.lint.rule import Family
from server.platform.call import Call
from server.platform.errors import InvalidArgument
from server.platform.tenant_threads import TenantThreads
from server.rpc.lint_rules import LINT_RULES

MOST_FINDINGS = 500

_ENDINGS = (*BPMN_ENDINGS, DMN_ENDING, FORM_ENDING)
_FAMILIES = {DMN_ENDING: Family.DMN, FORM_ENDING: Family.FORM}
_WORKERS = 2
# An editor asks again after each change, so a late answer is useless.
_MOST_WAITING = 50
_MOST_OF_ONE_TENANT = 10


class LintServicer:
    def __init__(self, most_waiting: int = _MOST_WAITING) -> None:
        self._threads = TenantThreads(
            "lints", _WORKERS, most_waiting=most_waiting, most_of_one=_MOST_OF_ONE_TENANT
        )

    async def lint_resource(self, request: pb.LintResourceRequest, call: Call) -> pb.LintResourceResponse:
        name = request.resource_name
        if not name.lower().endswith(_ENDINGS):
            expected = ", ".join(_ENDINGS)
            raise InvalidArgument(
                f"resourceName: expected a name that ends with one of {expected}, found '{name}'",
                field="resourceName",
            )
        found = await self._threads.run(call.tenant_id, lint_file, name, request.content.encode())
        return pb.LintResourceResponse(
            findings=map(_finding, found[:MOST_FINDINGS]),
            total_findings=len(found),
            rules=_rules_about(name) if request.include_rules else (),
        )


def _rules_about(resource_name: str) -> Sequence[LintRule]:
    family = _FAMILIES.get(resource_name.lower()[resource_name.rindex(".") :], Family.BPMN)
    return [rule for rule in LINT_RULES if rule.family == family]


def _finding(finding: Finding) -> pb.LintFinding:
    return pb.LintFinding(**asdict(finding))
