"""Tenants, clients and users are removed while nodes and PostgreSQL fail: nothing of them is left, and others lose nothing."""

import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, suppress
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
FREE_SECONDS = 120.0
KNOWN_SECONDS = 20.0
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
            )
        )
        token = await token_of(deployment.edges[0])
        api = await stack.enter_async_context(connected(deployment.edges, token, tenant_id="default"))
        await deploy(api, (JOBS,))
        campaign = Campaign(
            deployment, api, report.book, data=data, dsn=dsn, token=token, dice=dice, tasks=tasks
        )
        await report.collect(rounds, campaign.round)
        report.rounds.append(await campaign.end(second_passes=second_passes))
    return report


class Campaign:
    """`data` is where the database is; `removed` are the ids of removed owners and the values of variables of removed tenants."""

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
    ) -> None:
        self.deployment = deployment
        self.api = api
        self.book = book
        self.data = data
        self.dsn = dsn
        self.token = token
        self.dice = dice
        self.tasks = tasks
        self.removed: set[str] = set()
        self.tenants: set[str] = set()
        self.successors: list[asyncio.Task[Sequence[str]]] = []

    async def round(self, number: int) -> Round:
        """Remove owners during a strike, and have successors looked at while further rounds run."""
        strike = list(STRIKES)[number % len(STRIKES)]
        tenants = [f"removed-tenant-{number}-{each}" for each in range(TENANTS)]
        clients = [f"removed-client-{number}-{each}" for each in range(CLIENTS)]
        loop = asyncio.get_running_loop()
        async with under_load(self.api, self.book, f"{number}", LOAD):
            for tenant_id in tenants:
                await self.have_tenant(tenant_id)
                await self.use(tenant_id, f"former-of-{tenant_id}")
            for client_id in clients:
                await self.have_client(client_id)
            users = [await self.have_user(f"removed-user-{number}-{each}") for each in range(USERS)]
            self.removed |= {*tenants, *clients, *users}
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
            self.successors += [self.tasks.create_task(self.succeed_tenant(each)) for each in tenants]
            self.successors += [self.tasks.create_task(self.succeed_client(each)) for each in clients]
        found = [each for task in early for each in task.result()]
        return Round(strike, seconds, found)

    async def end(self, *, second_passes: bool) -> Round:
        """Wait for all removals, and look at everything."""
        loop = asyncio.get_running_loop()
        begun = loop.time()
        found = [each for some in await asyncio.gather(*self.successors) for each in some]
        found += [
            f"the removal of {each} did not end" for each in self.tenants if not await self.is_free(each)
        ]
        connection = await asyncpg.connect(self.dsn)
        try:
            if second_passes:
                async with asyncio.timeout(FREE_SECONDS):
                    while await connection.fetchval("SELECT count(*) FROM identity.removal"):  # noqa: ASYNC110  # a table says it
                        await asyncio.sleep(LOOK_SECONDS)
            found += await self.left(
                connection, but=MAY_NAME_REMOVED if second_passes else MAY_NAME_REMOVED | {SECOND_PASSES}
            )
        finally:
            await connection.close()
        return Round("the end", loop.time() - begun, [*found, *await counted(self.dsn, self.book)])

    async def left(self, connection: asyncpg.Connection, but: frozenset[str]) -> Sequence[str]:
        """Which tables name something that was removed."""
        text = """
            SELECT table_schema, table_name FROM information_schema.tables
            WHERE table_type = 'BASE TABLE' AND table_schema IN ('identity', 'gnomon', 'history')
        """
        found = []
        words = [form for each in sorted(self.removed) for form in (each, each.encode().hex())]
        for schema, table in await connection.fetch(text):
            if table in but:
                continue
            condition = "tenant_id <> 'default'" if table.startswith(LOGS) else "true"
            rows = await connection.fetch(
                f"""
                SELECT word, count(*) FROM {schema}."{table}" AS held, unnest($1::text[]) AS word
                WHERE {condition} AND strpos(held::text, word) > 0 GROUP BY word
                """,  # noqa: S608  # the database's own names
                words,
            )
            found += [f"{count} rows of {schema}.{table} name {word}" for word, count in rows]
        return found

    async def ask(
        self, method: str, path: str, body: Json | None = None, tenant_id: str = "default"
    ) -> Answer:
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

    async def answered(self, api: HttpApi, path: str, body: Json) -> Answer:
        """Any answer of a node that knows that the caller may act in the tenant."""

        async def attempt() -> Answer:
            answer = await api.ask("POST", path, body)
            if answer.status == FORBIDDEN:
                raise Refused(answer.body.decode())
            return answer

        return await self.admitted(attempt)

    async def expect(self, method: str, path: str, body: Json | None = None, *, also: int = CONFLICT) -> None:
        """A repeated request may find what an unanswered one did."""
        answer = await self.ask(method, path, body)
        if not answer.is_success and answer.status != also:
            raise Refused(f"{method} {path}: {answer.status} {answer.body.decode()}")

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
        client = {"id": "own", "confidential": True, "redirect_uris": ["http://localhost/"]}
        async with asyncio.timeout(KNOWN_SECONDS):
            # Another node may have created it; one that was paused needs a moment to know.
            while (await self.ask("PUT", f"/v2/tenants/{tenant_id}/clients/demo")).status == MISSING:  # noqa: ASYNC110  # a request says it
                await asyncio.sleep(LOOK_SECONDS)
            while (await self.ask("POST", f"/auth/v1/{tenant_id}/clients", client)).status == MISSING:  # noqa: ASYNC110  # a request says it
                await asyncio.sleep(LOOK_SECONDS)

    async def use(self, tenant_id: str, marker: str) -> None:
        """Let the tenant have instances with jobs, timers and subscriptions, messages and a user."""
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
        user = {"email": f"{marker}@example.com", "language": "en", "roles": []}
        await self.expect("POST", f"/auth/v1/{tenant_id}/users", user, also=400)

    async def have_client(self, client_id: str) -> None:
        client = {"id": client_id, "confidential": True, "redirect_uris": ["http://localhost/"]}
        await self.expect("POST", "/auth/v1/clients", client)
        await self.authorize("CLIENT", client_id)

    async def have_user(self, name: str) -> str:
        """Its id."""
        answer = await self.ask(
            "POST", "/auth/v1/users", {"email": f"{name}@example.com", "language": "en", "roles": []}
        )
        if not answer.is_success:
            raise Refused(f"{name}: {answer.status} {answer.body.decode()}")
        await self.authorize("USER", f"{name}@example.com")
        self.removed.add(name)
        return str(json.loads(answer.body)["id"])

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

    async def created_again(self, path: str, body: Json) -> bool:
        """Return when the id can be used again, False when that takes too long."""
        with suppress(TimeoutError):
            async with asyncio.timeout(FREE_SECONDS):
                while not (answer := await self.ask("POST", path, body)).is_success:
                    if answer.status != CONFLICT:
                        raise Refused(f"{path}: {answer.status} {answer.body.decode()}")
                    await asyncio.sleep(LOOK_SECONDS)
                return True
        return False

    async def succeed_tenant(self, tenant_id: str) -> Sequence[str]:
        """Look with the successor's eyes for what its predecessor had, then remove it as well."""
        if not await self.created_again("/v2/tenants", {"tenantId": tenant_id, "name": "successor"}):
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
            marker = f"successor-of-{tenant_id}"
            await self.use(tenant_id, marker)
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
        await self.delete(f"/auth/v1/tenants/{tenant_id}?force=true", 0)
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
        client = {"id": client_id, "confidential": True, "redirect_uris": ["http://localhost/"]}
        if not await self.created_again("/auth/v1/clients", client):
            return [f"{client_id} was not created again within {FREE_SECONDS:g} s"]
        about = {"filter": {"ownerId": client_id, "ownerType": "CLIENT"}}
        held = json.loads((await self.ask("POST", "/v2/authorizations/search", about)).body)["items"]
        await self.delete(f"/auth/v1/clients/{client_id}", 0)
        return [f"{client_id} inherited {each}" for each in held]

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
