"""Users, with their sessions, devices, passkeys and consents."""

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
from edge.console.identity.labels import GROUP_NAMES, ROLE_NAMES

_SESSIONS: Final = Listing(
    rpc="ListSessionsOfUser",
    key="id",
    columns=(
        Column("remote_ip", "Address", Show.CODE),
        Column("signed_in_at", "Signed in", Show.SECONDS),
        Column("last_seen", "Last used", Show.SECONDS),
        Column("exp", "Ends", Show.SECONDS),
        Column("is_mfa", "Second factor"),
    ),
    empty="The user is not signed in.",
    row=Form(
        name="end-session",
        rpc="EndSessionOfUser",
        keys=("user_id", "session_id"),
        button="End",
        done="session-ended",
        warning="The browser is signed out, and clients are told.",
    ),
)
_DEVICES: Final = Listing(
    rpc="ListDevices",
    key="id",
    columns=(
        Column("name", "Device"),
        Column("client_id", "Client", Show.CODE, kind="clients"),
        Column("peer_ip", "Address", Show.CODE),
        Column("created", "Connected", Show.SECONDS),
        Column("refresh_exp", "Ends", Show.SECONDS),
    ),
    empty="The user has connected no device.",
    row=Form(
        name="revoke-device",
        rpc="RevokeDevice",
        keys=("user_id", "device_id"),
        button="Sign out",
        done="device-revoked",
        warning="The tokens of the device end.",
    ),
)
_PASSKEYS: Final = Listing(
    rpc="ListPasskeys",
    key="name",
    columns=(
        Column("name", "Passkey"),
        Column("registered", "Added", Show.SECONDS),
        Column("last_used", "Last used", Show.SECONDS),
    ),
    empty="The user has no passkey.",
    row=Form(
        name="delete-passkey",
        rpc="DeletePasskey",
        keys=("user_id", "name"),
        button="Remove",
        done="passkey-removed",
        warning="The user cannot sign in with it any more.",
    ),
)
_CONSENTS: Final = Listing(
    rpc="ListConsents",
    key="client_id",
    columns=(
        Column("client_name", "Client"),
        Column("scopes", "Scopes"),
        Column("granted_at", "Since", Show.SECONDS),
    ),
    empty="No application has access by consent.",
    row=Form(
        name="withdraw-consent",
        rpc="WithdrawConsent",
        keys=("user_id", "client_id"),
        button="Withdraw",
        done="consent-withdrawn",
        warning="The application loses its access.",
    ),
)
_EMAIL: Final = FormField("fields.email", "Email address", is_required=True)
_NAMES: Final = (
    FormField("fields.given_name", "First name"),
    FormField("fields.family_name", "Last name"),
)
_LABELS: Final = (
    FormField("fields.groups.names", "Groups", sources=(GROUP_NAMES,)),
    FormField("fields.roles.names", "Roles", sources=(ROLE_NAMES,)),
)
_ENDS: Final = FormField(
    "fields.user_expires",
    "The account ends (UTC)",
    "Empty for an account without an end.",
    control=Control.MOMENT,
    is_zero=True,
)

USERS: Final = RecordKind(
    name="users",
    title="Users",
    noun="user",
    listing=Listing(
        rpc="ListUsers",
        key="id",
        columns=(
            Column("email", "Email address", sort="email"),
            Column("user_values.preferred_username", "Username", sort="username"),
            Column("given_name", "First name", sort="name"),
            Column("family_name", "Last name"),
            Column("groups", "Groups"),
            Column("enabled", "Enabled"),
            Column("last_login", "Last sign-in", Show.SECONDS),
        ),
        filters=(
            FormField("search", "Address, username or name"),
            FormField("group", "Group", sources=(GROUP_NAMES,)),
            FormField("role", "Role", sources=(ROLE_NAMES,)),
        ),
        empty="No user matches.",
    ),
    get="GetUser",
    get_key="user_id",
    heading="email",
    facts=(
        Column("id", "Id", Show.CODE),
        Column("account_type", "Signs in with"),
        Column("confirmation_state", "Address"),
        Column("created_at", "Created", Show.SECONDS),
        Column("created_by", "Created by"),
        Column("last_login", "Last sign-in", Show.SECONDS),
        Column("password_expires", "Password ends", Show.SECONDS),
    ),
    create=Form(
        name="create",
        rpc="CreateUser",
        prefix="fields",
        button="Create user",
        done="created",
        fields=(
            _EMAIL,
            FormField("fields.user_values.preferred_username", "Username", is_left_out=True),
            *_NAMES,
            FormField("fields.language", "Language", "A tag as en or de.", is_left_out=True),
            *_LABELS,
            FormField(
                "fields.password",
                "Password",
                "Without one the user is sent a link to choose it.",
                control=Control.SECRET,
                is_left_out=True,
            ),
            _ENDS,
        ),
    ),
    forms=(
        Form(
            name="change",
            rpc="UpdateUser",
            keys=("user_id",),
            prefix="fields",
            button="Save",
            done="saved",
            heading="Profile",
            fields=(
                _EMAIL,
                FormField("fields.user_values.preferred_username", "Username"),
                *_NAMES,
                FormField("fields.language", "Language", "A tag as en or de.", is_required=True),
                FormField("fields.user_values.birthdate", "Date of birth", "As 1990-12-31."),
                FormField("fields.user_values.phone", "Telephone"),
                FormField("fields.user_values.street", "Street"),
                FormField("fields.user_values.zip", "Postal code"),
                FormField("fields.user_values.city", "City"),
                FormField("fields.user_values.country", "Country"),
                FormField("fields.user_values.tz", "Time zone", "As Europe/Berlin."),
                *_LABELS,
                FormField("fields.enabled", "The user may sign in"),
                FormField("fields.email_verified", "The address is confirmed"),
                _ENDS,
            ),
        ),
        Form(
            name="password",
            rpc="UpdateUser",
            keys=("user_id",),
            prefix="fields",
            button="Set password",
            done="password-set",
            heading="Password",
            fields=(
                FormField(
                    "fields.password",
                    "New password",
                    "The user is signed out everywhere.",
                    control=Control.SECRET,
                    is_required=True,
                ),
            ),
        ),
        Form(
            name="end-sessions",
            rpc="EndSessionsOfUser",
            keys=("user_id",),
            button="Sign out everywhere",
            done="signed-out",
            warning="All sessions and tokens of the user end.",
        ),
        Form(
            name="delete",
            rpc="DeleteUser",
            keys=("user_id",),
            button="Delete user",
            done="deleted",
            warning="The account goes with its sessions, tokens and devices. It does not come back.",
            is_gone=True,
        ),
    ),
    parts=(
        Part(heading="Sessions", owner="user_id", listing=_SESSIONS),
        Part(heading="Devices", owner="user_id", listing=_DEVICES),
        Part(heading="Passkeys", owner="user_id", listing=_PASSKEYS),
        Part(heading="Access of applications", owner="user_id", listing=_CONSENTS),
    ),
)
