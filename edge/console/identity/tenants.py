"""Tenants and their settings, sign-in domains and upstream providers."""

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
    Source,
)
from edge.console.identity.labels import GROUP_NAMES

_PROVIDER_IDS: Final = Source(rpc="ListProviders", paths=("providers.id",))
_SECRET: Final = FormField(
    "client_secret",
    "Client secret",
    "Empty for none, or to leave it as it is.",
    control=Control.SECRET,
)
_PROVIDER_FIELDS: Final = (
    FormField("fields.name", "Name"),
    FormField("fields.type", "Kind", is_required=True),
    FormField("fields.enabled", "Users may sign in through it", is_on=True),
    FormField("fields.issuer", "Issuer"),
    FormField("fields.authorization_endpoint", "Authorization endpoint"),
    FormField("fields.token_endpoint", "Token endpoint"),
    FormField("fields.userinfo_endpoint", "User info endpoint"),
    FormField("fields.jwks_endpoint", "Address of its keys"),
    FormField("fields.client_id", "Client id"),
    FormField("fields.token_endpoint_auth_method", "Client authentication", is_required=True),
    _SECRET,
    FormField("fields.scope", "Scopes", "Separated by spaces."),
    FormField("fields.forward_sign_in_hints", "It is told the address that the user typed", is_on=True),
    FormField("fields.workspace_domain", "Domain of the workspace"),
    FormField("fields.auto_onboarding", "New users get an account"),
    FormField("fields.auto_link", "Users with the same verified address are linked"),
    FormField("fields.mfa_claim_path", "Claim about several factors"),
    FormField("fields.mfa_claim_value", "Value of that claim"),
)

PROVIDERS: Final = RecordKind(
    name="providers",
    title="Providers",
    noun="provider",
    listing=Listing(
        rpc="ListProviders",
        key="id",
        columns=(
            Column("fields.name", "Name"),
            Column("id", "Id", Show.CODE),
            Column("fields.type", "Kind"),
            Column("fields.enabled", "Enabled"),
            Column("fields.issuer", "Issuer"),
        ),
        empty="No provider matches.",
    ),
    heading="fields.name",
    facts=(Column("id", "Id", Show.CODE), Column("fields.mappings", "Mappings of claims")),
    create=Form(
        name="create",
        rpc="CreateProvider",
        button="Create provider",
        done="created",
        fields=_PROVIDER_FIELDS,
    ),
    forms=(
        Form(
            name="change",
            rpc="UpdateProvider",
            keys=("provider_id",),
            base=("fields", "fields"),
            button="Save",
            done="saved",
            heading="Settings",
            fields=_PROVIDER_FIELDS,
        ),
        Form(
            name="delete",
            rpc="DeleteProvider",
            keys=("provider_id",),
            button="Delete provider",
            done="deleted",
            warning="The links of users to the provider go. Their accounts stay.",
            is_gone=True,
        ),
    ),
    parts=(
        Part(
            heading="Linked users",
            owner="provider_id",
            listing=Listing(
                rpc="ListLinkedUsers",
                key="id",
                columns=(Column("email", "Email address"), Column("id", "User", kind="users")),
                empty="No user is linked.",
            ),
        ),
    ),
)
_TARGET: Final = (
    FormField("target.type", "Users sign in with"),
    FormField("target.providers", "Providers", sources=(_PROVIDER_IDS,)),
)
DOMAINS: Final = RecordKind(
    name="domains",
    title="Domains",
    noun="domain",
    about="Users of a verified domain sign in where the domain says.",
    listing=Listing(
        rpc="ListSignInDomains",
        key="domain",
        columns=(
            Column("domain", "Domain"),
            Column("verified", "Verified"),
            Column("target.type", "Users sign in with"),
            Column("target.providers", "Providers"),
            Column("expires_at", "Goes unless verified", Show.SECONDS),
        ),
        empty="No domain matches.",
    ),
    heading="domain",
    facts=(
        Column("verified", "Verified"),
        Column("verified_at", "Since", Show.SECONDS),
        Column("txt_name", "Name of the TXT record", Show.CODE),
        Column("txt_value", "Its value", Show.CODE),
    ),
    create=Form(
        name="create",
        rpc="CreateSignInDomain",
        button="Create domain",
        done="created",
        fields=(FormField("domain", "Domain", is_required=True), *_TARGET),
    ),
    forms=(
        Form(
            name="change",
            rpc="UpdateSignInDomain",
            keys=("domain",),
            button="Save",
            done="saved",
            heading="Sign-in",
            fields=_TARGET,
        ),
        Form(
            name="verify",
            rpc="VerifySignInDomain",
            keys=("domain",),
            button="Verify domain",
            done="verified",
            heading="Verification",
            fields=(FormField("without_dns", "Without DNS; only for administrators of the deployment"),),
        ),
        Form(
            name="delete",
            rpc="DeleteSignInDomain",
            keys=("domain",),
            button="Delete domain",
            done="deleted",
            warning="Its users sign in as all others, and other tenants may verify it.",
            is_gone=True,
        ),
    ),
)
SETTINGS: Final = RecordKind(
    name="settings",
    title="Settings",
    noun="setting",
    get="GetTenant",
    get_key="id",
    facts=(Column("id", "Tenant", Show.CODE), Column("issuer", "Issuer", Show.CODE)),
    forms=(
        Form(
            name="change",
            rpc="UpdateTenantSettings",
            keys=("id",),
            base=("settings", "settings"),
            button="Save",
            done="saved",
            heading="Sign-in and registration",
            fields=(
                FormField("settings.email_first", "The sign-in asks for the address first"),
                FormField("settings.require_email_confirmation", "Users confirm their address"),
                FormField("settings.confirmation_link_hours", "Hours that the link is good"),
                FormField(
                    "settings.unconfirmed_account_days",
                    "Days until an unconfirmed account goes",
                    "0 for never.",
                ),
                FormField("settings.default_groups", "Groups of users who register", sources=(GROUP_NAMES,)),
                FormField(
                    "settings.security_profile",
                    "Security profile of all clients",
                    "fapi2 refuses clients with a secret, and public clients.",
                ),
            ),
        ),
    ),
)
_COUNT: Final = "Empty for no such rule."
PASSWORDS: Final = RecordKind(
    name="passwords",
    title="Password policy",
    noun="policy",
    get="GetPasswordPolicy",
    forms=(
        Form(
            name="change",
            rpc="UpdatePasswordPolicy",
            prefix="policy",
            base=("policy", ""),
            button="Save",
            done="saved",
            heading="New passwords",
            fields=(
                FormField("policy.length_min", "Characters at least"),
                FormField("policy.length_max", "Characters at most"),
                FormField("policy.include_lower_case", "Lower-case letters at least", _COUNT),
                FormField("policy.include_upper_case", "Upper-case letters at least", _COUNT),
                FormField("policy.include_digits", "Digits at least", _COUNT),
                FormField("policy.include_special", "Other characters at least", _COUNT),
                FormField("policy.valid_days", "Days until a password ends", _COUNT),
                FormField("policy.not_recently_used", "Last passwords that are not taken again", _COUNT),
            ),
        ),
    ),
)
_TENANT_FIELDS: Final = (
    FormField("name", "Name"),
    FormField("hostname", "Host of its issuer", "Empty for an issuer below the default one."),
    FormField("enabled", "The tenant is served", is_on=True),
)
TENANTS: Final = RecordKind(
    name="tenants",
    title="Tenants",
    noun="tenant",
    is_of_deployment=True,
    listing=Listing(
        rpc="ListTenants",
        key="id",
        columns=(
            Column("id", "Id"),
            Column("name", "Name"),
            Column("enabled", "Served"),
            Column("issuer", "Issuer", Show.CODE),
            Column("created_at", "Created", Show.SECONDS),
        ),
        empty="No tenant matches.",
    ),
    get="GetTenant",
    get_key="id",
    heading="id",
    facts=(Column("issuer", "Issuer", Show.CODE), Column("created_at", "Created", Show.SECONDS)),
    create=Form(
        name="create",
        rpc="CreateTenant",
        button="Create tenant",
        done="created",
        fields=(FormField("id", "Id", is_required=True), *_TENANT_FIELDS),
    ),
    forms=(
        Form(
            name="change",
            rpc="UpdateTenant",
            keys=("id",),
            button="Save",
            done="saved",
            heading="Settings",
            fields=_TENANT_FIELDS,
        ),
        Form(
            name="delete",
            rpc="DeleteTenant",
            keys=("id",),
            button="Delete tenant",
            done="deleted",
            warning="The tenant goes with everything in it. It does not come back.",
            fields=(FormField("force", "Its users go, too"),),
            is_gone=True,
        ),
    ),
)
