"""Forms of bodies, queries and answers that options of the contract describe."""

import json
from typing import Any, TypeVar

import msgspec
import orjson
import pytest
from aiohttp.test_utils import make_mocked_request
from google.protobuf.message import Message

from edge.oidc.access.message_json import MessageJson, Rules, members
from edge.oidc.access.refusal import Refused
from edge.oidc.administration.query import Query
from gnomon.identity.v1 import (
    api_key_service_pb2,
    blacklist_service_pb2,
    client_service_pb2,
    event_service_pb2,
    provider_service_pb2,
    session_administration_service_pb2,
    tenant_service_pb2,
    user_attribute_service_pb2,
    user_pb2,
    user_service_pb2,
    webhook_service_pb2,
)

M = TypeVar("M", bound=Message)


class Body(msgspec.Struct, forbid_unknown_fields=True):
    pass


def sent(kind: type[M], body: object, rules: Rules | None = None) -> M:
    """Return the message of a body, which has all fields but those of the edge."""
    fields = [field for field in kind.DESCRIPTOR.fields if field.name not in {"tenant_id", "caller"}]
    form = MessageJson(kind, Body, name="Body", fields=fields, rules=rules)
    return form.read(msgspec.json.decode(json.dumps(body), type=form.body))


def shown(message: Message) -> dict[str, Any]:
    answer: dict[str, Any] = orjson.loads(orjson.dumps(members(message)))
    return answer


def queried(kind: type[M], query: str, *, is_strict: bool = False) -> M:
    fields = [field for field in kind.DESCRIPTOR.fields if field.name not in {"tenant_id", "caller", "id"}]
    asked = kind()
    request = make_mocked_request("GET", f"/?{query}")
    Query(fields, is_strict=is_strict).read(request, asked)
    return asked


def test_members_of_a_flat_message_stand_beside_the_others() -> None:
    asked = sent(provider_service_pb2.CreateProviderRequest, provider(client_secret="s"))

    assert (asked.fields.name, asked.client_secret) == ("Ours", "s")
    answer = shown(webhook_service_pb2.CreateWebhookResponse(webhook={"name": "a"}, secret="s"))
    assert (answer["name"], answer["secret"]) == ("a", "s")


def test_members_of_a_group_stand_in_an_object() -> None:
    kind = tenant_service_pb2.UpdateTenantSettingsRequest

    asked = sent(kind, {"id": "a", "registration": {"require_email_confirmation": "off"}})

    assert asked.settings.require_email_confirmation is False
    assert (asked.settings.confirmation_link_hours, asked.settings.email_first) == (24, "auto")
    answer = shown(asked.settings)
    assert answer["sign_in"] == {
        "email_first": "auto",
        "email_codes": "off",
        "sign_in_notice": "new_device",
        "support_role": "",
        "support_minutes": 30,
    }
    assert answer["registration"]["confirmation_link_hours"] == 24


@pytest.mark.parametrize(
    ("flags", "method"),
    [
        ({}, "none"),
        ({"client_secret_basic": True}, "client_secret_basic"),
        ({"client_secret_basic": False, "client_secret_post": True}, "client_secret_post"),
    ],
)
def test_a_text_of_a_closed_set_may_be_flags(flags: dict[str, bool], method: str) -> None:
    asked = sent(provider_service_pb2.CreateProviderRequest, provider(**flags))

    assert asked.fields.token_endpoint_auth_method == method
    answer = shown(asked.fields)
    assert answer["client_secret_basic"] is (method == "client_secret_basic")
    assert "token_endpoint_auth_method" not in answer


def test_two_flags_contradict_each_other() -> None:
    with pytest.raises(Refused, match="expected one of client_secret_basic and client_secret_post"):
        sent(
            provider_service_pb2.CreateProviderRequest,
            provider(client_secret_basic=True, client_secret_post=True),
        )


def test_an_enum_has_words() -> None:
    kind = event_service_pb2.ListEventsRequest

    assert sent(kind, {"from": 0}).level == event_service_pb2.EVENT_LEVEL_INFO
    assert sent(kind, {"from": 0, "level": "warning"}).level == event_service_pb2.EVENT_LEVEL_WARNING
    with pytest.raises(msgspec.ValidationError):
        sent(kind, {"from": 0, "level": "WARNING"})


def test_a_value_without_a_word_has_the_other_text() -> None:
    # A service of an older version sends no reach and blocks everything.
    assert shown(blacklist_service_pb2.BlockedAddress(ip="::1"))["reach"] == "everything"
    assert shown(session_administration_service_pb2.ListedSession(id="s"))["state"] == "Unknown"


def test_an_empty_field_is_null_absent_or_itself() -> None:
    client = shown(client_service_pb2.CreateClientResponse(client={"id": "app"}))
    event = shown(event_service_pb2.SecurityEvent(id="e", position="p"))

    assert client["tos_uri"] is None
    assert "secret" not in client
    assert (event["actor"], event["user_id"]) == (None, None)
    assert shown(api_key_service_pb2.ApiKey(name="k")) == {
        "name": "k",
        "created": 0,
        "expires": None,
        "access": [],
    }


def test_a_hidden_field_is_in_no_answer() -> None:
    assert "position" not in shown(event_service_pb2.SecurityEvent(id="e", position="p"))


def test_null_stands_for_no_member_that_is_shown() -> None:
    with pytest.raises(msgspec.ValidationError, match="issuer"):
        sent(provider_service_pb2.CreateProviderRequest, provider(issuer=None))
    assert sent(provider_service_pb2.CreateProviderRequest, provider(saml=None)).fields.name == "Ours"


def test_a_value_of_any_type_stays_as_it_is_written() -> None:
    kind = user_attribute_service_pb2.UpdateUserAttributeValuesRequest

    asked = sent(kind, {"id": "u", "values": [{"key": "tags", "value": [1, {"a": None}]}]})

    assert [(each.key, json.loads(each.value)) for each in asked.values] == [("tags", [1, {"a": None}])]
    assert shown(asked.values[0])["value"] == [1, {"a": None}]


def test_a_route_says_what_absent_members_mean() -> None:
    rules = Rules(required=frozenset({"email"}), absent={"groups": [], "user_values": {"zip": ""}})

    fields = sent(user_pb2.UserFields, {"email": "a@example.com"}, rules)

    assert fields.HasField("groups")
    assert not fields.HasField("roles")
    assert fields.user_values.HasField("zip")
    assert not fields.user_values.HasField("city")
    with pytest.raises(msgspec.ValidationError, match="email"):
        sent(user_pb2.UserFields, {}, rules)


def test_parameters_of_a_query_are_fields() -> None:
    asked = queried(user_service_pb2.ListUsersRequest, "search=ann&sort=email&order=desc&page_size=7")

    assert (asked.search, asked.sort, asked.is_descending, asked.page_size) == ("ann", "email", True, 7)


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ("sort=age", "sort: expected username, name or email"),
        ("order=up", "order: expected asc or desc"),
        ("role=%00", "role: expected printable characters"),
        ("page_size=10000", "expected a page_size of at most 1000"),
        ("offset=1", "lists support continuation_token, not offset and backwards"),
        ("colour=red", "colour: unknown parameter"),
        ("sort=name&sort=email", "sort: expected once"),
    ],
)
def test_a_parameter_that_means_nothing_is_refused(query: str, message: str) -> None:
    with pytest.raises(Refused, match=message):
        queried(user_service_pb2.ListUsersRequest, query, is_strict=True)


def test_an_absent_parameter_has_its_default() -> None:
    kind = session_administration_service_pb2.ListSessionsRequest

    assert queried(kind, "").session_state == queried(kind, "session_state=Auth&colour=red").session_state
    with pytest.raises(Refused, match="force: expected false or true"):
        queried(tenant_service_pb2.DeleteTenantRequest, "force=yes")


def provider(**changed: object) -> dict[str, object]:
    return {"name": "Ours", "typ": "oidc", "enabled": True, **changed}
