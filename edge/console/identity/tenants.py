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
from edge.console.identity.labels import GROUP_NAMES, ROLE_NAMES
from server.platform.languages import marked

_PROVIDER_IDS: Final = Source(rpc="ListProviders", paths=("providers.id",))
_SECRET: Final = FormField(
    "client_secret",
    marked("Client secret"),
    marked("Empty for none, or to leave it as it is."),
    control=Control.SECRET,
)
_PROVIDER_FIELDS: Final = (
    FormField("fields.name", marked("Name")),
    FormField("fields.type", marked("Kind"), is_required=True),
    FormField("fields.enabled", marked("Users may sign in through it"), is_on=True),
    FormField("fields.issuer", marked("Issuer")),
    FormField("fields.authorization_endpoint", marked("Authorization endpoint")),
    FormField("fields.token_endpoint", marked("Token endpoint")),
    FormField("fields.userinfo_endpoint", marked("User info endpoint")),
    FormField("fields.jwks_endpoint", marked("Address of its keys")),
    FormField("fields.client_id", marked("Client id")),
    FormField("fields.token_endpoint_auth_method", marked("Client authentication"), is_required=True),
    _SECRET,
    FormField("fields.scope", marked("Scopes"), marked("Separated by spaces.")),
    FormField(
        "fields.forward_sign_in_hints", marked("It gets the address that the user entered"), is_on=True
    ),
    FormField("fields.workspace_domain", marked("Domain of the workspace")),
    FormField("fields.auto_onboarding", marked("New users get an account")),
    FormField("fields.auto_link", marked("Users with the same verified address are linked")),
    FormField("fields.mfa_claim_path", marked("Claim about several factors")),
    FormField("fields.mfa_claim_value", marked("Value of that claim")),
    FormField("fields.form_post", marked("The browser posts its response")),
    FormField("fields.text_booleans", marked("It sends true as a text")),
)
_FROM_PRESET: Final = Form(
    name="preset",
    rpc="CreateProviderFromPreset",
    button=marked("Create from preset"),
    done="created",
    heading=marked("Large providers"),
    fields=(
        FormField(
            "preset",
            marked("Provider"),
            sources=(Source(rpc="ListProviderPresets", paths=("presets.id",)),),
            is_required=True,
        ),
        FormField("client_id", marked("Client id"), is_required=True),
        FormField(
            "client_secret",
            marked("Client secret"),
            marked("For Apple the private key, with its first and last line."),
            control=Control.AREA,
            is_required=True,
        ),
        FormField("name", marked("Name"), marked("Empty for the name of the provider.")),
        FormField("directory", marked("Directory id"), marked("For Microsoft.")),
        FormField("host", marked("Host"), marked("For a GitLab of your own.")),
        FormField("team_id", marked("Team id"), marked("For Apple.")),
        FormField("key_id", marked("Key id"), marked("For Apple.")),
        FormField("auto_onboarding", marked("New users get an account")),
        FormField("auto_link", marked("Users with the same verified address are linked")),
    ),
)

PROVIDERS: Final = RecordKind(
    name="providers",
    title=marked("Providers"),
    noun="provider",
    listing=Listing(
        rpc="ListProviders",
        key="id",
        columns=(
            Column("fields.name", marked("Name")),
            Column("id", marked("Id"), Show.CODE),
            Column("fields.type", marked("Kind")),
            Column("fields.enabled", marked("Enabled")),
            Column("fields.issuer", marked("Issuer")),
        ),
        empty=marked("No provider matches."),
    ),
    heading="fields.name",
    facts=(Column("id", marked("Id"), Show.CODE), Column("fields.mappings", marked("Mappings of claims"))),
    create=Form(
        name="create",
        rpc="CreateProvider",
        button=marked("Create provider"),
        done="created",
        fields=_PROVIDER_FIELDS,
    ),
    actions=(_FROM_PRESET,),
    forms=(
        Form(
            name="change",
            rpc="UpdateProvider",
            keys=("provider_id",),
            base=("fields", "fields"),
            button=marked("Save"),
            done="saved",
            heading=marked("Settings"),
            fields=_PROVIDER_FIELDS,
        ),
        Form(
            name="delete",
            rpc="DeleteProvider",
            keys=("provider_id",),
            button=marked("Delete provider"),
            done="deleted",
            warning=marked("The links of users to the provider are deleted. Their accounts stay."),
            is_gone=True,
        ),
    ),
    parts=(
        Part(
            heading=marked("Linked users"),
            owner="provider_id",
            listing=Listing(
                rpc="ListLinkedUsers",
                key="id",
                columns=(
                    Column("email", marked("Email address")),
                    Column("id", marked("User"), kind="users"),
                ),
                empty=marked("No user is linked."),
            ),
        ),
    ),
)
_TARGET: Final = (
    FormField("target.type", marked("Users sign in with")),
    FormField("target.providers", marked("Providers"), sources=(_PROVIDER_IDS,)),
)
DOMAINS: Final = RecordKind(
    name="domains",
    title=marked("Domains"),
    noun="domain",
    about=marked("Users of a verified domain sign in where the domain says."),
    listing=Listing(
        rpc="ListSignInDomains",
        key="domain",
        columns=(
            Column("domain", marked("Domain")),
            Column("verified", marked("Verified")),
            Column("target.type", marked("Users sign in with")),
            Column("target.providers", marked("Providers")),
            Column("expires_at", marked("Goes unless verified"), Show.SECONDS),
        ),
        empty=marked("No domain matches."),
    ),
    heading="domain",
    facts=(
        Column("verified", marked("Verified")),
        Column("verified_at", marked("Since"), Show.SECONDS),
        Column("txt_name", marked("Name of the TXT record"), Show.CODE),
        Column("txt_value", marked("Its value"), Show.CODE),
    ),
    create=Form(
        name="create",
        rpc="CreateSignInDomain",
        button=marked("Create domain"),
        done="created",
        fields=(FormField("domain", marked("Domain"), is_required=True), *_TARGET),
    ),
    forms=(
        Form(
            name="change",
            rpc="UpdateSignInDomain",
            keys=("domain",),
            button=marked("Save"),
            done="saved",
            heading=marked("Sign-in"),
            fields=_TARGET,
        ),
        Form(
            name="verify",
            rpc="VerifySignInDomain",
            keys=("domain",),
            button=marked("Verify domain"),
            done="verified",
            heading=marked("Verification"),
            fields=(
                FormField("without_dns", marked("Without DNS; only for administrators of the deployment")),
            ),
        ),
        Form(
            name="delete",
            rpc="DeleteSignInDomain",
            keys=("domain",),
            button=marked("Delete domain"),
            done="deleted",
            warning=marked("Its users then sign in like all others, and other tenants may verify it."),
            is_gone=True,
        ),
    ),
)
SETTINGS: Final = RecordKind(
    name="settings",
    title=marked("Settings"),
    noun="setting",
    get="GetTenant",
    get_key="id",
    facts=(Column("id", marked("Tenant"), Show.CODE), Column("issuer", marked("Issuer"), Show.CODE)),
    forms=(
        Form(
            name="change",
            rpc="UpdateTenantSettings",
            keys=("id",),
            base=("settings", "settings"),
            button=marked("Save"),
            done="saved",
            heading=marked("Sign-in and registration"),
            fields=(
                FormField("settings.email_first", marked("The sign-in asks for the address first")),
                FormField(
                    "settings.email_codes",
                    marked("Codes by email as a second factor"),
                    marked("With required, users without another factor enter a code."),
                ),
                FormField(
                    "settings.sign_in_notice",
                    marked("Mails about sign-ins"),
                    marked("About new browsers, or also about new network addresses."),
                ),
                FormField(
                    "settings.support_role",
                    marked("Role of support persons"),
                    marked("Administrators with it sign in as users who allow it. Empty for nobody."),
                    sources=(ROLE_NAMES,),
                ),
                FormField("settings.support_minutes", marked("Minutes until a session of support ends")),
                FormField("settings.require_email_confirmation", marked("Users confirm their address")),
                FormField("settings.confirmation_link_hours", marked("Hours for which the link is valid")),
                FormField(
                    "settings.unconfirmed_account_days",
                    marked("Days until an unconfirmed account is deleted"),
                    marked("0 for never."),
                ),
                FormField(
                    "settings.default_groups", marked("Groups of users who register"), sources=(GROUP_NAMES,)
                ),
                FormField(
                    "settings.security_profile",
                    marked("Security profile of all clients"),
                    marked("fapi2 refuses clients with a secret, and public clients."),
                ),
            ),
        ),
    ),
)
_COUNT: Final = marked("Empty for no such rule.")
PASSWORDS: Final = RecordKind(
    name="passwords",
    title=marked("Password policy"),
    noun="policy",
    get="GetPasswordPolicy",
    forms=(
        Form(
            name="change",
            rpc="UpdatePasswordPolicy",
            prefix="policy",
            base=("policy", ""),
            button=marked("Save"),
            done="saved",
            heading=marked("New passwords"),
            fields=(
                FormField("policy.length_min", marked("Minimum number of characters")),
                FormField("policy.length_max", marked("Maximum number of characters")),
                FormField(
                    "policy.include_lower_case", marked("Minimum number of lower-case letters"), _COUNT
                ),
                FormField(
                    "policy.include_upper_case", marked("Minimum number of upper-case letters"), _COUNT
                ),
                FormField("policy.include_digits", marked("Minimum number of digits"), _COUNT),
                FormField("policy.include_special", marked("Minimum number of other characters"), _COUNT),
                FormField("policy.valid_days", marked("Days until a password expires"), _COUNT),
                FormField(
                    "policy.not_recently_used", marked("Last passwords that cannot be used again"), _COUNT
                ),
            ),
        ),
    ),
)
_TENANT_FIELDS: Final = (
    FormField("name", marked("Name")),
    FormField("hostname", marked("Host of its issuer"), marked("Empty for an issuer below the default one.")),
    FormField("enabled", marked("The tenant is served"), is_on=True),
)
TENANTS: Final = RecordKind(
    name="tenants",
    title=marked("Tenants"),
    noun="tenant",
    is_of_deployment=True,
    listing=Listing(
        rpc="ListTenants",
        key="id",
        columns=(
            Column("id", marked("Id"), sort="id"),
            Column("name", marked("Name")),
            Column("enabled", marked("Served")),
            Column("issuer", marked("Issuer"), Show.CODE),
            Column("created_at", marked("Created"), Show.SECONDS),
        ),
        filters=(FormField("search", marked("Id, name or host")),),
        empty=marked("No tenant matches."),
    ),
    get="GetTenant",
    get_key="id",
    heading="id",
    facts=(
        Column("issuer", marked("Issuer"), Show.CODE),
        Column("created_at", marked("Created"), Show.SECONDS),
    ),
    create=Form(
        name="create",
        rpc="CreateTenant",
        button=marked("Create tenant"),
        done="created",
        fields=(FormField("id", marked("Id"), is_required=True), *_TENANT_FIELDS),
    ),
    forms=(
        Form(
            name="change",
            rpc="UpdateTenant",
            keys=("id",),
            button=marked("Save"),
            done="saved",
            heading=marked("Settings"),
            fields=_TENANT_FIELDS,
        ),
        Form(
            name="delete",
            rpc="DeleteTenant",
            keys=("id",),
            button=marked("Delete tenant"),
            done="deleted",
            warning=marked("The tenant is deleted with everything in it. Nobody can undo this."),
            fields=(FormField("force", marked("Delete its users too")),),
            is_gone=True,
        ),
    ),
)
