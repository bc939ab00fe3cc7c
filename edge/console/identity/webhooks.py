"""Webhooks: programs, chat rooms and mail addresses that get the security events of a tenant."""

from typing import Final

from edge.console.identity.declarations import (
    Column,
    Control,
    Form,
    FormField,
    Listing,
    Part,
    RecordKind,
    Show,
)
from server.platform.languages import marked

_FIELDS: Final = (
    FormField("fields.name", marked("Name"), is_required=True),
    FormField(
        "fields.format",
        marked("Format"),
        marked(
            "Signed messages for a program, a line for each event in a chat room, or one mail about many events."
        ),
    ),
    FormField(
        "fields.url",
        marked("Receiver"),
        marked("An https address; for the format email mailto: and an email address."),
        is_required=True,
    ),
    FormField(
        "fields.token",
        marked("Access token"),
        marked("Only for the format matrix. Empty to leave it as it is. Another address needs it again."),
        control=Control.SECRET,
    ),
    FormField(
        "fields.digest_hours",
        marked("Hours between two mails"),
        marked("Only for the format email. Empty for 24."),
    ),
    FormField("fields.level", marked("Least level")),
    FormField(
        "fields.types",
        marked("Types of events"),
        marked("One in each line. Empty for all."),
        control=Control.LINES,
    ),
    FormField("fields.enabled", marked("Enabled"), is_on=True),
)

WEBHOOKS: Final = RecordKind(
    name="webhooks",
    title=marked("Webhooks"),
    noun="webhook",
    about=marked("Programs, chat rooms and mail addresses that get the security events of the tenant."),
    listing=Listing(
        rpc="ListWebhooks",
        key="id",
        columns=(
            Column("name", marked("Name")),
            Column("format", marked("Format")),
            Column("url", marked("Receiver")),
            Column("level", marked("Least level")),
            Column("enabled", marked("Enabled")),
            Column("failing_since", marked("Failing since"), Show.SECONDS),
        ),
        empty=marked("No webhook matches."),
    ),
    get="GetWebhook",
    get_key="webhook_id",
    heading="name",
    facts=(
        Column("id", marked("Id"), Show.CODE),
        Column("created", marked("Created"), Show.SECONDS),
        Column("failing_since", marked("Failing since"), Show.SECONDS),
        Column("next_attempt", marked("Next attempt"), Show.SECONDS),
    ),
    create=Form(
        name="create",
        rpc="CreateWebhook",
        prefix="fields",
        button=marked("Create webhook"),
        done="created",
        secret="secret",  # noqa: S106  # name of a field
        fields=_FIELDS,
    ),
    forms=(
        Form(
            name="change",
            rpc="UpdateWebhook",
            keys=("webhook_id",),
            prefix="fields",
            button=marked("Save"),
            done="saved",
            heading=marked("Settings"),
            fields=_FIELDS,
        ),
        Form(
            name="rotate",
            rpc="RotateWebhookSecret",
            keys=("webhook_id",),
            button=marked("New secret"),
            done="rotated",
            warning=marked("The current secret signs for another day."),
            secret="secret",  # noqa: S106  # name of a field
        ),
        Form(
            name="delete",
            rpc="DeleteWebhook",
            keys=("webhook_id",),
            button=marked("Delete webhook"),
            done="deleted",
            warning=marked("The receiver gets no further events."),
            is_gone=True,
        ),
    ),
    parts=(
        Part(
            heading=marked("Deliveries"),
            owner="webhook_id",
            listing=Listing(
                rpc="ListWebhookDeliveries",
                columns=(
                    Column("at", marked("Time"), Show.SECONDS),
                    Column("type", marked("Event")),
                    Column("event_id", marked("Id"), Show.CODE),
                    Column("delivered", marked("Delivered")),
                    Column("attempts", marked("Attempts")),
                    Column("status", marked("Status of the receiver")),
                ),
                empty=marked("There was no delivery yet."),
            ),
        ),
    ),
)
