"""An upstream provider of a tenant."""

from dataclasses import dataclass, field
from enum import StrEnum

from identity.crypto.keys.master_keys import Sealed
from identity.foundation.vocabulary import AuthenticationMethod
from server.platform.records import Kind, Owner, Record


class ProviderType(StrEnum):
    """Product of the provider; it determines which sign-in hints the provider gets."""

    OIDC = "oidc"
    CUSTOM = "custom"
    GOOGLE = "google"
    GITHUB = "github"
    DIRECTORY = "directory"
    WORKSPACE = "workspace"
    SAML = "saml"


class SamlBinding(StrEnum):
    """How the browser transfers the authentication request: SAML 2.0 Bindings §3.4, §3.5."""

    REDIRECT = "redirect"
    POST = "post"


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimMapping:
    """Users whose claim equals `value`, or has it among its elements, get the roles and groups.

    Dots in `claim` separate the names of nested objects.
    """

    claim: str
    value: str
    roles: tuple[str, ...] = ()
    groups: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class SamlFields:
    """Settings of a SAML 2.0 identity provider.

    `certificates` are base64 of DER and carry the keys that it signs with; their dates and issuers do not matter. The
    attributes are names of SAML attributes, empty for none; without `subject_attribute` the NameID identifies the user.
    With `sends_logout` a sign-out here is a request to `single_logout_endpoint`. An empty `name_id_format` leaves the
    choice to the provider. With `vouches_for_email` the provider has verified the addresses that it asserts.
    """

    certificates: tuple[str, ...]
    binding: SamlBinding = SamlBinding.REDIRECT
    single_logout_endpoint: str = ""
    sends_logout: bool = False
    name_id_format: str = ""
    signs_requests: bool = True
    requires_encryption: bool = False
    clock_skew_secs: int = 60
    subject_attribute: str = ""
    email_attribute: str = ""
    given_name_attribute: str = ""
    family_name_attribute: str = ""
    vouches_for_email: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class UserinfoProfile:
    """Claims of a provider that issues no ID tokens: its userinfo identifies the user.

    Dots in a claim separate the names of nested objects; an empty one means none. `emails_endpoint` has a list of
    addresses with `primary` and `verified`, as GitHub does; with it the other claims about an address do not count.
    """

    subject_claim: str
    email_claim: str = ""
    email_verified_claim: str = ""
    given_name_claim: str = ""
    family_name_claim: str = ""
    emails_endpoint: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class SignedSecret:
    """Our client secret there is a JWT of ours, as Apple asks for; `team_id` is its issuer, `key_id` that of our key."""

    team_id: str
    key_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ProviderFields:
    """Settings of a provider by its administrators; an empty address means none.

    A SAML provider has its entity id as `issuer`, and its single sign-on service as `authorization_endpoint`. Its
    `client_id` is our entity id there, empty for the address of our metadata.

    With `posts_response` the browser posts the response of an OpenID provider. With `has_text_booleans` the text "true" in
    `email_verified` counts. With `signed_secret` the client secret is our private key, an EC P-256 one in PEM.

    A user whose `mfa_claim` equals `mfa_value` authenticated with several factors there.
    """

    name: str
    type: ProviderType
    is_enabled: bool
    issuer: str
    authorization_endpoint: str
    token_endpoint: str
    userinfo_endpoint: str = ""
    jwks_endpoint: str = ""
    client_id: str
    token_endpoint_auth_method: AuthenticationMethod
    oauth_scopes: tuple[str, ...]
    forwards_sign_in_hints: bool = True
    workspace_domain: str = ""
    onboards: bool = False
    links: bool = False
    mappings: tuple[ClaimMapping, ...] = ()
    mfa_claim: str = ""
    mfa_value: str = ""
    saml: SamlFields | None = None
    posts_response: bool = False
    has_text_booleans: bool = False
    profile: UserinfoProfile | None = None
    signed_secret: SignedSecret | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Provider(Record):
    """`client_secret` is our client secret there; `image_id` is the id of its uploaded image, empty without one.

    For a SAML provider `saml_key` is our private key, and `saml_certificate` the certificate of it, base64 of DER.
    """

    fields: ProviderFields
    client_secret: Sealed | None = field(default=None, repr=False)
    image_id: str = ""
    saml_key: Sealed | None = field(default=None, repr=False)
    saml_certificate: str = ""

    @property
    def name(self) -> str:
        return self.fields.name

    @property
    def is_enabled(self) -> bool:
        return self.signs_people_in

    @property
    def signs_people_in(self) -> bool:
        # Without its keys no ID token and no assertion can be verified.
        has_keys = bool(
            self.fields.jwks_endpoint if self.fields.saml is None else self.fields.saml.certificates
        )
        return self.fields.is_enabled and (has_keys or self.fields.profile is not None)


PROVIDERS = Kind(Provider, "provider", owners=())


@dataclass(frozen=True, slots=True, kw_only=True)
class ProviderLink(Record):
    """A link from a user at a provider to an account; `id` consists of the provider's id and the `sub`."""

    provider_id: str
    user_id: str


def link_id_of(provider: Provider, sub: str) -> str:
    """Return the id of the link of a provider's user."""
    return f"{provider.id} {sub}"


PROVIDER_LINKS = Kind(
    ProviderLink,
    "provider_link",
    indexed=("provider_id", "user_id"),
    owners=(
        Owner("provider", "provider_id"),
        Owner("user", "user_id"),
    ),
)
