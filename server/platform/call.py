"""One call on its way to a servicer, with the facts that interceptors found about its caller."""

from collections.abc import Iterable, Mapping
from contextlib import AbstractAsyncContextManager, nullcontext
from dataclasses import dataclass, field
from datetime import datetime
from typing import NamedTuple, NewType, Protocol

from google.protobuf.message import Message

from server.platform.open_calls import OpenCalls
from server.platform.peer import UNKNOWN, Peer
from server.platform.policy import Policy

TenantId = NewType("TenantId", str)

AUTHORIZATION = "authorization"
TENANT = "x-tenant-id"
REQUEST_ID = "x-request-id"
IDEMPOTENCY_KEY = "idempotency-key"
# Facts about a browser or client, as an edge saw them; the metadata of other peers is ignored.
SESSIONS = "x-browser-sessions"
CSRF_TOKEN = "x-csrf-token"  # noqa: S105  # the name of its metadata
BROWSER_ADDRESS = "x-browser-address"
# The browser shows a total up to a bound only: set by the console for its own pages.
BOUNDED_TOTAL = "x-bounded-total"
# The client's TLS certificate: DER in base64.
CLIENT_CERTIFICATE = "x-client-certificate"

MAX_IDEMPOTENCY_KEY = 200

# Kinds of actor in the audit log.
CLIENT = "CLIENT"
USER = "USER"


ANY_RESOURCE = "*"


class Grant(NamedTuple):
    """A permission type that an authorization grants on one resource, or on all resources of a type."""

    resource_type: str
    permission_type: str
    resource_id: str


@dataclass(frozen=True, slots=True)
class Principal:
    """The caller: the subject of a token or session, with its tenants and permissions from the directory.

    `issuing_tenant_id` is the tenant whose provider issued the token or session. `grants` come from
    authorizations. They open operations whose permission is in `oauth_scopes`, or all operations when
    `oauth_scopes` is None. `acting` is the user who acts as the subject, such as a support person; empty if the
    subject acts. `depends_on` are ids in the directory: a change of one of them may change or end the principal.
    It ends at `expires_at` at the latest, or never if that is None.
    """

    subject: str
    tenant_ids: frozenset[TenantId]
    permissions: frozenset[str]
    is_person: bool = False
    issuing_tenant_id: TenantId = TenantId("")
    grants: frozenset[Grant] = frozenset()
    oauth_scopes: frozenset[str] | None = None
    acting: str = ""
    depends_on: frozenset[str] = frozenset()
    expires_at: datetime | None = None

    @property
    def actor_id(self) -> str:
        """The caller in the audit log, with the user who acts as the caller."""
        return f"{self.acting} as {self.subject}" if self.acting else self.subject

    @property
    def actor_type(self) -> str:
        """The caller's kind in the audit log."""
        return USER if self.is_person else CLIENT


ANONYMOUS = Principal("anonymous", frozenset(), frozenset())


class RowReceiver(Protocol):
    """Takes the rows of a response's items in place of messages. It converts them at once: rows change later."""

    def receive(self, kind: type, rows: Iterable[object]) -> None: ...


@dataclass(slots=True)
class Call:
    """A call, filled in by the interceptors and read by the servicer.

    `time_remaining` is in seconds, or None when the caller set no deadline. Calls between services of one
    process come with their `principal`. `is_submitted` is set once a partition has the command: from then on
    the partition writes the audit entry, whatever the outcome. `rows` is set if the caller is in this process
    and can do without messages of a search's items. `open_calls` are those of the process, None where calls have
    no credentials.
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
    rows: RowReceiver | None = None
    open_calls: OpenCalls | None = None

    async def waiting(self) -> AbstractAsyncContextManager[None]:
        """Return the block in which the servicer waits on behalf of the caller; it ends with the caller's credential.

        Raises ServiceError if the credential has ended already.
        """
        if self.open_calls is None or not self.principal.depends_on:
            return nullcontext()
        return await self.open_calls.still(self)

    @property
    def idempotency_key(self) -> str | None:
        return self.metadata.get(IDEMPOTENCY_KEY)
