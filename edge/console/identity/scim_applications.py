"""SCIM applications: clients to whose SCIM 2.0 service the provider writes users and groups."""

from typing import Final

from edge.console.identity.declarations import (
    Column,
    Control,
    Form,
    FormField,
    Listing,
    RecordKind,
    Show,
    Source,
)
from server.platform.languages import marked

_FIELDS: Final = (
    FormField(
        "fields.base_uri",
        marked("Base address of the SCIM service"),
        marked("The part before /Users and /Groups."),
        is_required=True,
    ),
    FormField(
        "bearer_token",
        marked("Bearer token"),
        marked("Empty to leave it as it is. Another address needs it again."),
        control=Control.SECRET,
    ),
    FormField("fields.sync_groups", marked("Groups and their members are written")),
    FormField(
        "fields.group_sync_prefix",
        marked("Beginning of the names of groups"),
        marked("Only these groups and their members are written. Empty for all."),
    ),
    FormField("fields.enabled", marked("Synchronized"), is_on=True),
)

SCIM_APPLICATIONS: Final = RecordKind(
    name="scim-applications",
    title=marked("SCIM applications"),
    noun="SCIM application",
    about=marked("Clients that get the users and groups of the tenant by SCIM 2.0. Create the client first."),
    listing=Listing(
        rpc="ListScimApplications",
        key="id",
        columns=(
            Column("id", marked("Client"), kind="clients", sort="id"),
            Column("fields.base_uri", marked("Base address")),
            Column("state", marked("State")),
            Column("refused", marked("Refused")),
        ),
        filters=(FormField("search", marked("Client id")),),
        empty=marked("No SCIM application matches."),
    ),
    get="GetScimApplication",
    get_key="client_id",
    heading="id",
    facts=(
        Column("id", marked("Client"), kind="clients"),
        Column("state", marked("State")),
        Column("last_success", marked("Last success"), Show.SECONDS),
        Column("compared", marked("Last comparison of all users"), Show.SECONDS),
        Column("pending", marked("Events that wait")),
        Column("last_error", marked("Last error")),
        Column("failing_since", marked("Failing since"), Show.SECONDS),
        Column("next_attempt", marked("Next attempt"), Show.SECONDS),
        Column("refused", marked("Refused users and groups")),
        Column("refusals", marked("Refusals")),
    ),
    create=Form(
        name="create",
        rpc="PutScimApplication",
        button=marked("Add SCIM application"),
        done="created",
        fields=(
            FormField(
                "client_id",
                marked("Client id"),
                sources=(Source(rpc="ListClients", paths=("clients.id",)),),
            ),
            *_FIELDS,
        ),
    ),
    forms=(
        Form(
            name="try",
            rpc="TryScimApplication",
            keys=("client_id",),
            button=marked("Try it"),
            done="tried",
            warning=marked("The provider reads one user of the application."),
            answer=(Column("works", marked("It works")), Column("problem", marked("Problem"))),
        ),
        Form(
            name="synchronize",
            rpc="SynchronizeScimApplication",
            keys=("client_id",),
            button=marked("Compare all users now"),
            done="saved",
            warning=marked("The provider writes every difference to the application."),
        ),
        Form(
            name="change",
            rpc="PutScimApplication",
            keys=("client_id",),
            base=("fields", "fields"),
            button=marked("Save"),
            done="saved",
            heading=marked("Settings"),
            fields=_FIELDS,
        ),
        Form(
            name="delete",
            rpc="DeleteScimApplication",
            keys=("client_id",),
            button=marked("Remove SCIM settings"),
            done="deleted",
            warning=marked(
                "Users are no longer written. The application keeps its accounts, and the client stays."
            ),
            is_gone=True,
        ),
    ),
)
