"""An id in a path has 1 to 256 characters, whatever the operation: longer ones are malformed, others name something."""

from collections.abc import Iterator
from urllib.parse import quote

import httpx
import pytest
from google.protobuf.descriptor import FieldDescriptor

from edge.contract import Route, routes
from edge.fields import Kind, kind_of
from server.platform.policy import Mode
from tests.end_to_end.servers import Server

LONGEST = 256
BOUNDED = "must be at most 256 characters"
# These have a format of their own, in which the server made them.
FORMATTED = {"document_id", "token", "decision_evaluation_instance_key"}


def _names_the_tenant(route: Route, field: FieldDescriptor) -> bool:
    """Whether the request acts in the tenant, so that any other than the caller's own is forbidden."""
    return field.name == "tenant_id" and "ClusterVariable" in route.operation_id


OTHERS = {"tenant_id": "default"}
# A body that lacks a required member is refused before the bounds are checked.
BODIES = {f"update{scope}ClusterVariable": {"value": 1} for scope in ("Global", "Tenant")}

CASES = [
    pytest.param(route, field, id=f"{route.operation_id}-{field.json_name}")
    for route in routes()
    for field in route.path_fields
    if kind_of(field) is Kind.STRING
    and field.name not in FORMATTED
    and not _names_the_tenant(route, field)
    # The server of this module does not offer the others.
    and Mode.EMBEDDED in route.policy.modes
]


@pytest.fixture(scope="module")
def client(embedded_server: Server) -> Iterator[httpx.Client]:
    with embedded_server.session() as client:
        yield client


def _call(client: httpx.Client, route: Route, field: FieldDescriptor, text: str) -> httpx.Response:
    """Call with this text in the one place, the caller's tenant where one is named, and unknown ids elsewhere."""
    others = {
        other.name: "7" if kind_of(other) is Kind.KEY else OTHERS.get(other.name, "nobody")
        for other in route.path_fields
    }
    path = route.path.format_map({**others, field.name: quote(text, safe="")})
    return client.request(route.method, path, json=BODIES.get(route.operation_id))


def test_every_id_has_a_case() -> None:
    names = {case.values[1].name for case in CASES}

    assert names == {
        *("role_id", "group_id", "tenant_id", "mapping_rule_id"),
        *("username", "user_id", "client_id", "name", "id"),
    }


@pytest.mark.parametrize(("route", "field"), CASES)
def test_a_longer_id_is_malformed(client: httpx.Client, route: Route, field: FieldDescriptor) -> None:
    answer = _call(client, route, field, "é" * (LONGEST + 1))

    assert (answer.status_code, answer.json()["type"]) == (400, "urn:bpm:error:invalid-argument")
    assert f"{field.json_name}: {BOUNDED}" in answer.json()["detail"]


@pytest.mark.parametrize(("route", "field"), CASES)
@pytest.mark.parametrize("length", [1, LONGEST])
def test_an_id_within_the_bound_is_looked_for(
    client: httpx.Client, route: Route, field: FieldDescriptor, length: int
) -> None:
    answer = _call(client, route, field, "é" * length)

    assert f"{field.json_name}:" not in answer.text
