"""Closed sets of words that several parts of the provider share."""

from enum import StrEnum


class GrantType(StrEnum):
    """RFC 6749 §4, with the registered names."""

    CLIENT_CREDENTIALS = "client_credentials"


class AuthenticationMethod(StrEnum):
    """How a client proves who it is at the token endpoint: OpenID Connect Core 1.0 §9."""

    NONE = "none"
    CLIENT_SECRET_BASIC = "client_secret_basic"  # noqa: S105  # the method's name
    CLIENT_SECRET_POST = "client_secret_post"  # noqa: S105  # the method's name


class Permission(StrEnum):
    """What a principal may do; each is also a scope that narrows a token to it."""

    PROCESS_DEPLOY = "process:deploy"
    INSTANCE_CREATE = "instance:create"
    INSTANCE_CANCEL = "instance:cancel"
    INSTANCE_MIGRATE = "instance:migrate"
    JOB_WORK = "job:work"
    INCIDENT_RESOLVE = "incident:resolve"
    VARIABLE_WRITE = "variable:write"
    HISTORY_READ = "history:read"
    OPERATIONS_READ = "operations:read"
    AUDIT_READ = "audit:read"
    CLOCK_WRITE = "clock:write"
    IDENTITY_READ = "identity:read"
    IDENTITY_WRITE = "identity:write"
