"""Reads for the web console: what is deployed, and the rules that models have to keep."""

from collections import defaultdict
from collections.abc import AsyncIterator
from dataclasses import asdict

from gnomon.engine.v1 import console_service_pb2 as pb
from server.engine.keys import Key
from server.lint.catalogue import CATALOG_VERSION, PROFILE, RULES, etag
from server.lint.rule import NO_BOUNDS, Rule
from server.platform.call import Call
from server.platform.errors import NotFound
from server.platform.mapping import mapper
from server.platform.query import Window
from server.rpc.searching import found
from server.store.entities import ProcessDefinition, ProcessDefinitionState
from server.store.ports import Store
from server.store.searchables import PROCESS_DEFINITIONS

MOST_VERSIONS = 10_000
# Each row holds its model, so that few are in hand at a time.
ROWS_AT_A_TIME = 100

_version = mapper(ProcessDefinition, pb.ConsoleProcessVersion)


class ConsoleServicer:
    def __init__(self, store: Store) -> None:
        self._store = store
        self._rules = pb.GetLintRulesResponse(
            profile=PROFILE, catalog_version=CATALOG_VERSION, rules=map(_rule, RULES), etag=etag()
        )

    async def get_console_deployments(
        self, request: pb.GetConsoleDeploymentsRequest, call: Call
    ) -> pb.GetConsoleDeploymentsResponse:
        if request.part:
            return pb.GetConsoleDeploymentsResponse()
        versions: defaultdict[str, list[pb.ConsoleProcessVersion]] = defaultdict(list)
        async for row in self._definitions(call.tenant_id):
            versions[row.process_definition_id].append(_version(row))
        processes = [
            pb.ConsoleProcessDefinition(process_definition_id=process_id, versions=versions[process_id])
            for process_id in sorted(versions)
        ]
        return pb.GetConsoleDeploymentsResponse(process_definitions=processes)

    async def _definitions(self, tenant_id: str) -> AsyncIterator[ProcessDefinition]:
        """In the order in which they were deployed."""
        window = Window(limit=ROWS_AT_A_TIME)
        for _ in range(MOST_VERSIONS // ROWS_AT_A_TIME):
            query = PROCESS_DEFINITIONS.query(window=window)
            page = await self._store.search(ProcessDefinition, query, tenant_id=tenant_id)
            for row in page.items:
                yield row
            if len(page.items) < ROWS_AT_A_TIME:
                return
            window = Window(limit=ROWS_AT_A_TIME, after=(page.items[-1].process_definition_key,))

    async def get_lint_rules(self, request: pb.GetLintRulesRequest, call: Call) -> pb.GetLintRulesResponse:
        return self._rules

    async def get_start_form(self, request: pb.GetStartFormRequest, call: Call) -> pb.GetStartFormResponse:
        """No form can be deployed in this release, so that no process has one."""
        definition = await found(self._store, ProcessDefinition, Key(request.process_definition_key), call)
        if definition.state is ProcessDefinitionState.DELETED:
            raise NotFound(f"process definition {definition.process_definition_key} is deleted")
        return pb.GetStartFormResponse()


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
