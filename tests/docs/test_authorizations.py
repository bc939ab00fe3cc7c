"""docs/authorizations.md lists what each permission type opens, as the contract says it."""

from collections.abc import Iterator

import pytest

from identity.directory.authorization import ACCESS, COMPONENT, permission_types
from server.platform.interceptors import camel_case
from server.platform.policy import Policy, policies_of, services
from tests.docs.generated_part import assert_generated
from tests.docs.markdown import ROOT

BEGIN = "<!-- permission types: generated, `make golden` -->\n"
END = "<!-- /permission types -->\n"

# Nothing but a permission opens these: facts about the deployment, the console of the engine, resources that belong to
# the deployment as a whole, and the directory for the services themselves.
BY_PERMISSION_ALONE = {
    "GetConsoleDeployments",
    "GetLintRules",
    "GetStartForm",
    "SearchHistoricProcessInstances",
    "GetFlowNodeStatistics",
    "ListAuditEntries",
    "ListUserTasks",
    "AcceptCancellation",
    "AcceptMigration",
    "EraseVariablesBatchOperation",
    "CreateTenant",
    "UpdateTenant",
    "DeleteTenant",
    "GetPrincipal",
    "ListUserNames",
    "CheckDpopProof",
    "AwaitDirectoryVersion",
}


def policies() -> Iterator[Policy]:
    return (policy for service in services() for policy in policies_of(service).values())


def table() -> str:
    rows = [
        "| resource type | permission type | permission | field with the id | operations |",
        "|---|---|---|---|---|",
    ]
    for resource_type, of_type in sorted(permission_types().items()):
        for name in sorted(of_type):
            found = [
                (policy, rule)
                for policy in policies()
                for rule in policy.authorizations
                if rule.resource_type == resource_type and name in rule.permission_types
            ]
            permissions = ", ".join(f"`{permission}`" for permission in sorted(of_type[name]))
            fields = sorted({camel_case(rule.resource_field) for _, rule in found if rule.resource_field})
            operations = ", ".join(f"`{policy.name}`" for policy, _ in found)
            cells = (
                f"`{resource_type}`",
                f"`{name}`",
                permissions,
                ", ".join(map(_code, fields)),
                operations,
            )
            rows.append(f"| {' | '.join(cells)} |")
    return "\n".join(rows) + "\n"


def _code(text: str) -> str:
    return f"`{text}`"


@pytest.mark.golden
def test_the_table_is_what_the_contract_says() -> None:
    assert_generated(ROOT / "docs/authorizations.md", BEGIN, END, table())


def test_an_authorization_opens_every_operation_but_those_that_need_a_permission() -> None:
    without = {policy.name for policy in policies() if policy.permission and not policy.authorizations}

    assert without == BY_PERMISSION_ALONE


def test_every_rule_names_a_field_of_the_request() -> None:
    for policy in policies():
        for rule in policy.authorizations:
            assert rule.permission_types, policy.path
            assert not rule.resource_field or rule.resource_field in policy.request.DESCRIPTOR.fields_by_name


def test_only_components_open_nothing() -> None:
    empty = {
        (resource_type, name)
        for resource_type, of_type in permission_types().items()
        for name, permissions in of_type.items()
        if not permissions
    }

    assert empty == {(COMPONENT, ACCESS)}
