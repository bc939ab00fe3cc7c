"""Revocations of all kinds, and how each interface of two nodes refuses what was revoked.

Two server processes over one PostgreSQL keep the result of a token's check for ten minutes, so that only the
announcement of the revocation explains a refusal. A person signs in, the person's token is used at each interface of
both nodes, and streams, long polls and a live page of the console stay open on both. Then one revocation happens on the
first node.

Cells without a meaning are absent from `EXPECTED`: a revoked token, a reused refresh token and a client end no session
of the provider, so the console stays open; the administration API accepts no token of a support person at all.
"""

import asyncio
from base64 import urlsafe_b64encode
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from contextlib import ExitStack, asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import grpc
import httpx

from gnomon.engine.v1 import job_service_pb2 as job_pb
from gnomon.engine.v1 import process_instance_service_pb2 as instance_pb
from gnomon.engine.v1.job_service_pb2_grpc import JobServiceStub
from gnomon.engine.v1.process_instance_service_pb2_grpc import ProcessInstanceServiceStub
from gnomon.gateway_protocol import gateway_pb2 as zeebe_pb
from gnomon.gateway_protocol.gateway_pb2_grpc import GatewayStub
from server.bpmn.builder import process
from tests.campaigns.ports import kept_port
from tests.durable import new_database
from tests.end_to_end.servers import PLAIN
from tests.people.person import Person
from tests.server_process import Addresses, server_process

# Less than the ten minutes of a cached check, and long enough for a busy machine.
PATIENCE_SECONDS = 30.0
LONG_POLL_MILLISECONDS = 120_000
PASSWORD = "correct horse battery staple"
REDIRECT_URI = "https://app.example.com/callback"
VERIFIER = "v" * 43
SECRET = "s3cret-of-the-application"
PERMISSIONS = ("history:read", "job:work", "audit:read", "identity:read")
# Support acts as no user with a right of administration.
OTHER_ROLES = {
    "support": ("identity:read", "identity:write"),
    "member": ("history:read", "job:work", "audit:read"),
}
DISABLED_TENANT, DELETED_TENANT = "disabled-tenant", "deleted-tenant"
IMPERSONATION = "impersonation withdrawn"
# Applications of the tests by id, with the tenants where their users sign in.
APPLICATIONS = {
    "app": "default",
    "app-disabled": "default",
    "app-deleted": "default",
    "app-of-disabled": DISABLED_TENANT,
    "app-of-deleted": DELETED_TENANT,
}
TENANT_OF = {"disabled tenant": DISABLED_TENANT, "deleted tenant": DELETED_TENANT}
SCOPES = ", ".join(f'"{scope}"' for scope in ("openid", *PERMISSIONS))
CLIENTS = "".join(
    f"""
[[bootstrap.clients]]
id = "{client_id}"
secret = "{SECRET}"
tenants = ["{tenant}"]
redirect_uris = ["{REDIRECT_URI}"]
scopes = [{SCOPES}]
"""
    for client_id, tenant in APPLICATIONS.items()
)

CONFIGURATION = f"""
[bootstrap]
client_id = "service"
client_secret = "service-secret"
admin_password = "administrator"
tenants = ["{DISABLED_TENANT}", "{DELETED_TENANT}"]

[[bootstrap.clients]]
id = "everywhere"
secret = "everywhere-secret"
tenants = ["default", "{DISABLED_TENANT}", "{DELETED_TENANT}"]
permissions = ["process:deploy", "instance:create", "job:work", "identity:read", "identity:write", "history:read", "audit:read"]

{CLIENTS}
[pow]
difficulty = 10

[passwords]
memory_kib = 64
iterations = 1
lanes = 1

[access]
admission_seconds = 600
"""


class Outcome(StrEnum):
    ADMITTED = "admitted"
    UNAUTHENTICATED = "unauthenticated"
    FORBIDDEN = "forbidden"
    GONE = "gone"


HTTP = {
    200: Outcome.ADMITTED,
    401: Outcome.UNAUTHENTICATED,
    403: Outcome.FORBIDDEN,
    404: Outcome.GONE,
}
GRPC = {
    grpc.StatusCode.OK: Outcome.ADMITTED,
    grpc.StatusCode.UNAUTHENTICATED: Outcome.UNAUTHENTICATED,
    grpc.StatusCode.PERMISSION_DENIED: Outcome.FORBIDDEN,
    grpc.StatusCode.NOT_FOUND: Outcome.GONE,
}
Cell = tuple[str, int]
"""An interface, and the number of a node: the first makes the revocation."""
Cells = dict[Cell, Outcome]


@dataclass
class Deployment:
    """Two nodes; `admin` is the administration API at the first one, as a client with all rights."""

    nodes: tuple[Addresses, Addresses]
    issuer: str
    admin: httpx.Client

    def administer(self, method: str, path: str, **content: Any) -> Any:
        answer = self.admin.request(method, path, **content)
        assert answer.is_success, (method, path, answer.status_code, answer.text)
        return answer.json() if answer.content else None


@dataclass
class Victim:
    """A person with a browser and tokens of a client; `tenant` is empty for the default one.

    A support person acts as the user `helped`.
    """

    deployment: Deployment
    email: str
    user_id: str
    client_id: str = "app"
    tenant: str = ""
    person: Person = field(init=False)
    tokens: dict[str, str] = field(init=False)
    helped: "Victim | None" = None

    @cached_property
    def process_key(self) -> str:
        """Of the process in the tenant."""
        found = self.deployment.administer(
            "POST",
            "/v2/process-definitions/search",
            json={},
            headers={"x-tenant-id": self.tenant or "default"},
        )
        return str(found["items"][0]["processDefinitionKey"])

    @property
    def path(self) -> str:
        """The path of the person's provider."""
        return f"/auth/v1/{self.tenant}/" if self.tenant else "/auth/v1/"

    @property
    def headers(self) -> dict[str, str]:
        return {
            "authorization": f"Bearer {self.tokens['access_token']}",
            "x-tenant-id": self.tenant or "default",
        }

    @property
    def cookies(self) -> str:
        return "; ".join(f"{cookie.name}={cookie.value}" for cookie in self.person.browser.cookies)

    def sign_in(self) -> None:
        self.person = Person(f"{self.deployment.nodes[0].http}{self.path}", self.email, PASSWORD)
        self.take_tokens()

    def take_tokens(self) -> None:
        """Sign in, unless the browser is signed in, and get tokens of the client."""
        challenge = urlsafe_b64encode(sha256(VERIFIER.encode()).digest()).decode().rstrip("=")
        parameters = {
            "response_type": "code",
            "client_id": self.client_id,
            "redirect_uri": REDIRECT_URI,
            "scope": " ".join(("openid", *PERMISSIONS)),
            "nonce": "n",
            "code_challenge": challenge,
            "code_challenge_method": "S256",
        }
        arrival = self.person.sign_in(f"{self.person.issuer}oidc/authorize?{urlencode(parameters)}")
        assert "code" in arrival.parameters, arrival
        self.tokens = self.ask_for_tokens(
            grant_type="authorization_code",
            code=arrival.parameters["code"],
            redirect_uri=REDIRECT_URI,
            code_verifier=VERIFIER,
        ).json()

    def ask_for_tokens(self, **form: str) -> httpx.Response:
        return self.post("oidc/token", form)

    def post(self, path: str, form: Mapping[str, str]) -> httpx.Response:
        own = {"client_id": self.client_id, "client_secret": SECRET}
        address = f"{self.deployment.nodes[0].http}{self.path}{path}"
        return httpx.post(address, data=own | form, verify=PLAIN)

    def send(self, method: str, path: str, **body: object) -> Any:
        """Send a request of a page of the provider, with the browser's session."""
        proof = {"x-csrf-token": str(self.person.session()["csrf_token"])}
        answer = self.person.browser.request(
            method, f"{self.person.issuer}{path}", json=body, headers=proof, timeout=PATIENCE_SECONDS
        )
        assert answer.ok, (method, path, answer.status_code, answer.text)
        return answer


@contextmanager
def deployed(postgres_dsn: str, folder: Path) -> Iterator[Deployment]:
    """Two nodes in a database of their own; the folder has their files."""
    file = folder / "gnomon.toml"
    file.write_text(CONFIGURATION)
    dsn = asyncio.run(new_database(postgres_dsn, "revocations"))
    port = kept_port("localhost")
    with ExitStack() as stack:
        nodes = [
            stack.enter_context(
                server_process(
                    *("--mode", "cluster", "--config", str(file)),
                    environment=_environment(folder, dsn, number, {1: port}.get(number, 0), port),
                )
            )
            for number in (1, 2)
        ]
        form = {"grant_type": "client_credentials", "client_id": "everywhere"}
        token = httpx.post(
            f"{nodes[0].http}/auth/v1/oidc/token",
            data=form | {"client_secret": "everywhere-secret"},
            verify=PLAIN,
        ).raise_for_status()
        headers = {"authorization": f"Bearer {token.json()['access_token']}"}
        admin = stack.enter_context(
            httpx.Client(base_url=nodes[0].http, headers=headers, verify=PLAIN, timeout=PATIENCE_SECONDS)
        )
        found = Deployment((nodes[0], nodes[1]), f"{nodes[0].http}/auth/v1/", admin)
        _prepare(found)
        yield found


def _environment(folder: Path, dsn: str, number: int, port: int, public: int) -> Mapping[str, str]:
    return {
        "GNOMON_DATABASE__DSN": dsn,
        "GNOMON_CLUSTER__SECRET": "shared by the nodes of a test",
        "GNOMON_CLUSTER__NODE_ID": f"node-{number}",
        "GNOMON_CLUSTER__PARTITIONS": "2",
        "GNOMON_CLUSTER__PORT": "0",
        "GNOMON_ENCRYPTION__KEY_FILE": str(folder / "keys"),
        "GNOMON_IDENTITY__PUBLIC_URL": f"localhost:{public}",
        "GNOMON_IDENTITY__SCHEME": "http",
        "GNOMON_EDGE__PORT": str(port),
    }


def _prepare(found: Deployment) -> None:
    """Create the role that gives the permissions, and a process whose instances choose the type of their job."""
    for role, permissions in OTHER_ROLES.items():
        found.administer("POST", "/auth/v1/roles", json={"role": role, "permissions": permissions})
    settings = {"sign_in": {"support_role": "support"}, "registration": {}, "clients": {}}
    found.administer("PUT", "/auth/v1/tenants/default/settings", json=settings)
    for path in ("/auth/v1/", *(f"/auth/v1/{tenant}/" for tenant in TENANT_OF.values())):
        found.administer("POST", f"{path}roles", json={"role": "staff", "permissions": PERMISSIONS})
    content = process("revocable").start().service_task("task", type="=type").end().to_xml()
    for tenant in ("default", *TENANT_OF.values()):
        found.administer(
            "POST",
            "/v2/deployments",
            files={"resources": ("revocable.bpmn", content)},
            headers={"x-tenant-id": tenant},
        )


def victim_of(
    deployment: Deployment,
    name: str,
    client_id: str = "app",
    tenant: str = "",
    roles: tuple[str, ...] = ("staff",),
) -> Victim:
    """Create a user with these roles, who signs in."""
    made = {
        "email": f"{name}@example.com",
        "language": "en",
        "roles": roles,
        "groups": [],
        "password": PASSWORD,
    }
    path = f"/auth/v1/{tenant}/users" if tenant else "/auth/v1/users"
    user = deployment.administer("POST", path, json=made)
    victim = Victim(deployment, made["email"], user["id"], client_id, tenant)
    victim.sign_in()
    return victim


def support_of(deployment: Deployment) -> Victim:
    """Create a support person, who acts as a user that allowed it."""
    alice = victim_of(deployment, "alice", roles=("member",))
    sam = victim_of(deployment, "sam", roles=("support",))
    alice.send("PUT", f"users/{alice.user_id}/support_access", hours=1)
    sam.send("POST", f"users/{alice.user_id}/impersonation", reason="Ticket 4711: the list is empty")
    sam.take_tokens()
    sam.helped = alice
    return sam


# Requests at an interface of a node, which are admitted or refused at once.

Ask = Callable[[Victim, Addresses], Awaitable[Outcome]]


def _http(method: str, path: str, **content: Any) -> Ask:
    async def ask(victim: Victim, node: Addresses) -> Outcome:
        async with httpx.AsyncClient(base_url=node.http, headers=victim.headers, verify=PLAIN) as client:
            answer = await client.request(
                method, path.format(tenant=victim.path, key=victim.process_key), **content
            )
        return HTTP[answer.status_code]

    return ask


async def _grpc(victim: Victim, node: Addresses) -> Outcome:
    async with grpc.aio.insecure_channel(node.grpc) as channel:
        call = ProcessInstanceServiceStub(channel).SearchProcessInstances(
            instance_pb.SearchProcessInstancesRequest(), metadata=tuple(victim.headers.items())
        )
        return GRPC[await call.code()]


async def _gateway(victim: Victim, node: Addresses) -> Outcome:
    async with grpc.aio.insecure_channel(node.grpc) as channel:
        call = GatewayStub(channel).ActivateJobs(
            zeebe_pb.ActivateJobsRequest(
                type="no job of this type", worker="w", timeout=1000, maxJobsToActivate=1, requestTimeout=-1
            ),
            metadata=tuple(victim.headers.items()),
        )
        return GRPC[await call.code()]


ASKED: Mapping[str, Ask] = {
    "/v2": _http("POST", "/v2/process-instances/search", json={}),
    "/v1": _http("GET", "/v1/audit-log"),
    "/api/v1": _http("GET", "/api/v1/history/process-definitions/{key}/flow-node-statistics"),
    "/auth/v1": _http("GET", "{tenant}groups"),
    "gRPC": _grpc,
    "gateway": _gateway,
}


# Calls that stay open: `opened` is set when the server has admitted one, and the result is how it ended.

Stay = Callable[[Victim, Addresses, asyncio.Event, str], Awaitable[Outcome]]


async def _job_stream(victim: Victim, node: Addresses, opened: asyncio.Event, job_type: str) -> Outcome:
    async with grpc.aio.insecure_channel(node.grpc) as channel:
        call = JobServiceStub(channel).StreamActivatedJobs(
            job_pb.StreamActivatedJobsRequest(type=job_type, worker="w", timeout=600_000),
            metadata=tuple(victim.headers.items()),
        )
        return await _read(call, opened)


async def _gateway_stream(victim: Victim, node: Addresses, opened: asyncio.Event, job_type: str) -> Outcome:
    async with grpc.aio.insecure_channel(node.grpc) as channel:
        call = GatewayStub(channel).StreamActivatedJobs(
            zeebe_pb.StreamActivatedJobsRequest(
                type=job_type, worker="w", timeout=600_000, tenantIds=[victim.tenant or "default"]
            ),
            metadata=tuple(victim.headers.items()),
        )
        return await _read(call, opened)


async def _read(call: Any, opened: asyncio.Event) -> Outcome:
    with suppress(grpc.aio.AioRpcError):
        async for _ in call:
            opened.set()
    return GRPC[await call.code()]


async def _long_poll(victim: Victim, node: Addresses, opened: asyncio.Event, _job_type: str) -> Outcome:
    request = {
        "type": "no job of this type",
        "timeout": 600_000,
        "maxJobsToActivate": 1,
        "requestTimeout": LONG_POLL_MILLISECONDS,
    }
    async with httpx.AsyncClient(
        base_url=node.http, headers=victim.headers, verify=PLAIN, timeout=PATIENCE_SECONDS * 2
    ) as client:
        asked = asyncio.ensure_future(client.post("/v2/jobs/activation", json=request))
        opened.set()
        return HTTP[(await asked).status_code]


async def _live_page(victim: Victim, node: Addresses, opened: asyncio.Event, _job_type: str) -> Outcome:
    """The stream of a page that shows a process; when it ends, the browser asks whether it may go on."""
    headers = {"cookie": victim.cookies, "accept": "text/event-stream"}
    path = f"/console/{victim.tenant or 'default'}/processes/{victim.process_key}/live"
    async with httpx.AsyncClient(
        base_url=node.http, headers=headers, verify=PLAIN, timeout=PATIENCE_SECONDS * 2
    ) as client:
        with suppress(httpx.RemoteProtocolError, httpx.ReadError):
            async with client.stream("GET", path) as answer:
                assert answer.status_code == 200, answer.status_code
                async for _ in answer.aiter_bytes():
                    opened.set()
        again = await client.get(path, headers={"accept": "application/json"})
    return Outcome.FORBIDDEN if again.status_code == 403 else Outcome.UNAUTHENTICATED


STAYING: Mapping[str, Stay] = {
    "job stream": _job_stream,
    "gateway stream": _gateway_stream,
    "long poll": _long_poll,
    "console": _live_page,
}
STREAMS = {"job stream", "gateway stream"}


# Revocations.


def _revoke_token(victim: Victim) -> None:
    victim.post("oidc/token/revoke", {"token": victim.tokens["access_token"]}).raise_for_status()


def _reuse_refresh_token(victim: Victim) -> None:
    """Use the first refresh token again after its successor was used."""
    first = token = victim.tokens["refresh_token"]
    for _ in range(2):
        answer = victim.ask_for_tokens(grant_type="refresh_token", refresh_token=token).raise_for_status()
        token = answer.json()["refresh_token"]
    assert victim.ask_for_tokens(grant_type="refresh_token", refresh_token=first).status_code == 400


def _patch_user(victim: Victim, **members: object) -> None:
    change = {"put": [{"key": key, "value": value} for key, value in members.items()]}
    victim.deployment.administer("PATCH", f"/auth/v1/users/{victim.user_id}", json=change)


def _change_password(victim: Victim) -> None:
    _patch_user(victim, password=f"{PASSWORD} and another")


def _sign_out_by_force(victim: Victim) -> None:
    victim.deployment.administer("DELETE", f"/auth/v1/sessions/{victim.user_id}")


def _end_session(victim: Victim) -> None:
    """Sign out at the provider."""
    form = {"csrf_token": str(victim.person.session()["csrf_token"])}
    victim.person.browser.post(
        f"{victim.person.issuer}oidc/logout", data=form, timeout=PATIENCE_SECONDS
    ).raise_for_status()


def _disable_user(victim: Victim) -> None:
    _patch_user(victim, enabled=False)


def _delete_user(victim: Victim) -> None:
    victim.deployment.administer("DELETE", f"/auth/v1/users/{victim.user_id}")


def _disable_client(victim: Victim) -> None:
    path = f"/auth/v1/clients/{victim.client_id}"
    client = victim.deployment.administer("GET", path)
    victim.deployment.administer("PUT", path, json=client | {"enabled": False})


def _delete_client(victim: Victim) -> None:
    victim.deployment.administer("DELETE", f"/auth/v1/clients/{victim.client_id}")


def _disable_tenant(victim: Victim) -> None:
    victim.deployment.administer("PUT", f"/auth/v1/tenants/{victim.tenant}", json={"enabled": False})


def _delete_tenant(victim: Victim) -> None:
    victim.deployment.administer("DELETE", f"/auth/v1/tenants/{victim.tenant}?force=true")


def _take_role(victim: Victim) -> None:
    _patch_user(victim, roles=[])


def _withdraw_support(victim: Victim) -> None:
    alice = victim.helped
    assert alice is not None
    alice.send("DELETE", f"users/{alice.user_id}/support_access")


REVOCATIONS: Mapping[str, Callable[[Victim], None]] = {
    "RFC 7009": _revoke_token,
    "refresh token reuse": _reuse_refresh_token,
    "password change": _change_password,
    "forced sign-out": _sign_out_by_force,
    "end of session": _end_session,
    "disabled user": _disable_user,
    "deleted user": _delete_user,
    "disabled client": _disable_client,
    "deleted client": _delete_client,
    "disabled tenant": _disable_tenant,
    "deleted tenant": _delete_tenant,
    "role taken away": _take_role,
    IMPERSONATION: _withdraw_support,
}
CLIENT_OF = {
    "disabled client": "app-disabled",
    "deleted client": "app-deleted",
    "disabled tenant": "app-of-disabled",
    "deleted tenant": "app-of-deleted",
}
# These leave the browser's session alone.
OF_TOKENS = {"RFC 7009", "refresh token reuse", "disabled client", "deleted client"}


def expected(revocation: str) -> Cells:
    outcome = Outcome.FORBIDDEN if revocation == "role taken away" else Outcome.UNAUTHENTICATED
    interfaces = dict.fromkeys((*ASKED, *STAYING), outcome)
    if revocation in OF_TOKENS:
        del interfaces["console"]
    if revocation == IMPERSONATION:
        del interfaces["/auth/v1"]
    if revocation in TENANT_OF:
        # Nothing is served below the address of such a tenant's provider.
        interfaces["/auth/v1"] = Outcome.GONE
    return {(name, node): outcome for name, outcome in interfaces.items() for node in (1, 2)}


@dataclass(frozen=True, slots=True)
class Refusals:
    """Outcomes before a revocation and at last, with seconds since its answer.

    `admitted` are those at which the last request that was admitted was sent, or an open call ended; 0 for none.
    `refused` are those at which the first refusal arrived, so with the time that a request takes.
    """

    before: Cells
    after: Cells
    admitted: Mapping[Cell, float]
    refused: Mapping[Cell, float]


@dataclass(frozen=True, slots=True)
class Seen:
    """The outcome of a request or call, when it arrived, and when the last request with another outcome was sent."""

    outcome: Outcome
    arrived: float
    other_sent: float = 0.0


async def refusals_of(deployment: Deployment, revocation: str) -> Refusals:
    """Let somebody use all interfaces of both nodes, and revoke what they accept."""
    clock = asyncio.get_running_loop().time
    victim = _victim_of(deployment, revocation)
    cells, name = expected(revocation), revocation.replace(" ", "-").lower()
    async with opened(victim, name, cells) as staying:
        before = await outcomes(victim, dict.fromkeys(cells, Outcome.ADMITTED))
        REVOCATIONS[revocation](victim)
        revoked = clock()
        after = await outcomes(victim, cells)
        after |= {cell: await task for cell, task in staying.items()}
    return Refusals(
        {cell: seen.outcome for cell, seen in before.items()},
        {cell: seen.outcome for cell, seen in after.items()},
        {cell: max(0.0, seen.other_sent - revoked) for cell, seen in after.items()},
        {cell: max(0.0, seen.arrived - revoked) for cell, seen in after.items()},
    )


def _victim_of(deployment: Deployment, revocation: str) -> Victim:
    if revocation == IMPERSONATION:
        return support_of(deployment)
    client_id = CLIENT_OF.get(revocation, "app")
    name = revocation.replace(" ", "-").lower()
    return victim_of(deployment, name, client_id, TENANT_OF.get(revocation, ""))


async def outcomes(victim: Victim, cells: Cells) -> dict[Cell, Seen]:
    """Return the outcome of each request: the first one that is expected, or the last of all."""
    clock = asyncio.get_running_loop().time

    async def outcome(surface: str, node: int) -> Seen:
        end, other_sent = clock() + PATIENCE_SECONDS, 0.0
        while True:
            sent = clock()
            found = await ASKED[surface](victim, victim.deployment.nodes[node - 1])
            if found is cells[surface, node] or clock() > end:
                return Seen(found, clock(), other_sent)
            other_sent = sent

    asked = [cell for cell in cells if cell[0] in ASKED]
    return dict(zip(asked, await asyncio.gather(*(outcome(*cell) for cell in asked)), strict=True))


async def _ended(stay: Awaitable[Outcome]) -> Seen:
    """How an open call ended: the partitions of a deleted tenant may end it before its credential does."""
    outcome = await asyncio.wait_for(stay, PATIENCE_SECONDS * 2)
    if outcome is Outcome.GONE:
        outcome = Outcome.UNAUTHENTICATED
    now = asyncio.get_running_loop().time()
    return Seen(outcome, now, now)


@asynccontextmanager
async def opened(victim: Victim, name: str, cells: Cells) -> AsyncIterator[dict[Cell, "asyncio.Task[Seen]"]]:
    """Calls that stay open, each of them admitted; a stream has read a job. The result is how and when one ended."""
    staying: dict[Cell, asyncio.Task[Seen]] = {}
    events: dict[Cell, asyncio.Event] = {}
    for cell in sorted(cell for cell in cells if cell[0] in STAYING):
        surface, node = cell
        events[cell], job_type = asyncio.Event(), f"{name} {surface} {node}"
        if surface in STREAMS:
            victim.deployment.administer(
                "POST",
                "/v2/process-instances",
                json={"processDefinitionId": "revocable", "variables": {"type": job_type}},
                headers={"x-tenant-id": victim.tenant or "default"},
            )
        stay = STAYING[surface](victim, victim.deployment.nodes[node - 1], events[cell], job_type)
        staying[cell] = asyncio.ensure_future(_ended(stay))
    try:
        for cell, event in events.items():
            is_open = asyncio.ensure_future(event.wait())
            await asyncio.wait((is_open, staying[cell]), return_when=asyncio.FIRST_COMPLETED)
            is_open.cancel()
            assert not staying[cell].done(), (cell, await staying[cell])
        yield staying
    finally:
        for task in staying.values():
            task.cancel()
        await asyncio.gather(*staying.values(), return_exceptions=True)
