"""Closed sets of values that several parts of the provider share."""

from enum import StrEnum


class GrantType(StrEnum):
    """RFC 6749 §4, RFC 7523 §2.1, RFC 8628 §3.4, RFC 8693 §2.1 and CIBA Core 1.0 §4, with the registered names."""

    AUTHORIZATION_CODE = "authorization_code"
    REFRESH_TOKEN = "refresh_token"  # noqa: S105  # the grant's name
    DEVICE_CODE = "urn:ietf:params:oauth:grant-type:device_code"
    CLIENT_CREDENTIALS = "client_credentials"
    TOKEN_EXCHANGE = "urn:ietf:params:oauth:grant-type:token-exchange"  # noqa: S105  # the grant's name
    JWT_BEARER = "urn:ietf:params:oauth:grant-type:jwt-bearer"
    CIBA = "urn:openid:params:grant-type:ciba"


LATER_GRANT_TYPES: frozenset[str] = frozenset(
    {GrantType.TOKEN_EXCHANGE, GrantType.JWT_BEARER, GrantType.CIBA}
)
"""Grants that the previous version does not know."""


class AuthenticationMethod(StrEnum):
    """Client authentication method at the token endpoint: OpenID Connect Core 1.0 §9, RFC 8705 §2."""

    NONE = "none"
    CLIENT_SECRET_BASIC = "client_secret_basic"  # noqa: S105  # the method's name
    CLIENT_SECRET_POST = "client_secret_post"  # noqa: S105  # the method's name
    PRIVATE_KEY_JWT = "private_key_jwt"
    TLS_CLIENT_AUTH = "tls_client_auth"
    SELF_SIGNED_TLS_CLIENT_AUTH = "self_signed_tls_client_auth"


SECRET_METHODS = frozenset(
    {AuthenticationMethod.CLIENT_SECRET_BASIC, AuthenticationMethod.CLIENT_SECRET_POST}
)

CERTIFICATE_METHODS = frozenset(
    {AuthenticationMethod.TLS_CLIENT_AUTH, AuthenticationMethod.SELF_SIGNED_TLS_CLIENT_AUTH}
)

KEY_METHODS = CERTIFICATE_METHODS | {AuthenticationMethod.PRIVATE_KEY_JWT}
"""Methods that prove a key: FAPI 2.0 Security Profile §5.3.2.1."""


class TokenDeliveryMode(StrEnum):
    """How a client learns that a user has decided: CIBA Core 1.0 §5."""

    POLL = "poll"
    PING = "ping"


class SecurityProfile(StrEnum):
    """Rules for a client as a whole: FAPI 2.0 Security Profile, FAPI 2.0 Message Signing.

    Each profile has the rules of those before it.
    """

    NONE = "none"
    FAPI_2 = "fapi2"
    FAPI_2_MESSAGE_SIGNING = "fapi2_message_signing"


class ConsentMode(StrEnum):
    """When users are asked for consent to a client: never, once, or always."""

    NEVER = "never"
    ONCE = "once"
    ALWAYS = "always"


class Permission(StrEnum):
    """A permission of a principal; each is also a scope to which a token can be narrowed."""

    PROCESS_DEPLOY = "process:deploy"
    PROCESS_DELETE = "process:delete"
    INSTANCE_CREATE = "instance:create"
    INSTANCE_CANCEL = "instance:cancel"
    INSTANCE_DELETE = "instance:delete"
    INSTANCE_MIGRATE = "instance:migrate"
    INSTANCE_MODIFY = "instance:modify"
    JOB_WORK = "job:work"
    TASK_WORK = "task:work"
    INCIDENT_RESOLVE = "incident:resolve"
    MESSAGE_PUBLISH = "message:publish"
    SIGNAL_BROADCAST = "signal:broadcast"
    VARIABLE_WRITE = "variable:write"
    VARIABLE_ERASE = "variable:erase"
    DOCUMENT_WRITE = "document:write"
    DOCUMENT_READ = "document:read"
    HISTORY_READ = "history:read"
    OPERATIONS_READ = "operations:read"
    AUDIT_READ = "audit:read"
    CLOCK_WRITE = "clock:write"
    IDENTITY_READ = "identity:read"
    IDENTITY_WRITE = "identity:write"


LATER_PERMISSIONS: frozenset[str] = frozenset(
    {
        Permission.PROCESS_DELETE,
        Permission.INSTANCE_DELETE,
        Permission.INSTANCE_MODIFY,
        Permission.TASK_WORK,
        Permission.MESSAGE_PUBLISH,
        Permission.SIGNAL_BROADCAST,
        Permission.VARIABLE_ERASE,
        Permission.DOCUMENT_WRITE,
        Permission.DOCUMENT_READ,
    }
)
"""Permissions that programs of the first format do not know."""


class Scope(StrEnum):
    """Scopes about users: OpenID Connect Core 1.0 §5.4, §11; `groups` is specific to this provider."""

    OPENID = "openid"
    PROFILE = "profile"
    EMAIL = "email"
    ADDRESS = "address"
    PHONE = "phone"
    GROUPS = "groups"
    OFFLINE_ACCESS = "offline_access"


BUILT_IN_SCOPES: tuple[str, ...] = (*Scope, *Permission)


class TokenType(StrEnum):
    """Scheme of an access token: RFC 6749 §7.1, RFC 9449 §5; also its claim `typ`."""

    BEARER = "Bearer"
    DPOP = "DPoP"


class SubjectType(StrEnum):
    """Kind of subject identifiers that a client gets: OpenID Connect Core 1.0 §8."""

    PUBLIC = "public"
    PAIRWISE = "pairwise"


class AccessTokenTyp(StrEnum):
    """Header `typ` of an access token: RFC 7519 §5.1, RFC 9068 §2.1."""

    JWT = "JWT"
    RFC_9068 = "at+jwt"


class FactorMethod(StrEnum):
    """A second factor of a user."""

    PASSKEY = "passkey"
    ONE_TIME_CODE = "one_time_code"
    RECOVERY_CODE = "recovery_code"
    EMAIL_CODE = "email_code"


class AuthenticationContext(StrEnum):
    """Strength of a sign-in, weakest first: OpenID Connect Core 1.0 §2 `acr`, OpenID EAP ACR Values 1.0 §4.

    `FEDERATED` is a sign-in at an upstream provider that reports one factor; it ranks with a password.
    """

    FEDERATED = "urn:gnomon:acr:fed"
    PASSWORD = "urn:gnomon:acr:pwd"  # noqa: S105  # a level's name
    SEVERAL_FACTORS = "urn:gnomon:acr:mfa"
    PHISHING_RESISTANT = "phr"
