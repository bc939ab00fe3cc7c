"""One call on its way to a servicer, with what the interceptors found out about its caller."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple, NewType

from google.protobuf.message import Message

from server.platform.peer import UNKNOWN, Peer
from server.platform.policy import Policy

TenantId = NewType("TenantId", str)

AUTHORIZATION = "authorization"
TENANT = "x-tenant-id"
REQUEST_ID = "x-request-id"
IDEMPOTENCY_KEY = "idempotency-key"
# What an edge saw of a browser or a client; from other peers it counts for nothing.
SESSIONS = "x-browser-sessions"
CSRF_TOKEN = "x-csrf-token"  # noqa: S105  # the name of its metadata
BROWSER_ADDRESS = "x-browser-address"
# The certificate of the client's connection, in base64 of DER.
CLIENT_CERTIFICATE = "x-client-certificate"

MAX_IDEMPOTENCY_KEY = 200

# Kinds of actors in the audit log.
CLIENT = "CLIENT"
USER = "USER"


ANY_RESOURCE = "*"


class Grant(NamedTuple):
    """A permission type on a resource, or on all of the type, that an authorization gives."""

    resource_type: str
    permission_type: str
    resource_id: str


@dataclass(frozen=True, slots=True)
class Principal:
    """The caller: the subject of a token or a session, with the tenants and permissions that the directory gives it.

    `issuing_tenant_id` is the tenant whose provider knows the subject. `grants` are those of authorizations; they open
    operations whose permission is in `oauth_scopes`, or all operations when that is None.
    """

    subject: str
    tenant_ids: frozenset[TenantId]
    permissions: frozenset[str]
    is_person: bool = False
    issuing_tenant_id: TenantId = TenantId("")
    grants: frozenset[Grant] = frozenset()
    oauth_scopes: frozenset[str] | None = None

    @property
    def actor_type(self) -> str:
        """Its name in the audit log."""
        return USER if self.is_person else CLIENT


ANONYMOUS = Principal("anonymous", frozenset(), frozenset())


@dataclass(slots=True)
class Call:
    """Filled in by the interceptors, read by the servicer.

    `time_remaining` is in seconds, None when the caller set no deadline; `principal` is preset on calls between
    services of one process. `is_submitted` is set once a partition has the command: from then on the partition keeps
    the audit entry, whatever becomes of it.
    """

    policy: Policy
    request: Message
    metadata: Mapping[str, str]
    time_remaining: float | None = None
    principal: Principal = ANONYMOUS
    peer: Peer = UNKNOWN
    tenant_id: TenantId = field(default=TenantId(""))
    request_id: str = ""
    is_submitted: bool = False

    @property
    def idempotency_key(self) -> str | None:
        return self.metadata.get(IDEMPOTENCY_KEY)
