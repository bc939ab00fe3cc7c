"""A server of each mode with tenants that own something of every kind."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import grpc
import httpx
import pytest

from server.platform.policy import Mode
from tests.end_to_end.conftest import started
from tests.end_to_end.servers import CONFIGURATION, Server
from tests.end_to_end.tenancy.tenants import NEWCOMER, OWNER, STRANGER, Tenants
from tests.end_to_end.tenancy.world import POLICIES, furnish, principal


@pytest.fixture(scope="session")
def configuration(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("server") / "gnomon.toml"
    configured = CONFIGURATION.replace('tenants = ["other"]', f'tenants = ["{STRANGER}", "{NEWCOMER}"]', 1)
    file.write_text(configured + _client("visitor", OWNER, STRANGER) + _client("newcomer", NEWCOMER))
    return file


def _client(client: str, *tenants: str) -> str:
    permissions = sorted({policy.permission for policy in POLICIES.values()} - {""})
    return f"""
[[bootstrap.clients]]
id = "{client}"
secret = "{client}-secret"
tenants = {list(tenants)}
permissions = {permissions}
"""


@pytest.fixture(scope="session")
def embedded_tenants(configuration: Path) -> Iterator[Tenants]:
    with started(Mode.EMBEDDED, configuration, {}) as server, _furnished(server) as tenants:
        yield tenants


@pytest.fixture(scope="session")
def bundled_tenants(configuration: Path) -> Iterator[Tenants]:
    with started(Mode.BUNDLED, configuration, {}) as server, _furnished(server) as tenants:
        yield tenants


@pytest.fixture
def tenants(request: pytest.FixtureRequest, mode: Mode) -> Tenants:
    """Those of the mode; a server of their own, because what other tests do there would be a change, too."""
    found: Tenants = request.getfixturevalue(f"{mode}_tenants")
    return found


@contextmanager
def _furnished(server: Server) -> Iterator[Tenants]:
    with grpc.insecure_channel(server.grpc) as channel:
        owner, stranger = (principal(server, channel, name) for name in ("service", "stranger"))
        owned, own = furnish(owner, OWNER, server.mode), furnish(stranger, STRANGER, server.mode)
        owned = {**owned, "user_id": _user_id(server, "service", "", owned["username"])}
        own = {**own, "user_id": _user_id(server, "stranger", f"/{STRANGER}", own["username"])}
        visitor = principal(server, channel, "visitor").naming(STRANGER)
        newcomer = principal(server, channel, "newcomer")
        tenants = Tenants(server.mode, owner, owned, stranger, own, visitor, newcomer)
        assert tenants.before
        yield tenants


def _user_id(server: Server, client: str, path: str, email: object) -> str:
    """Return the id of a user of the tenant whose issuer has this path."""
    answer = httpx.get(
        f"{server.http}/auth/v1{path}/users/email/{email}",
        headers={"Authorization": f"Bearer {server.token(client)}"},
    )
    return str(answer.raise_for_status().json()["id"])
