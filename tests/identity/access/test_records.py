"""Messages and records copy fields that have one name."""

from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum

import pytest

from gnomon.identity.v1 import provider_service_pb2, screen_service_pb2, user_pb2, webhook_service_pb2
from identity.access.rpc.records import message_of, record_of
from identity.authentication.screens.settings import ScreenSettings, Theme
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


def test_names_that_may_be_absent_are_a_tuple_or_none() -> None:
    fields = user_pb2.UserFields(groups=user_pb2.Names(names=["a"]))

    values = record_of(UserChange, fields, without=["user_values", "user_expires"])

    assert (values.groups, values.roles, values.is_enabled) == (("a",), None, None)


def test_a_word_that_does_not_exist_is_refused_with_its_field() -> None:
    message = screen_service_pb2.ScreenSettings(theme="neon", composition="split")

    with pytest.raises(InvalidArgument, match="theme: expected dark or light") as refused:
        record_of(ScreenSettings, message)

    assert refused.value.metadata["field"] == "theme"
