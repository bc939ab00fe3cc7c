"""Sessions, security events, API keys, blocked addresses and signing keys."""

from typing import Final

from edge.console.identity.declarations import Column, Control, Form, FormField, Listing, RecordKind, Show
from server.platform.languages import marked

SESSIONS: Final = RecordKind(
    name="sessions",
    title=marked("Sessions"),
    noun="session",
    listing=Listing(
        rpc="ListSessions",
        key="id",
        columns=(
            Column("remote_ip", marked("Address"), Show.CODE),
            Column("user_id", marked("User"), kind="users"),
            Column("state", marked("State")),
            Column("signed_in_at", marked("Signed in"), Show.SECONDS),
            Column("last_seen", marked("Last used"), Show.SECONDS),
            Column("exp", marked("Ends"), Show.SECONDS),
            Column("is_mfa", marked("Second factor")),
            Column("is_current", marked("This browser")),
        ),
        filters=(FormField("session_state", marked("State")),),
        empty=marked("No session matches."),
        row=Form(
            name="end",
            rpc="EndSession",
            keys=("session_id",),
            button=marked("End"),
            done="session-ended",
            warning=marked("The browser is signed out, and clients are informed."),
        ),
    ),
    status="GetSignOutProgress",
    facts=(
        Column("signed_out_at", marked("All users signed out"), Show.SECONDS),
        Column("finished_at", marked("All records removed"), Show.SECONDS),
        Column("sessions_left", marked("Sessions to be examined")),
        Column("sessions_ended", marked("Sessions removed")),
        Column("grants_ended", marked("Grants removed")),
    ),
    actions=(
        Form(
            name="end-all",
            rpc="EndAllSessions",
            button=marked("End all sessions"),
            done="sessions-ended",
            warning=marked("All users of the tenant are signed out, you too, and all their tokens end."),
        ),
    ),
)
EVENTS: Final = RecordKind(
    name="events",
    title=marked("Events"),
    noun="event",
    about=marked("At most 1,000 events of the range, the newest first. New events appear by themselves."),
    listing=Listing(
        rpc="ListEvents",
        columns=(
            Column("typ", marked("Event")),
            Column("level", marked("Level")),
            Column("timestamp", marked("Time"), Show.MILLISECONDS),
            Column("ip", marked("Address"), Show.CODE),
            Column("user_id", marked("User"), kind="users"),
            Column("client_id", marked("Client"), kind="clients"),
            Column("actor.name", marked("By")),
            Column("text", marked("Text")),
            Column("data", marked("Number")),
        ),
        filters=(
            FormField("from", marked("From (UTC)"), control=Control.MOMENT, hours_ago=24),
            FormField("until", marked("Until (UTC)"), control=Control.MOMENT),
            FormField("level", marked("Least level")),
            FormField("typ", marked("Type")),
        ),
        empty=marked("There is no such event in this range."),
        is_live=True,
    ),
)
_KEY_FIELDS: Final = (
    FormField(
        "expires", marked("Expires (UTC)"), marked("Empty for a key without an end."), control=Control.MOMENT
    ),
    FormField("access", marked("Rights")),
)
API_KEYS: Final = RecordKind(
    name="api-keys",
    title=marked("API keys"),
    noun="API key",
    listing=Listing(
        rpc="ListApiKeys",
        key="name",
        columns=(
            Column("name", marked("Name")),
            Column("created", marked("Created"), Show.SECONDS),
            Column("expires", marked("Expires"), Show.SECONDS),
            Column("access", marked("Rights")),
        ),
        empty=marked("No API key matches."),
    ),
    heading="name",
    facts=(Column("created", marked("Created"), Show.SECONDS),),
    create=Form(
        name="create",
        rpc="CreateApiKey",
        button=marked("Create API key"),
        done="created",
        secret="api_key",  # noqa: S106  # name of a field
        fields=(FormField("name", marked("Name")), *_KEY_FIELDS),
    ),
    forms=(
        Form(
            name="change",
            rpc="UpdateApiKey",
            keys=("name",),
            button=marked("Save"),
            done="saved",
            heading=marked("Settings"),
            fields=_KEY_FIELDS,
        ),
        Form(
            name="rotate",
            rpc="RotateApiKeySecret",
            keys=("name",),
            button=marked("New secret"),
            done="rotated",
            warning=marked("The current secret becomes invalid at once."),
            secret="api_key",  # noqa: S106  # name of a field
        ),
        Form(
            name="delete",
            rpc="DeleteApiKey",
            keys=("name",),
            button=marked("Delete API key"),
            done="deleted",
            warning=marked("The server then refuses programs that use the key."),
            is_gone=True,
        ),
    ),
)
BLOCKS: Final = RecordKind(
    name="blocks",
    title=marked("Blocked addresses"),
    noun="block",
    listing=Listing(
        rpc="ListBlockedAddresses",
        key="ip",
        columns=(
            Column("ip", marked("Address"), Show.CODE),
            Column("reach", marked("Blocks")),
            Column("exp", marked("Until"), Show.SECONDS),
        ),
        empty=marked("No blocked address matches."),
        row=Form(
            name="unblock",
            rpc="UnblockAddress",
            keys=("ip",),
            button=marked("Unblock"),
            done="unblocked",
            warning=marked("The server then answers requests from the address again."),
        ),
    ),
    create=Form(
        name="create",
        rpc="BlockAddress",
        button=marked("Block address"),
        done="blocked",
        fields=(
            FormField("ip", marked("Address"), is_required=True),
            FormField("exp", marked("Until (UTC)"), control=Control.MOMENT, is_required=True),
        ),
    ),
)
KEYS: Final = RecordKind(
    name="keys",
    title=marked("Signing keys"),
    noun="key",
    listing=Listing(
        rpc="GetKeySet",
        columns=(
            Column("kid", marked("Key id"), Show.CODE),
            Column("alg", marked("Algorithm")),
            Column("kty", marked("Type")),
        ),
        empty=marked("No key matches."),
    ),
    actions=(
        Form(
            name="rotate",
            rpc="RotateKeys",
            button=marked("Rotate keys"),
            done="keys-rotated",
            warning=marked("New keys of every algorithm sign from now on. The current ones stay published."),
        ),
    ),
)
