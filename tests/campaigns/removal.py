"""Tenants, clients and users are removed while nodes and PostgreSQL fail: nothing of them is left, and others lose nothing."""

import asyncio
import json
from collections import defaultdict
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, suppress
from dataclasses import replace
from pathlib import Path
from typing import TypeVar
from urllib.parse import parse_qs, urlsplit

import asyncpg

from server.bpmn.builder import process
from server.platform.postgres.bundled import bundled_server
from server.platform.postgres.config import DatabaseConfig
from tests.campaigns.api import Refused, until_answered
from tests.campaigns.book import Book
from tests.campaigns.bundled import killed
from tests.campaigns.checks import counted
from tests.campaigns.cluster import through
from tests.campaigns.credentials import (
    PASSWORD,
    REDIRECT_URI,
    Client,
    Credential,
    CredentialType,
    credentials_of_client,
    credentials_of_person,
)
from tests.campaigns.dice import Dice
from tests.campaigns.http_api import Answer, HttpApi, Json, connected
from tests.campaigns.load import Size, deploy, under_load
from tests.campaigns.model import JOBS
from tests.campaigns.nodes import LEASE_SECONDS, Cluster, Node, cluster
from tests.campaigns.proxy import to_socket
from tests.campaigns.report import Report, Round
from tests.campaigns.sign_in import token_of
from tests.postgres import open_directory, server_process

T = TypeVar("T")

PARTITIONS = 4
NODES, EDGES = 2, 2
TENANTS, CLIENTS, USERS = 2, 2, 2  # that a round removes
INSTANCES = 6  # of each tenant
FEWEST_BEFORE, MOST_BEFORE = 20, 100
LOAD = Size(starters=3, workers=2, most_open=20)
STRIKE_SECONDS = 2 * LEASE_SECONDS
FREE_SECONDS = 300.0
KNOWN_SECONDS = 60.0
NOT_ADMITTED = "may not act in tenant"
LOOK_SECONDS = 0.5
CONFLICT, FORBIDDEN, MISSING = 409, 403, 404

ORDER = (
    process("order").parallel_gateway("fork")
    .service_task("charge", type="charge").end()
    .branch("fork").timer_catch("wait", duration="PT1H").end()
    .branch("fork").timer_catch("soon", duration="PT8S").service_task("later", type="later").end()
    .branch("fork").message_catch("paid", message="paid", key="=reference").end()
    .to_xml()
)  # fmt: skip
SEARCHES = (
    *("process-instances", "element-instances", "jobs", "variables", "incidents", "user-tasks"),
    *("process-definitions", "decision-definitions", "message-subscriptions", "cluster-variables"),
    *("batch-operations", "audit-logs"),
)
# The version of the directory names the latest changes. The logs of the default tenant tell who was removed.
MAY_NAME_REMOVED = frozenset({"directory_version"})
LOGS = ("audit_entry", "event")
SECOND_PASSES = "removal"
SETTINGS = {
    # Longer than a campaign.
    "GNOMON_TOKEN__ACCESS_TOKEN_LIFETIME_SECS": "86400",
    # The persons are programs in Python.
    "GNOMON_POW__DIFFICULTY": "10",
}
PROVIDER = "/auth/v1/"
GRANTS = ("authorization_code", "refresh_token", "client_credentials")
DEFAULT = "default"
# A client and a person that nobody removes.
LASTING, LASTING_PERSON = "lasting", "lasting@example.com"


async def run(rounds: int, seed: str, *, second_passes: bool = True) -> Report:
    """Strike in turns; look for what is left at the end, with `second_passes` after these."""
    report, dice = Report("removal", seed, Book(), measure="s to answer all deletions"), Dice(seed)
    async with AsyncExitStack() as stack:
        data, directory = stack.enter_context(open_directory()), stack.enter_context(open_directory())
        postgres = stack.enter_context(bundled_server(DatabaseConfig(data_directory=data)))
        dsn = postgres.dsn
        socket = Path(parse_qs(urlsplit(dsn).query)["host"][0]) / ".s.PGSQL.5432"
        tasks = await stack.enter_async_context(asyncio.TaskGroup())
        keeper = tasks.create_task(postgres.server.keep_running())
        stack.callback(keeper.cancel)
        deployment = await stack.enter_async_context(
            cluster(
                to_socket(str(socket)),
                lambda proxy: through(dsn, proxy),
                logs=report.logs,
                keys=directory / "master-keys",
                partitions=PARTITIONS,
                nodes=NODES,
                edges=EDGES,
                more=SETTINGS,
            )
        )
        token = await token_of(deployment.edges[0])
        api = await stack.enter_async_context(connected(deployment.edges, token, tenant_id=DEFAULT))
        await deploy(api, (JOBS,))
        campaign = Campaign(
            deployment,
            api,
            report.book,
            data=data,
            dsn=dsn,
            token=token,
            dice=dice,
            tasks=tasks,
            second_passes=second_passes,
        )
        await campaign.begin()
        await report.collect(rounds, campaign.round)
        report.rounds.append(await campaign.end())
    return report


class Campaign:
    """`data` is where the database is; `removed` are the ids of removed owners and texts in the data of removed tenants.

    `credentials` are those of removed owners, and of the lasting ones; `documents` are those of tenants.
    """

    def __init__(
        self,
        deployment: Cluster,
        api: HttpApi,
        book: Book,
        *,
        data: Path,
        dsn: str,
        token: str,
        dice: Dice,
        tasks: asyncio.TaskGroup,
        second_passes: bool,
    ) -> None:
        self.deployment = deployment
        self.api = api
        self.book = book
        self.data = data
        self.dsn = dsn
        self.token = token
        self.dice = dice
        self.tasks = tasks
        self.second_passes = second_passes
        self.removed: set[str] = set()
        self.tenants: set[str] = set()
        self.credentials: defaultdict[str, list[Credential]] = defaultdict(list)
        self.documents: defaultdict[str, list[str]] = defaultdict(list)
        self.url = deployment.edges[0]
        self.successors: list[asyncio.Task[Sequence[str]]] = []

    async def begin(self) -> None:
        """Create what lasts: a client, a person who signs in there, and a document."""
        self.person = await self.have_user(LASTING_PERSON)
        self.client = await self.have_client(LASTING)
        await self.hold(
            LASTING,
            *await credentials_of_client(self.url, self.client),
            *await credentials_of_person(self.url, self.client, LASTING_PERSON),
        )
        self.documents[DEFAULT].append(await until_answered(lambda: self.api.store(LASTING, b"lasting")))

    async def round(self, number: int) -> Round:
        """Remove owners during a strike, and have successors looked at while further rounds run."""
        strike = list(STRIKES)[number % len(STRIKES)]
        tenants = [f"removed-tenant-{number}-{each}" for each in range(TENANTS)]
        clients = [f"removed-client-{number}-{each}" for each in range(CLIENTS)]
        emails = [f"removed-user-{number}-{each}@example.com" for each in range(USERS)]
        loop = asyncio.get_running_loop()
        async with under_load(self.api, self.book, f"{number}", LOAD):
            for tenant_id in tenants:
                await self.have_tenant(tenant_id)
                await self.use(tenant_id, f"former-of-{tenant_id}")
            for client_id in clients:
                await self.use_client(client_id)
                await self.authorize("CLIENT", client_id)
            users = [await self.have_user(each) for each in emails]
            for email in emails:
                await self.hold(email, *await credentials_of_person(self.url, self.client, email))
                await self.authorize("USER", email)
            self.removed |= {*tenants, *clients, *users, *emails}
            await self.book.more(self.dice.between(FEWEST_BEFORE, MOST_BEFORE))
            begun = loop.time()
            async with asyncio.TaskGroup() as tasks:
                tasks.create_task(STRIKES[strike](self, self.dice.choice(self.deployment.nodes)))
                early = [tasks.create_task(self.remove_tenant(each)) for each in tenants]
                for path in (
                    *(f"/auth/v1/users/{each}" for each in users),
                    *(f"/auth/v1/clients/{each}" for each in clients),
                ):
                    tasks.create_task(self.delete(path, after=self.dice.between(0, 1_500) / 1_000))
            seconds = loop.time() - begun
            self.successors += [
                self.tasks.create_task(succession)
                for succession in (
                    *map(self.succeed_tenant, tenants),
                    *map(self.succeed_client, clients),
                    *map(self.succeed_user, emails),
                )
            ]
        found = [each for task in early for each in task.result()]
        return Round(strike, seconds, found)

    async def end(self) -> Round:
        """Wait for all removals, and look at everything."""
        loop = asyncio.get_running_loop()
        begun = loop.time()
        found = [each for some in await asyncio.gather(*self.successors) for each in some]
        found += [
            f"the removal of {each} did not end" for each in self.tenants if not await self.is_free(each)
        ]
        connection = await asyncpg.connect(self.dsn)
        try:
            if self.second_passes:
                async with asyncio.timeout(FREE_SECONDS):
                    while await connection.fetchval("SELECT count(*) FROM identity.removal"):  # noqa: ASYNC110  # a table says it
                        await asyncio.sleep(LOOK_SECONDS)
            found += await self.left(
                connection, but=MAY_NAME_REMOVED if self.second_passes else MAY_NAME_REMOVED | {SECOND_PASSES}
            )
        finally:
            await connection.close()
        found += await self.lost()
        return Round("the end", loop.time() - begun, [*found, *await counted(self.dsn, self.book)])

    async def lost(self) -> Sequence[str]:
        """Credentials of removed owners that a node accepts, and what others lack."""
        lasting = self.credentials.pop(LASTING)
        nodes = [*self.deployment.edges, *(each.http for each in self.deployment.nodes)]
        found = [
            f"{url} accepts the {each}"
            for some in self.credentials.values()
            for each in some
            for url in nodes
            if await each.is_accepted(url)
        ]
        # A refresh token can be used once.
        found += [
            f"{url} does not accept the {each}"
            for each in lasting
            for url in (nodes[:1] if each.type is CredentialType.REFRESH_TOKEN else nodes)
            if not await each.is_accepted(url)
        ]
        return found + [
            f"document {each} is lost"
            for each in self.documents[DEFAULT]
            if not (await self.ask("GET", f"/v2/documents/{each}")).is_success
        ]

    async def left(self, connection: asyncpg.Connection, but: frozenset[str]) -> Sequence[str]:
        """Which tables name something that was removed."""
        text = """
            SELECT table_schema, table_name FROM information_schema.tables
            WHERE table_type = 'BASE TABLE' AND table_schema IN ('identity', 'gnomon', 'history')
        """
        # A session of somebody else names the clients that got tokens in it, until it ends.
        but_person = {"session": f"user_id <> '{self.person}'"}
        found = []
        words = [form for each in sorted(self.removed) for form in (each, each.encode().hex())]
        for schema, table in await connection.fetch(text):
            if table in but:
                continue
            condition = "tenant_id <> 'default'" if table.startswith(LOGS) else but_person.get(table, "true")
            rows = await connection.fetch(
                f"""
                SELECT word, count(*) FROM {schema}."{table}" AS held, unnest($1::text[]) AS word
                WHERE {condition} AND strpos(held::text, word) > 0 GROUP BY word
                """,  # noqa: S608  # the database's own names
                words,
            )
            found += [f"{count} rows of {schema}.{table} name {word}" for word, count in rows]
        return found

    async def ask(self, method: str, path: str, body: Json | None = None, tenant_id: str = DEFAULT) -> Answer:
        async with connected(
            self.deployment.edges, self.token, tenant_id=tenant_id, attempt_seconds=25
        ) as api:
            return await until_answered(lambda: api.ask(method, path, body))

    async def admitted(self, attempt: Callable[[], Awaitable[T]]) -> T:
        """Repeat the attempt while a node does not know yet that the caller may act in the tenant, for a while."""
        clock = asyncio.get_running_loop().time
        until = clock() + KNOWN_SECONDS
        while True:
            try:
                return await until_answered(attempt)
            except Refused as refusal:
                if NOT_ADMITTED not in str(refusal) or clock() > until:
                    raise
            await asyncio.sleep(LOOK_SECONDS)

    async def answered(
        self, api: HttpApi, path: str, body: Json | None = None, *, method: str = "POST"
    ) -> Answer:
        """Any answer of a node that knows that the caller may act in the tenant."""

        async def attempt() -> Answer:
            answer = await api.ask(method, path, body)
            if answer.status == FORBIDDEN:
                raise Refused(answer.body.decode())
            return answer

        return await self.admitted(attempt)

    async def expect(self, method: str, path: str, body: Json | None = None, *, also: int = CONFLICT) -> None:
        """A repeated request may find what an unanswered one did."""
        answer = await self.ask(method, path, body)
        if not answer.is_success and answer.status != also:
            raise Refused(f"{method} {path}: {answer.status} {answer.body.decode()}")

    async def known(self, method: str, path: str, body: Json | None = None) -> Json:
        """Ask until the node that answers knows what another one has created; raises Refused and TimeoutError."""
        async with asyncio.timeout(KNOWN_SECONDS):
            while (answer := await self.ask(method, path, body)).status == MISSING:  # noqa: ASYNC110  # a request says it
                await asyncio.sleep(LOOK_SECONDS)
        if not answer.is_success and answer.status != CONFLICT:
            raise Refused(f"{method} {path}: {answer.status} {answer.body.decode()}")
        return dict(json.loads(answer.body)) if answer.body else {}

    async def delete(self, path: str, after: float) -> None:
        await asyncio.sleep(after)
        await self.expect("DELETE", path, also=MISSING)

    async def remove_tenant(self, tenant_id: str) -> Sequence[str]:
        """Its id is not free at once, because earlier calls may still be under way."""
        await self.delete(f"/auth/v1/tenants/{tenant_id}?force=true", self.dice.between(0, 1_500) / 1_000)
        answer = await self.ask("POST", "/v2/tenants", {"tenantId": tenant_id, "name": "early"})
        return [] if answer.status == CONFLICT else [f"{tenant_id} was free at once: {answer}"]

    async def have_tenant(self, tenant_id: str) -> None:
        await self.expect("POST", "/v2/tenants", {"tenantId": tenant_id, "name": tenant_id})
        await self.admit(tenant_id)

    async def admit(self, tenant_id: str) -> None:
        await self.known("PUT", f"/v2/tenants/{tenant_id}/clients/demo")

    async def use(self, tenant_id: str, marker: str) -> None:
        """Let the tenant have instances with jobs, timers and subscriptions, messages, a document, a client and a user."""
        self.removed.add(marker)
        self.tenants.add(tenant_id)
        async with connected(self.deployment.edges, self.token, tenant_id=tenant_id) as api:
            await self.admitted(lambda: api.deploy("order.bpmn", ORDER))
            for number in range(INSTANCES):
                key = f"{marker}-{number}"
                await self.admitted(lambda key=key: api.start("order", idempotency_key=key))
                await self.admitted(
                    lambda key=key: api.publish("paid", f"{key}-waiting", idempotency_key=f"m-{key}")
                )
            document_id = await self.admitted(lambda: api.store(marker, marker.encode()))
        self.documents[tenant_id].append(document_id)
        client = await self.have_client("own", f"{PROVIDER}{tenant_id}/")
        await self.expect("POST", f"{client.path}users", _user(f"{marker}@example.com"), also=400)
        await self.hold(
            tenant_id,
            *await credentials_of_client(self.url, client),
            *await credentials_of_person(self.url, client, f"{marker}@example.com"),
        )

    async def use_client(self, client_id: str) -> Client:
        """Let a client get tokens, its own and those of a person, whose session is not the client's."""
        client = await self.have_client(client_id)
        session, *tokens = await credentials_of_person(self.url, client, LASTING_PERSON)
        await self.hold(LASTING, session)
        await self.hold(client_id, *tokens, *await credentials_of_client(self.url, client))
        return client

    async def have_client(self, client_id: str, path: str = PROVIDER) -> Client:
        """It has each of the grants; created if it is not there."""
        await self.known("POST", f"{path}clients", _client(client_id))
        settings = await self.known("GET", f"{path}clients/{client_id}")
        await self.known("PUT", f"{path}clients/{client_id}", {**settings, "flows_enabled": GRANTS})
        rotated = await self.known("PUT", f"{path}clients/{client_id}/secret")
        return Client(path, client_id, str(rotated["secret"]))

    async def have_user(self, email: str) -> str:
        """Its id."""
        return str((await self.known("POST", f"{PROVIDER}users", _user(email)))["id"])

    async def hold(self, owner: str, *credentials: Credential) -> None:
        """Keep credentials in mind that every edge accepts. A refresh token could be used only once."""
        async with asyncio.timeout(KNOWN_SECONDS):
            for each in credentials:
                for url in self.deployment.edges:
                    while each.type is not CredentialType.REFRESH_TOKEN and not await each.is_accepted(url):  # noqa: ASYNC110  # a request says it
                        await asyncio.sleep(LOOK_SECONDS)
        self.credentials[owner] += credentials

    async def accepted(self, former: Sequence[Credential]) -> Sequence[str]:
        """Credentials of a predecessor that an edge accepts; a node that was struck may need a moment to know."""
        cached = [each for each in former if each.type is not CredentialType.REFRESH_TOKEN]
        with suppress(TimeoutError):
            async with asyncio.timeout(KNOWN_SECONDS):
                while await self._accepted(cached):  # noqa: ASYNC110  # requests say it
                    await asyncio.sleep(LOOK_SECONDS)
        return await self._accepted(former)

    async def _accepted(self, former: Sequence[Credential]) -> Sequence[str]:
        return [
            f"{url} accepts the {each} of a predecessor"
            for each in former
            for url in self.deployment.edges
            if await each.is_accepted(url)
        ]

    async def authorize(self, owner_type: str, owner_id: str) -> None:
        granted = {
            "ownerId": owner_id,
            "ownerType": owner_type,
            "resourceId": "*",
            "resourceType": "PROCESS_DEFINITION",
            "permissionTypes": ["READ_PROCESS_INSTANCE"],
        }
        await self.expect("POST", "/v2/authorizations", granted)

    async def is_free(self, tenant_id: str) -> bool:
        """Return when there is nothing under the tenant's id, False when that takes too long."""
        with suppress(TimeoutError):
            async with asyncio.timeout(FREE_SECONDS):
                while (await self.ask("GET", f"/auth/v1/tenants/{tenant_id}")).status != MISSING:  # noqa: ASYNC110  # a request says it
                    await asyncio.sleep(LOOK_SECONDS)
                return True
        return False

    async def created_again(self, path: str, body: Json) -> Json | None:
        """Return the answer when the id can be used again, None when that takes too long."""
        with suppress(TimeoutError):
            async with asyncio.timeout(FREE_SECONDS):
                while not (answer := await self.ask("POST", path, body)).is_success:
                    if answer.status != CONFLICT:
                        raise Refused(f"{path}: {answer.status} {answer.body.decode()}")
                    await asyncio.sleep(LOOK_SECONDS)
                return dict(json.loads(answer.body))
        return None

    async def succeed_tenant(self, tenant_id: str) -> Sequence[str]:
        """Look with the successor's eyes for what its predecessor had, then remove it as well."""
        former, documents = self.credentials[tenant_id][:], self.documents[tenant_id][:]
        if await self.created_again("/v2/tenants", {"tenantId": tenant_id, "name": "successor"}) is None:
            return [f"{tenant_id} was not created again within {FREE_SECONDS:g} s"]
        found = [
            f"{tenant_id} has the predecessor's {each}"
            for each in await self.seen_by(tenant_id, "clients", "users")
        ]
        await self.admit(tenant_id)
        async with connected(self.deployment.edges, self.token, tenant_id=tenant_id) as api:
            for kind in SEARCHES:
                answer = await self.answered(api, f"/v2/{kind}/search", {})
                items = json.loads(answer.body)["items"] if answer.is_success else [answer]
                found += [f"{tenant_id} finds in {kind}: {each}" for each in items if _is_former(each)]
            for job_type in ("charge", "later"):
                jobs = await self.admitted(lambda job_type=job_type: api.activate(job_type, 50))
                found += [f"{tenant_id} activates {job}" for job in jobs]
            for document_id in documents:
                answer = await self.answered(api, f"/v2/documents/{document_id}", method="GET")
                found += [f"{tenant_id} reads {document_id}: {answer}"] * (answer.status != MISSING)
            await self.use(tenant_id, f"successor-of-{tenant_id}")
            own = self.credentials[tenant_id][-1].client
            found += await self.accepted([*former, *_with_secret_of(own, former)])
            found += await self.fired(tenant_id, api)
        await self.delete(f"/auth/v1/tenants/{tenant_id}?force=true", 0)
        return found

    async def fired(self, tenant_id: str, api: HttpApi) -> Sequence[str]:
        """What instances of a predecessor do to those of the successor."""
        found = []
        # A subscription of the predecessor had this key, and a message that it had buffered the next one.
        body = {"name": "paid", "correlationKey": f"former-of-{tenant_id}-0"}
        answer = await self.answered(api, "/v2/messages/correlation", body)
        if answer.status != MISSING:
            found.append(f"{tenant_id} correlates with {answer.body.decode()}")
        waiting = f"former-of-{tenant_id}-0-waiting"
        key = await self.admitted(lambda: api.start("order", idempotency_key=waiting))
        about = {"filter": {"processInstanceKey": str(key), "elementId": "paid"}}
        answer = await self.answered(api, "/v2/element-instances/search", about)
        states = [each["state"] for each in json.loads(answer.body)["items"]]
        if states != ["ACTIVE"]:
            found.append(f"{tenant_id} did not wait for a message, its predecessor's was there: {states}")
        definitions = json.loads((await self.answered(api, "/v2/process-definitions/search", {})).body)
        found += [f"{tenant_id} deployed {each}" for each in definitions["items"] if each["version"] != 1]
        return found

    async def seen_by(self, tenant_id: str, *kinds: str) -> Sequence[str]:
        answers = [(kind, await self.ask("GET", f"/auth/v1/{tenant_id}/{kind}")) for kind in kinds]
        return [
            f"{kind}: {answer.body.decode()}"
            for kind, answer in answers
            if "former-of" in answer.body.decode() or '"own"' in answer.body.decode()
        ]

    async def succeed_client(self, client_id: str) -> Sequence[str]:
        """The same for a client, which has no authorization before it gets one."""
        former = self.credentials[client_id][:]
        if await self.created_again(f"{PROVIDER}clients", _client(client_id)) is None:
            return [f"{client_id} was not created again within {FREE_SECONDS:g} s"]
        found = [*await self.inherited("CLIENT", client_id), *await self.accepted(former)]
        client = await self.use_client(client_id)
        found += await self.accepted([*former, *_with_secret_of(client, former)])
        await self.delete(f"{PROVIDER}clients/{client_id}", 0)
        return found

    async def succeed_user(self, email: str) -> Sequence[str]:
        """The same for a person with the same address."""
        former = self.credentials[email][:]
        user = await self.created_again(f"{PROVIDER}users", _user(email))
        if user is None:
            return [f"{email} was not created again within {FREE_SECONDS:g} s"]
        self.removed.add(str(user["id"]))
        found = [*await self.inherited("USER", email), *await self.accepted(former)]
        await self.hold(email, *await credentials_of_person(self.url, self.client, email))
        await self.delete(f"{PROVIDER}users/{user['id']}", 0)
        return found

    async def inherited(self, owner_type: str, owner_id: str) -> Sequence[str]:
        about = {"filter": {"ownerId": owner_id, "ownerType": owner_type}}
        held = json.loads((await self.ask("POST", "/v2/authorizations/search", about)).body)["items"]
        return [f"{owner_id} inherited {each}" for each in held]

    async def kill(self, node: Node) -> None:
        await node.kill()
        await asyncio.sleep(self.dice.between(0, int(STRIKE_SECONDS)))
        await node.start()

    async def kill_postgres(self, _: Node) -> None:
        """Another task starts it again."""
        await killed([server_process(self.data)])

    async def pause(self, node: Node) -> None:
        """It sleeps past its lease."""
        node.pause()
        await asyncio.sleep(STRIKE_SECONDS)
        node.wake()

    async def cut_from_database(self, node: Node) -> None:
        node.cut_from_database()
        await asyncio.sleep(STRIKE_SECONDS)
        node.mend()


def _client(client_id: str) -> Json:
    return {"id": client_id, "confidential": True, "redirect_uris": [REDIRECT_URI]}


def _user(email: str) -> Json:
    return {"email": email, "language": "en", "roles": [], "groups": [], "password": PASSWORD}


def _with_secret_of(client: Client, former: Sequence[Credential]) -> Sequence[Credential]:
    """Refresh tokens of a predecessor, used by its successor."""
    return [replace(each, client=client) for each in former if each.type is CredentialType.REFRESH_TOKEN]


def _is_former(item: object) -> bool:
    """Only the log of a tenant may have entries of its successor's creation."""
    return "former-of" in str(item) or not isinstance(item, Mapping) or "auditLogKey" not in item


# Each returns when what it struck is back, or will be by itself.
STRIKES: Mapping[str, Callable[[Campaign, Node], Awaitable[None]]] = {
    "PostgreSQL killed": Campaign.kill_postgres,
    "node killed": Campaign.kill,
    "node paused": Campaign.pause,
    "node cut off from the database": Campaign.cut_from_database,
}
