"""Messages and records copy fields that have one name."""

from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum

import pytest

from gnomon.identity.v1 import (
    api_key_service_pb2,
    blacklist_service_pb2,
    password_policy_service_pb2,
    provider_service_pb2,
    saml_application_service_pb2,
    screen_service_pb2,
    user_pb2,
    webhook_service_pb2,
)
from identity.access.api_key import Access
from identity.access.callers import AdministrationArea, Right
from identity.access.login_protection.blacklist import BlockedAddress
from identity.access.login_protection.failures import BlockScope
from identity.access.rpc.records import message_of, record_of
from identity.authentication.screens.settings import ScreenSettings, Theme
from identity.directory.tenants.password_policy import PasswordPolicy
from identity.directory.tenants.saml_application import SamlApplicationFields, SamlConsumerService
from identity.people.user_changes import UserChange
from server.platform.errors import InvalidArgument

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)


class Level(StrEnum):
    INFO = "info"


@dataclass(frozen=True)
class Hook:
    id: str
    name: str
    url: str
    level: Level
    is_enabled: bool
    created_at: datetime
    failing_since: datetime | None = None
    topics: tuple[str, ...] = ()
    format: str = "standard"
    digest_hours: int = 24


def test_a_message_has_the_fields_of_a_record() -> None:
    hook = Hook(
        id="h",
        name="Ours",
        url="https://a.example",
        level=Level.INFO,
        is_enabled=True,
        created_at=NOON,
        topics=("a", "b"),
    )

    message = message_of(
        webhook_service_pb2.Webhook, hook, {"types": "topics"}, next_attempt=NOON, deliveries=[]
    )

    assert (message.name, message.level, message.enabled) == ("Ours", "info", True)
    assert message.created == message.next_attempt == int(NOON.timestamp())
    assert list(message.types) == ["a", "b"]
    assert not message.HasField("failing_since")


def test_a_field_that_a_record_does_not_have_is_a_fault() -> None:
    with pytest.raises(AttributeError, match="ScreenSettings has no field of the name issuer"):
        message_of(provider_service_pb2.LookUpProviderResponse, ScreenSettings())


def test_a_record_has_the_fields_of_a_message() -> None:
    message = screen_service_pb2.ScreenSettings(
        theme="dark", composition="split", logout_show_client_logo=False, logout_heading="Bye"
    )

    settings = record_of(ScreenSettings, message)

    assert settings.theme is Theme.DARK
    assert (settings.logout_show_client_logo, settings.logout_theme) == (False, None)
    assert (settings.logout_heading, settings.custom_css) == ("Bye", None)


def test_messages_within_messages_are_records_within_records() -> None:
    message = saml_application_service_pb2.SamlApplicationFields(
        entity_id="https://app.example",
        consumer_services=[
            saml_application_service_pb2.SamlConsumerService(url="https://a.example", index=1)
        ],
        require_signed_requests=True,
    )
    names = {"require_signed_requests": "requires_signed_requests"}

    fields = record_of(SamlApplicationFields, message, names)
    shown = message_of(saml_application_service_pb2.SamlApplicationFields, fields, names)

    assert fields.consumer_services == (SamlConsumerService(url="https://a.example", index=1),)
    assert fields.requires_signed_requests
    assert shown == message


def test_a_value_of_an_enum_is_the_word_of_its_name() -> None:
    blocked = BlockedAddress(address="192.0.2.1", until=NOON, reach=BlockScope.SIGN_IN)
    names = {"ip": "address", "exp": "until"}

    message = message_of(blacklist_service_pb2.BlockedAddress, blocked, names)

    assert message.reach == blacklist_service_pb2.BLOCK_REACH_SIGN_IN
    assert record_of(BlockedAddress, message, names) == blocked


def test_a_list_of_words_has_each_of_them_once() -> None:
    names = {"group": "area", "access_rights": "rights"}
    message = api_key_service_pb2.ApiKeyAccess(group="Clients", access_rights=["update", "read", "read"])

    access = record_of(Access, message, names)

    assert access == Access(AdministrationArea.CLIENTS, frozenset({Right.READ, Right.UPDATE}))
    assert list(message_of(api_key_service_pb2.ApiKeyAccess, access, names).access_rights) == [
        "read",
        "update",
    ]
    with pytest.raises(InvalidArgument, match="access_rights: expected some of read, create, update, delete"):
        record_of(Access, api_key_service_pb2.ApiKeyAccess(group="Clients", access_rights=["own"]), names)


def test_an_empty_word_is_the_default_of_the_record() -> None:
    settings = record_of(ScreenSettings, screen_service_pb2.ScreenSettings(composition="split"))

    assert settings.theme is Theme.LIGHT


def test_what_a_record_refuses_is_an_invalid_argument() -> None:
    with pytest.raises(InvalidArgument, match="length_min: expected 8 to 128"):
        record_of(PasswordPolicy, password_policy_service_pb2.PasswordPolicy(length_min=1))


def test_names_that_may_be_absent_are_a_tuple_or_none() -> None:
    fields = user_pb2.UserFields(groups=user_pb2.Names(names=["a"]))

    values = record_of(UserChange, fields, without=["user_values", "user_expires"])

    assert (values.groups, values.roles, values.is_enabled) == (("a",), None, None)


def test_a_word_that_does_not_exist_is_refused_with_its_field() -> None:
    message = screen_service_pb2.ScreenSettings(theme="neon", composition="split")

    with pytest.raises(InvalidArgument, match="theme: expected one of dark, light") as refused:
        record_of(ScreenSettings, message)

    assert refused.value.metadata["field"] == "theme"
