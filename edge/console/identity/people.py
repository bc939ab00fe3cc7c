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
from edge.console.identity.terms_of_use import ACCEPTED_TERMS
from server.platform.languages import marked

_SESSIONS: Final = Listing(
    rpc="ListSessionsOfUser",
    key="id",
    columns=(
        Column("remote_ip", marked("Address"), Show.CODE),
        Column("signed_in_at", marked("Signed in"), Show.SECONDS),
        Column("last_seen", marked("Last used"), Show.SECONDS),
        Column("exp", marked("Ends"), Show.SECONDS),
        Column("is_mfa", marked("Second factor")),
        Column("impersonator", marked("Support person")),
    ),
    empty=marked("The user is not signed in."),
    row=Form(
        name="end-session",
        rpc="EndSessionOfUser",
        keys=("user_id", "session_id"),
        button=marked("End"),
        done="session-ended",
        warning=marked("The browser is signed out, and clients are informed."),
    ),
)
_DEVICES: Final = Listing(
    rpc="ListDevices",
    key="id",
    columns=(
        Column("name", marked("Device")),
        Column("client_id", marked("Client"), Show.CODE, kind="clients"),
        Column("peer_ip", marked("Address"), Show.CODE),
        Column("created", marked("Connected"), Show.SECONDS),
        Column("refresh_exp", marked("Ends"), Show.SECONDS),
    ),
    empty=marked("The user has connected no device."),
    row=Form(
        name="revoke-device",
        rpc="RevokeDevice",
        keys=("user_id", "device_id"),
        button=marked("Sign out"),
        done="device-revoked",
        warning=marked("The tokens of the device end."),
    ),
)
_PASSKEYS: Final = Listing(
    rpc="ListPasskeys",
    key="name",
    columns=(
        Column("name", marked("Passkey")),
        Column("registered", marked("Added"), Show.SECONDS),
        Column("last_used", marked("Last used"), Show.SECONDS),
    ),
    empty=marked("The user has no passkey."),
    row=Form(
        name="delete-passkey",
        rpc="DeletePasskey",
        keys=("user_id", "name"),
        button=marked("Remove"),
        done="passkey-removed",
        warning=marked("The user cannot sign in with it any more."),
    ),
)
_CONSENTS: Final = Listing(
    rpc="ListConsents",
    key="client_id",
    columns=(
        Column("client_name", marked("Client")),
        Column("scopes", marked("Scopes")),
        Column("granted_at", marked("Since"), Show.SECONDS),
    ),
    empty=marked("No application has access by consent."),
    row=Form(
        name="withdraw-consent",
        rpc="WithdrawConsent",
        keys=("user_id", "client_id"),
        button=marked("Withdraw"),
        done="consent-withdrawn",
        warning=marked("The application loses its access."),
    ),
)
_EMAIL: Final = FormField("fields.email", marked("Email address"), is_required=True)
_NAMES: Final = (
    FormField("fields.given_name", marked("First name")),
    FormField("fields.family_name", marked("Last name")),
)
_LABELS: Final = (
    FormField("fields.groups.names", marked("Groups"), sources=(GROUP_NAMES,)),
    FormField("fields.roles.names", marked("Roles"), sources=(ROLE_NAMES,)),
)
_ENDS: Final = FormField(
    "fields.user_expires",
    marked("Expiry of the account (UTC)"),
    marked("Empty for an account without an end."),
    control=Control.MOMENT,
    is_zero=True,
)

USERS: Final = RecordKind(
    name="users",
    title=marked("Users"),
    noun="user",
    listing=Listing(
        rpc="ListUsers",
        key="id",
        columns=(
            Column("email", marked("Email address"), sort="email"),
            Column("user_values.preferred_username", marked("Username"), sort="username"),
            Column("given_name", marked("First name"), sort="name"),
            Column("family_name", marked("Last name")),
            Column("groups", marked("Groups")),
            Column("enabled", marked("Enabled")),
            Column("last_login", marked("Last sign-in"), Show.SECONDS),
        ),
        filters=(
            FormField("search", marked("Address, username or name")),
            FormField("group", marked("Group"), sources=(GROUP_NAMES,)),
            FormField("role", marked("Role"), sources=(ROLE_NAMES,)),
        ),
        empty=marked("No user matches."),
    ),
    get="GetUser",
    get_key="user_id",
    heading="email",
    facts=(
        Column("id", marked("Id"), Show.CODE),
        Column("account_type", marked("Signs in with")),
        Column("confirmation_state", marked("Address")),
        Column("created_at", marked("Created"), Show.SECONDS),
        Column("created_by", marked("Created by")),
        Column("last_login", marked("Last sign-in"), Show.SECONDS),
        Column("password_expires", marked("Password ends"), Show.SECONDS),
    ),
    create=Form(
        name="create",
        rpc="CreateUser",
        prefix="fields",
        button=marked("Create user"),
        done="created",
        fields=(
            _EMAIL,
            FormField("fields.user_values.preferred_username", marked("Username"), is_left_out=True),
            *_NAMES,
            FormField("fields.language", marked("Language"), marked("A tag as en or de."), is_left_out=True),
            *_LABELS,
            FormField(
                "fields.password",
                marked("Password"),
                marked("Without a password, the user gets a link to choose one."),
                control=Control.SECRET,
                is_left_out=True,
            ),
            _ENDS,
        ),
    ),
    download=marked("Download personal data"),
    forms=(
        Form(
            name="change",
            rpc="UpdateUser",
            keys=("user_id",),
            prefix="fields",
            button=marked("Save"),
            done="saved",
            heading=marked("Profile"),
            fields=(
                _EMAIL,
                FormField("fields.user_values.preferred_username", marked("Username")),
                *_NAMES,
                FormField(
                    "fields.language", marked("Language"), marked("A tag as en or de."), is_required=True
                ),
                FormField("fields.user_values.birthdate", marked("Date of birth"), marked("As 1990-12-31.")),
                FormField("fields.user_values.phone", marked("Telephone")),
                FormField("fields.user_values.street", marked("Street")),
                FormField("fields.user_values.zip", marked("Postal code")),
                FormField("fields.user_values.city", marked("City")),
                FormField("fields.user_values.country", marked("Country")),
                FormField("fields.user_values.tz", marked("Time zone"), marked("As Europe/Berlin.")),
                *_LABELS,
                FormField("fields.enabled", marked("The user may sign in")),
                FormField("fields.email_verified", marked("The address is confirmed")),
                _ENDS,
            ),
        ),
        Form(
            name="password",
            rpc="UpdateUser",
            keys=("user_id",),
            prefix="fields",
            button=marked("Set password"),
            done="password-set",
            heading=marked("Password"),
            fields=(
                FormField(
                    "fields.password",
                    marked("New password"),
                    marked("The user is signed out everywhere."),
                    control=Control.SECRET,
                    is_required=True,
                ),
            ),
        ),
        Form(
            name="end-sessions",
            rpc="EndSessionsOfUser",
            keys=("user_id",),
            button=marked("Sign out everywhere"),
            done="signed-out",
            warning=marked("All sessions and tokens of the user end."),
        ),
        Form(
            name="impersonate",
            rpc="StartImpersonation",
            keys=("user_id",),
            button=marked("Sign in as this user"),
            done="saved",
            heading=marked("Support"),
            fields=(
                FormField(
                    "reason",
                    marked("Reason"),
                    marked(
                        "The user has to allow it on the account page, and gets a message. You need the support role."
                    ),
                    is_required=True,
                ),
            ),
            begins_session=True,
        ),
        Form(
            name="delete",
            rpc="DeleteUser",
            keys=("user_id",),
            button=marked("Delete user"),
            done="deleted",
            warning=marked(
                "The account is deleted with its sessions, tokens and devices. Nobody can undo this."
            ),
            is_gone=True,
        ),
        Form(
            name="erase",
            rpc="EraseUser",
            keys=("user_id",),
            button=marked("Erase user"),
            done="deleted",
            warning=marked(
                "The account is deleted. A pseudonym takes the place of the user in events, tasks and the audit log."
            ),
            is_gone=True,
        ),
    ),
    parts=(
        Part(heading=marked("Sessions"), owner="user_id", listing=_SESSIONS),
        Part(heading=marked("Devices"), owner="user_id", listing=_DEVICES),
        Part(heading=marked("Passkeys"), owner="user_id", listing=_PASSKEYS),
        Part(heading=marked("Access of applications"), owner="user_id", listing=_CONSENTS),
        Part(heading=marked("Terms of use"), owner="user_id", listing=ACCEPTED_TERMS),
    ),
)
