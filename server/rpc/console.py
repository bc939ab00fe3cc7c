"""Reads for the web console: deployed resources, and the lint rules."""

from collections import defaultdict
from collections.abc import AsyncIterator
from dataclasses import replace

import msgspec

from gnomon.engine.v1 import console_service_pb2 as pb
from server.engine.keys import Key
from server.lint.catalogue import CATALOG_VERSION, PROFILE, etag
from server.platform.call import Call
from server.platform.errors import NotFound
from server.platform.mapping import mapper
from server.platform.query import Condition, Searchable, Window, equals
from server.rpc.forms import start_form_of
from server.rpc.lint_rules import LINT_RULES
from server.rpc.reads import found
from server.store.entities import Form, ProcessDefinition, ProcessDefinitionState
from server.store.ports import E, Store
from server.store.searchables import FORMS, PROCESS_DEFINITIONS

MOST_VERSIONS = 10_000
ROWS_AT_A_TIME = 100

_version = mapper(ProcessDefinition, pb.ConsoleProcessVersion)
_form = mapper(Form, pb.ConsoleForm)


class ConsoleServicer:
    def __init__(self, store: Store) -> None:
        self._store = store
        self._rules = pb.GetLintRulesResponse(
            profile=PROFILE, catalog_version=CATALOG_VERSION, rules=LINT_RULES, etag=etag()
        )

    async def get_console_deployments(
        self, request: pb.GetConsoleDeploymentsRequest, call: Call
    ) -> pb.GetConsoleDeploymentsResponse:
        forms = [_form(row) async for row in self._rows(FORMS, call, equals(FORMS, "is_deleted", False))]
        if request.part:
            return pb.GetConsoleDeploymentsResponse(forms=forms)
        versions: defaultdict[str, list[pb.ConsoleProcessVersion]] = defaultdict(list)
        async for row in self._rows(PROCESS_DEFINITIONS, call):
            versions[row.process_definition_id].append(_version(row))
        processes = [
            pb.ConsoleProcessDefinition(process_definition_id=process_id, versions=versions[process_id])
            for process_id in sorted(versions)
        ]
        return pb.GetConsoleDeploymentsResponse(process_definitions=processes, forms=forms)

    async def _rows(self, searchable: Searchable[E], call: Call, *also: Condition) -> AsyncIterator[E]:
        """All rows that match, in the order of their deployment."""
        window = Window(limit=ROWS_AT_A_TIME)
        for _ in range(MOST_VERSIONS // ROWS_AT_A_TIME):
            query = searchable.query(*also, window=window)
            query = replace(query, cut=dict.fromkeys(searchable.contents, 0))
            page = await self._store.search(searchable.entity, query, tenant_id=call.tenant_id)
            for row in page.items:
                yield row
            if len(page.items) < ROWS_AT_A_TIME:
                return
            window = Window(limit=ROWS_AT_A_TIME, after=(getattr(page.items[-1], searchable.key.name),))

    async def get_lint_rules(self, request: pb.GetLintRulesRequest, call: Call) -> pb.GetLintRulesResponse:
        return self._rules

    async def get_start_form(self, request: pb.GetStartFormRequest, call: Call) -> pb.GetStartFormResponse:
        definition = await found(self._store, ProcessDefinition, Key(request.process_definition_key), call)
        if definition.state is ProcessDefinitionState.DELETED:
            raise NotFound(f"process definition {definition.process_definition_key} is deleted")
        form = await start_form_of(self._store, definition, call)
        return pb.GetStartFormResponse(form=None if form is None else _start_form(form))


def _start_form(form: Form) -> bytes:
    """The form as JSON, with the members of the form API; the schema is text there as well."""
    members = {
        "tenantId": form.tenant_id,
        "formId": form.form_id,
        "schema": form.schema,
        "version": form.version,
        "formKey": str(form.form_key),
    }
    return msgspec.json.encode(members)
