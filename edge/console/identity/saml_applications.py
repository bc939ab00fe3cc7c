"""SAML applications: clients that are SAML 2.0 service providers, and the keys with which the tenant signs for them."""

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
        "metadata",
        marked("Metadata of the application"),
        marked("XML. It sets the entity id, the addresses and the certificates."),
        control=Control.AREA,
    ),
    FormField(
        "fields.name_id_format", marked("Format of the names of users"), marked("Empty for persistent names.")
    ),
    FormField("fields.require_signed_requests", marked("Its requests must be signed")),
)

SAML_APPLICATIONS: Final = RecordKind(
    name="saml-applications",
    title=marked("SAML applications"),
    noun="SAML application",
    about=marked("Clients that sign users in by SAML 2.0. Create the client first."),
    listing=Listing(
        rpc="ListSamlApplications",
        key="id",
        columns=(
            Column("id", marked("Client"), kind="clients", sort="id"),
            Column("fields.entity_id", marked("Entity id")),
            Column("fields.require_signed_requests", marked("Signed requests")),
        ),
        filters=(FormField("search", marked("Client id or entity id")),),
        empty=marked("No SAML application matches."),
    ),
    get="GetSamlApplication",
    get_key="client_id",
    heading="id",
    facts=(
        Column("id", marked("Client"), kind="clients"),
        Column("fields.consumer_services", marked("Addresses that take responses")),
        Column("fields.attributes", marked("Attributes of assertions")),
    ),
    create=Form(
        name="create",
        rpc="PutSamlApplication",
        button=marked("Add SAML application"),
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
            name="change",
            rpc="PutSamlApplication",
            keys=("client_id",),
            base=("fields", "fields"),
            button=marked("Save"),
            done="saved",
            heading=marked("Settings"),
            fields=(
                *_FIELDS,
                FormField("fields.entity_id", marked("Entity id")),
                FormField(
                    "fields.single_logout_url",
                    marked("Address of single logout"),
                    marked("With the redirect binding. Empty for none."),
                ),
                FormField(
                    "fields.certificates",
                    marked("Certificates of its signatures"),
                    marked("Each in a line, in base64 of DER."),
                    control=Control.LINES,
                ),
                FormField(
                    "fields.encryption_certificate",
                    marked("Certificate to which assertions are encrypted"),
                    marked("Empty for readable assertions."),
                    control=Control.AREA,
                ),
            ),
        ),
        Form(
            name="delete",
            rpc="DeleteSamlApplication",
            keys=("client_id",),
            button=marked("Remove SAML settings"),
            done="deleted",
            warning=marked("Its users can no longer sign in by SAML. The client stays."),
            is_gone=True,
        ),
    ),
)

SAML_KEYS: Final = RecordKind(
    name="saml-keys",
    title=marked("SAML keys"),
    noun="key",
    about=marked(
        "The active key signs messages to SAML applications. Create the next key, give its certificate to the"
        " applications, then activate it."
    ),
    listing=Listing(
        rpc="ListSamlKeys",
        columns=(
            Column("active", marked("Active")),
            Column("fingerprint", marked("Fingerprint (SHA-256)"), Show.CODE),
            Column("not_before", marked("Valid from"), Show.SECONDS),
            Column("not_after", marked("Valid until"), Show.SECONDS),
            Column("certificate", marked("Certificate"), Show.CODE),
        ),
        empty=marked("No key matches."),
    ),
    actions=(
        Form(name="prepare", rpc="CreateSamlKey", button=marked("Create next key"), done="created"),
        Form(
            name="activate",
            rpc="ActivateSamlKey",
            button=marked("Activate next key"),
            done="keys-rotated",
            warning=marked(
                "Applications that do not know the certificate of the next key refuse sign-ins from now on."
                " The current key is deleted."
            ),
        ),
        Form(
            name="discard",
            rpc="DeleteNextSamlKey",
            button=marked("Delete next key"),
            done="deleted",
            warning=marked("Applications that already have its certificate need another one for a rotation."),
        ),
    ),
)
