"""Rows of a servicer: arguments come from the caller and the request by name, the response from the result."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, cast

import pytest

from gnomon.directory.v1 import group_service_pb2 as process_pb
from gnomon.identity.v1 import (
    account_service_pb2,
    api_key_service_pb2,
    client_service_pb2,
    group_service_pb2,
    password_reset_service_pb2,
    scope_service_pb2,
    webhook_service_pb2,
)
from identity.access.callers import Actor
from identity.access.person import Person
from identity.access.rpc.admission import Admission, TenantAdmission
from identity.access.rpc.operations import Admitted, Names, Operations, named
from identity.access.rpc.process_api_caller import ProcessApiCallers
from server.platform.call import Call
from server.platform.errors import InvalidArgument
from server.platform.policy import Policy

CALL = cast("Call", None)


class Open:
    """Admits everybody as one caller."""

    def admitted(self, _policy: Policy, _wanted: Names) -> Admitted:
        return Admitted(("tenant", "actor"), ("tenant_id", "caller"), self._admit)

    async def _admit(self, _request: object, _call: Call) -> Mapping[str, object]:
        return {"tenant": "ours", "actor": "ada"}


@dataclass(frozen=True)
class Fields:
    name: str


@dataclass(frozen=True)
class Hook:
    id: str
    name: str


def served(calls: Mapping[Any, Any], **options: Any) -> Any:
    return Operations(Open(), calls, **options)


async def test_arguments_are_those_of_the_caller_and_fields_of_the_request() -> None:
    seen: list[object] = []

    async def delete(tenant: str, name: str, *, actor: str) -> None:
        seen.append((tenant, name, actor))

    response = await served({api_key_service_pb2.DeleteApiKeyRequest: delete}).delete_api_key(
        api_key_service_pb2.DeleteApiKeyRequest(name="deploy"), CALL
    )

    assert seen == [("ours", "deploy", "ada")]
    assert response == api_key_service_pb2.DeleteApiKeyResponse()


async def test_a_parameter_may_have_another_name_than_its_field() -> None:
    async def remove(label_id: str) -> None:
        seen.append(label_id)

    seen: list[str] = []
    groups = served({group_service_pb2.DeleteGroupRequest: named(remove, label_id="group_id")})
    await groups.delete_group(group_service_pb2.DeleteGroupRequest(group_id="g1"), CALL)

    assert seen == ["g1"]


async def test_values_have_the_types_of_the_parameters() -> None:
    async def create(name: str, roles: tuple[str, ...] | None) -> group_service_pb2.Group:
        return group_service_pb2.Group(name=name, roles=["none"] if roles is None else roles)

    groups = served({group_service_pb2.CreateGroupRequest: create})
    absent = await groups.create_group(group_service_pb2.CreateGroupRequest(name="a"), CALL)
    request = group_service_pb2.CreateGroupRequest(name="a")
    request.roles.SetInParent()
    empty = await groups.create_group(request, CALL)

    assert (list(absent.group.roles), list(empty.group.roles)) == (["none"], [])


async def test_seconds_are_times() -> None:
    async def create(name: str, expires: datetime | None, access: Sequence[str]) -> str:
        return f"{name} {expires} {access}"

    keys = served({api_key_service_pb2.CreateApiKeyRequest: create}, reads={Sequence[str]: len})
    response = await keys.create_api_key(
        api_key_service_pb2.CreateApiKeyRequest(
            name="a", expires=int(datetime(2030, 1, 1, tzinfo=UTC).timestamp())
        ),
        CALL,
    )
    with pytest.raises(InvalidArgument, match="expires: expected Unix seconds"):
        await keys.create_api_key(api_key_service_pb2.CreateApiKeyRequest(name="a", expires=2**62), CALL)

    assert response.api_key == "a 2030-01-01 00:00:00+00:00 0"


async def test_a_result_of_several_values_is_the_fields_in_their_order() -> None:
    async def create(fields: Fields) -> tuple[Hook, str]:
        return Hook("w1", fields.name), "secret"

    def read(message: webhook_service_pb2.WebhookFields) -> Fields:
        return Fields(message.name)

    def show(hook: Hook) -> webhook_service_pb2.Webhook:
        return webhook_service_pb2.Webhook(id=hook.id, name=hook.name)

    webhooks = served(
        {webhook_service_pb2.CreateWebhookRequest: create}, reads={Fields: read}, shows={Hook: show}
    )
    request = webhook_service_pb2.CreateWebhookRequest(fields=webhook_service_pb2.WebhookFields(name="ours"))
    response = await webhooks.create_webhook(request, CALL)

    assert response == webhook_service_pb2.CreateWebhookResponse(
        webhook=webhook_service_pb2.Webhook(id="w1", name="ours"), secret="secret"
    )


async def test_a_list_has_a_message_for_each_record() -> None:
    async def every() -> Sequence[Hook]:
        return [Hook("g1", "a"), Hook("g2", "b")]

    def show(hook: Hook) -> scope_service_pb2.Scope:
        return scope_service_pb2.Scope(id=hook.id, name=hook.name)

    scopes = served({scope_service_pb2.ListScopesRequest: every}, shows={Hook: show})
    response = await scopes.list_scopes(scope_service_pb2.ListScopesRequest(), CALL)

    assert [scope.id for scope in response.scopes] == ["g1", "g2"]


async def test_a_reader_of_no_field_gets_the_whole_request() -> None:
    def read(request: client_service_pb2.CreateClientRequest) -> Fields:
        return Fields(f"{request.id} {request.name}")

    async def create(new: Fields) -> client_service_pb2.CreateClientResponse:
        return client_service_pb2.CreateClientResponse(client_secret=new.name)

    clients = served({client_service_pb2.CreateClientRequest: create}, reads={Fields: read})
    response = await clients.create_client(client_service_pb2.CreateClientRequest(id="a", name="b"), CALL)

    assert response.client_secret == "a b"


async def test_a_record_takes_the_fields_that_no_other_parameter_takes() -> None:
    async def create(new: Fields, roles: tuple[str, ...] | None) -> group_service_pb2.Group:
        return group_service_pb2.Group(name=new.name, roles=roles or ())

    groups = served({group_service_pb2.CreateGroupRequest: create})
    request = group_service_pb2.CreateGroupRequest(name="a")
    request.roles.names.extend(["b", "b"])
    response = await groups.create_group(request, CALL)

    assert response.group == group_service_pb2.Group(name="a", roles=["b"])


async def without_source(secret_of_the_house: str) -> None: ...


async def without_use() -> None: ...


async def of_another_type(name: int) -> None: ...


@pytest.mark.parametrize(
    ("call", "fault"),
    [
        pytest.param(without_source, "no field for the parameter secret_of_the_house", id="no source"),
        pytest.param(without_use, "no parameter takes name", id="no use"),
        pytest.param(of_another_type, "name: no value of a", id="other type"),
    ],
)
def test_a_row_that_does_not_fit_its_request_is_a_fault_at_start(call: Any, fault: str) -> None:
    with pytest.raises(TypeError, match=f"DeleteApiKey: .*{fault}"):
        served({api_key_service_pb2.DeleteApiKeyRequest: call})


async def for_somebody(tenant: object, user_id: str, modification_token: str) -> None: ...


async def for_oneself(person: Person, modification_token: str) -> None: ...


async def by_an_administrator(actor: Actor) -> None: ...


def test_an_operation_without_a_declared_right_admits_the_user_alone() -> None:
    admission = Admission(cast("Any", None), cast("Any", None))
    request = account_service_pb2.DeleteAccountRequest

    Operations(admission, {request: for_oneself})
    with pytest.raises(TypeError, match="DeleteAccount: the contract declares no right of the caller"):
        Operations(admission, {request: for_somebody})


def test_only_an_operation_without_credential_admits_anybody() -> None:
    admission = TenantAdmission(cast("Any", None))

    Operations(admission, {password_reset_service_pb2.CheckPasswordResetRequest: without_use})
    with pytest.raises(TypeError, match="DeleteApiKey: the contract declares no right of the caller"):
        Operations(admission, {api_key_service_pb2.DeleteApiKeyRequest: without_use})


def test_a_note_needs_a_rule_for_the_audit_log() -> None:
    async def get(group_id: str, note: object) -> None: ...

    callers = ProcessApiCallers(*cast("Any", (None, None, None)), deployment_client_id="")

    with pytest.raises(TypeError, match="GetGroup: the contract has no rule for the audit log"):
        Operations(callers, {process_pb.GetGroupRequest: get})
