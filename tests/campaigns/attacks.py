"""The attacks of a hostile tenant on a deployment, by name: models that it runs, bodies, searches and connections."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import partial
from itertools import count
from urllib.parse import urlsplit

from tests.campaigns import hostile_models as models
from tests.campaigns.api import NotAnswered, Refused, until_answered
from tests.campaigns.http_api import HttpApi
from tests.server.platform.http2.hostile import flood, hostile, window_update

# In one deployment of the attacker.
FILES = 100
# Connections of the attacker come from an address that no other client has.
ADDRESS = "127.0.0.2"
WINDOW_UPDATES = window_update() * 4_096
SLOW_SEARCH = {"filter": {"value": {"$like": "*f0f0*a1a1*zz*"}}}
PAUSE_SECONDS = 0.1
RECONNECTION_SECONDS = 1.0
VARIABLES_AT_ONCE = 1_000


@dataclass(frozen=True, slots=True)
class Size:
    """The numbers of an attack that lasts for `seconds`.

    Before it, so many `versions` are deployed and so many `variables` stored. `body` is in octets.
    """

    seconds: float = 30.0
    children: int = 4_000
    rules: int = 10_000
    versions: int = 5_000
    activations: int = 200
    bodies: int = 64
    body: int = 3_900_000
    searches: int = 30
    variables: int = 300_000
    items: int = 100_000
    connections: int = 2_000
    floods: int = 4


@dataclass(slots=True)
class Attacker:
    """`attempts` counts what was begun by attack. `grpc` is the target's port."""

    api: HttpApi
    grpc: int
    size: Size
    attempts: dict[str, int] = field(default_factory=dict)
    numbers: "count[int]" = field(default_factory=count)

    async def start(self, process_id: str, **variables: object) -> int:
        key = f"hostile-{next(self.numbers)}"
        return await self.api.start(process_id, idempotency_key=key, variables=variables)

    async def deploy(self, process_id: str, content: bytes) -> None:
        await until_answered(partial(self.api.deploy, f"{process_id}.bpmn", content))


Attempt = Callable[[Attacker], Awaitable[object]]


async def _nothing(_: Attacker) -> None:
    """Without a preparation."""


@dataclass(frozen=True, slots=True)
class Attack:
    """So many callers repeat one of the attempts each, in turns."""

    attempts: Sequence[Attempt]
    callers: Callable[[Size], int] = lambda _: 1
    prepare: Attempt = _nothing


@asynccontextmanager
async def under_attack(attacker: Attacker, names: Sequence[str]) -> AsyncIterator[None]:
    """The attacks run while the block does. Prepare them before."""
    running = [
        asyncio.ensure_future(_repeat(attacker, name, attack.attempts[caller % len(attack.attempts)]))
        for name, attack in ((name, ATTACKS[name]) for name in names)
        for caller in range(attack.callers(attacker.size))
    ]
    try:
        yield
    finally:
        for task in running:
            task.cancel()
        await asyncio.gather(*running, return_exceptions=True)


async def _repeat(attacker: Attacker, name: str, attempt: Attempt) -> None:
    while True:
        attacker.attempts[name] = attacker.attempts.get(name, 0) + 1
        try:
            await attempt(attacker)
        except (NotAnswered, OSError):
            await asyncio.sleep(PAUSE_SECONDS)
        except Refused:
            pass


async def _prepare_comprehensions(attacker: Attacker) -> None:
    await attacker.deploy(models.COMPREHENSIONS, models.comprehensions())


async def _prepare_expressions(attacker: Attacker) -> None:
    await attacker.deploy(models.EXPRESSIONS, models.expressions())


async def _prepare_fan_out(attacker: Attacker) -> None:
    await attacker.deploy(models.FAN_OUT, models.fan_out(attacker.size.children))


async def _prepare_versions(attacker: Attacker) -> None:
    for _ in range(0, attacker.size.versions, FILES):
        await until_answered(partial(_deploy_versions, attacker))


async def _prepare_large(attacker: Attacker) -> None:
    await attacker.deploy(models.LARGE, models.large())


async def _prepare_variables(attacker: Attacker) -> None:
    await attacker.deploy(models.LARGE, models.large())
    for first in range(0, attacker.size.variables, VARIABLES_AT_ONCE):
        some = {f"v{number}": f"f0f0 {number} a1a1" for number in range(first, first + VARIABLES_AT_ONCE)}
        await until_answered(partial(attacker.start, models.LARGE, **some))


async def _prepare_recursion(attacker: Attacker) -> None:
    await attacker.deploy(models.RECURSION, models.recursion())


async def _prepare_items(attacker: Attacker) -> None:
    await attacker.deploy(models.ITEMS, models.items(attacker.size.items))


async def _start_comprehensions(attacker: Attacker) -> None:
    await attacker.start(models.COMPREHENSIONS)


async def _start_expressions(attacker: Attacker) -> None:
    await attacker.start(models.EXPRESSIONS)


async def _fan_out_and_cancel(attacker: Attacker) -> None:
    await attacker.api.cancel(await attacker.start(models.FAN_OUT))


async def _deploy_versions(attacker: Attacker) -> None:
    await attacker.api.deploy_all(models.versions(next(attacker.numbers), FILES))


async def _deploy_rules(attacker: Attacker) -> None:
    content = models.rules(next(attacker.numbers), attacker.size.rules)
    await attacker.api.deploy(f"{models.RULES}.dmn", content)


async def _activate_nothing(attacker: Attacker) -> None:
    await attacker.api.activate("nothing", 1_000)


async def _send_large_body(attacker: Attacker) -> None:
    await attacker.start(models.LARGE, text="x" * attacker.size.body)


async def _activate_large(attacker: Attacker) -> None:
    await attacker.api.activate(models.LARGE, 64)


async def _search(attacker: Attacker) -> None:
    await attacker.api.ask("POST", "/v2/variables/search", SLOW_SEARCH)


async def _start_small(attacker: Attacker) -> None:
    await attacker.start(models.LARGE)


async def _recurse_and_cancel(attacker: Attacker) -> None:
    root = await attacker.start(models.RECURSION)
    await asyncio.sleep(1)
    await until_answered(partial(attacker.api.cancel, root))


async def _multiply_and_cancel(attacker: Attacker) -> None:
    root = await attacker.start(models.ITEMS)
    await asyncio.sleep(1)
    await until_answered(partial(attacker.api.cancel, root))


async def _hold_connection(attacker: Attacker) -> None:
    """Keep a connection as long as the server lets it live."""
    async with hostile(attacker.grpc, address=ADDRESS) as peer:
        await peer.reader.read()
    await asyncio.sleep(RECONNECTION_SECONDS)


async def _flood(attacker: Attacker) -> None:
    """Send frames that change nothing until the server closes the connection."""
    await flood(attacker.grpc, WINDOW_UPDATES, address=ADDRESS)


ATTACKS: Mapping[str, Attack] = {
    "comprehensions": Attack((_start_comprehensions,), prepare=_prepare_comprehensions),
    "expressions": Attack((_start_expressions,), prepare=_prepare_expressions),
    "wide instances, cancelled": Attack((_fan_out_and_cancel,), prepare=_prepare_fan_out),
    "versions": Attack((_deploy_versions,), prepare=_prepare_versions),
    "decision tables": Attack((_deploy_rules,)),
    "empty activations": Attack((_activate_nothing,), lambda size: size.activations),
    "large bodies": Attack((_send_large_body,), lambda size: size.bodies, _prepare_large),
    "activations of large instances": Attack(
        (_activate_large, _send_large_body), lambda _: 8, _prepare_large
    ),
    "slow searches beside keyed commands": Attack(
        (*[_search] * 15, _start_small), lambda size: size.searches + 2, _prepare_variables
    ),
    "recursion, cancelled": Attack((_recurse_and_cancel,), prepare=_prepare_recursion),
    "multi-instance, cancelled": Attack((_multiply_and_cancel,), prepare=_prepare_items),
    "idle gRPC connections": Attack((_hold_connection,), lambda size: size.connections),
    "floods of WINDOW_UPDATE": Attack((_flood,), lambda size: size.floods),
}


def port_of(target: str) -> int:
    """The port of a gRPC target `host:port`."""
    port = urlsplit(f"//{target}").port
    assert port is not None
    return port
