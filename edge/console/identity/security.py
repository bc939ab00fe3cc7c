"""Sessions, security events, API keys, blocked addresses and signing keys."""

from typing import Final

from edge.console.identity.declarations import Column, Control, Form, FormField, Listing, RecordKind, Show

SESSIONS: Final = RecordKind(
    name="sessions",
    title="Sessions",
    noun="session",
    listing=Listing(
        rpc="ListSessions",
        key="id",
        columns=(
            Column("remote_ip", "Address", Show.CODE),
            Column("user_id", "User", kind="users"),
            Column("state", "State"),
            Column("signed_in_at", "Signed in", Show.SECONDS),
            Column("last_seen", "Last used", Show.SECONDS),
            Column("exp", "Ends", Show.SECONDS),
            Column("is_mfa", "Second factor"),
            Column("is_current", "This browser"),
        ),
        filters=(FormField("session_state", "State"),),
        empty="No session matches.",
        row=Form(
            name="end",
            rpc="EndSession",
            keys=("session_id",),
            button="End",
            done="session-ended",
            warning="The browser is signed out, and clients are told.",
        ),
    ),
    actions=(
        Form(
            name="end-all",
            rpc="EndAllSessions",
            button="End all sessions",
            done="sessions-ended",
            warning="All users of the tenant are signed out, you too, and all their tokens end.",
        ),
    ),
)
EVENTS: Final = RecordKind(
    name="events",
    title="Events",
    noun="event",
    about="At most 1,000 events of the range, the newest first.",
    listing=Listing(
        rpc="ListEvents",
        columns=(
            Column("typ", "Event"),
            Column("level", "Level"),
            Column("timestamp", "Time", Show.MILLISECONDS),
            Column("ip", "Address", Show.CODE),
            Column("user_id", "User", kind="users"),
            Column("client_id", "Client", kind="clients"),
            Column("actor.name", "By"),
            Column("text", "Text"),
            Column("data", "Number"),
        ),
        filters=(
            FormField("from", "From (UTC)", control=Control.MOMENT, hours_ago=24),
            FormField("until", "Until (UTC)", control=Control.MOMENT),
            FormField("level", "Least level"),
            FormField("typ", "Type"),
        ),
        empty="There is no such event in this range.",
    ),
)
_KEY_FIELDS: Final = (
    FormField("expires", "Expires (UTC)", "Empty for a key without an end.", control=Control.MOMENT),
    FormField("access", "Rights"),
)
API_KEYS: Final = RecordKind(
    name="api-keys",
    title="API keys",
    noun="API key",
    listing=Listing(
        rpc="ListApiKeys",
        key="name",
        columns=(
            Column("name", "Name"),
            Column("created", "Created", Show.SECONDS),
            Column("expires", "Expires", Show.SECONDS),
            Column("access", "Rights"),
        ),
        empty="No API key matches.",
    ),
    heading="name",
    facts=(Column("created", "Created", Show.SECONDS),),
    create=Form(
        name="create",
        rpc="CreateApiKey",
        button="Create API key",
        done="created",
        secret="api_key",  # noqa: S106  # name of a field
        fields=(FormField("name", "Name"), *_KEY_FIELDS),
    ),
    forms=(
        Form(
            name="change",
            rpc="UpdateApiKey",
            keys=("name",),
            button="Save",
            done="saved",
            heading="Settings",
            fields=_KEY_FIELDS,
        ),
        Form(
            name="rotate",
            rpc="RotateApiKeySecret",
            keys=("name",),
            button="New secret",
            done="rotated",
            warning="The present secret ends at once.",
            secret="api_key",  # noqa: S106  # name of a field
        ),
        Form(
            name="delete",
            rpc="DeleteApiKey",
            keys=("name",),
            button="Delete API key",
            done="deleted",
            warning="Programs that use the key are refused.",
            is_gone=True,
        ),
    ),
)
BLOCKS: Final = RecordKind(
    name="blocks",
    title="Blocked addresses",
    noun="block",
    listing=Listing(
        rpc="ListBlockedAddresses",
        key="ip",
        columns=(
            Column("ip", "Address", Show.CODE),
            Column("reach", "Blocks"),
            Column("exp", "Until", Show.SECONDS),
        ),
        empty="No blocked address matches.",
        row=Form(
            name="unblock",
            rpc="UnblockAddress",
            keys=("ip",),
            button="Unblock",
            done="unblocked",
            warning="Requests of the address are answered again.",
        ),
    ),
    create=Form(
        name="create",
        rpc="BlockAddress",
        button="Block address",
        done="blocked",
        fields=(
            FormField("ip", "Address", is_required=True),
            FormField("exp", "Until (UTC)", control=Control.MOMENT, is_required=True),
        ),
    ),
)
KEYS: Final = RecordKind(
    name="keys",
    title="Signing keys",
    noun="key",
    listing=Listing(
        rpc="GetKeySet",
        columns=(Column("kid", "Key id", Show.CODE), Column("alg", "Algorithm"), Column("kty", "Type")),
        empty="No key matches.",
    ),
    actions=(
        Form(
            name="rotate",
            rpc="RotateKeys",
            button="Rotate keys",
            done="keys-rotated",
            warning="New keys of every algorithm sign from now on. The present ones stay published.",
        ),
    ),
)
