"""A running server, the clients that may sign in there, and the models that it is fed with."""

import ssl
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest

from edge.contract import Route, routes
from server.platform.policy import Mode

ROOT = Path(__file__).resolve().parents[2]
MODELS = ROOT.parent / "shared" / "data" / "models" / "bpmn"

# service acts in the default tenant, stranger in another, traveller in both; reader may only read.
CONFIGURATION = """
[bootstrap]
client_id = "service"
client_secret = "service-secret"
admin_password = "administrator"
tenants = ["other"]

[[bootstrap.clients]]
id = "stranger"
secret = "stranger-secret"
tenants = ["other"]
permissions = ["process:deploy", "process:delete", "instance:create", "instance:cancel", "instance:delete", "instance:migrate", "instance:modify", "job:work", "task:work", "incident:resolve", "message:publish", "signal:broadcast", "variable:write", "variable:erase", "document:write", "document:read", "history:read", "operations:read", "clock:write", "identity:read", "identity:write", "audit:read"]

[[bootstrap.clients]]
id = "traveller"
secret = "traveller-secret"
tenants = ["default", "other"]
permissions = ["history:read"]

[[bootstrap.clients]]
id = "reader"
secret = "reader-secret"
tenants = ["default"]
permissions = ["history:read"]

[pow]
difficulty = 10
"""


# Servers of tests speak plain HTTP. Loading the certificates of all authorities takes longer than a request.
PLAIN = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
# The cluster mode has tests of its own.
MODES = (Mode.EMBEDDED, Mode.BUNDLED)


def offered(mode: Mode) -> list[Route]:
    """Routes of a mode that need a credential."""
    return [route for route in routes() if mode in route.policy.modes and route.policy.needs_principal]


@dataclass(frozen=True)
class Server:
    """Its mode, where it listens, and how to sign in."""

    mode: Mode
    http: str
    grpc: str

    @property
    def token_url(self) -> str:
        return f"{self.http}/auth/v1/oidc/token"

    def token(self, client: str = "service") -> str:
        form = {"grant_type": "client_credentials", "client_id": client, "client_secret": f"{client}-secret"}
        return str(
            httpx.post(self.token_url, data=form, verify=PLAIN).raise_for_status().json()["access_token"]
        )

    def session(self, client: str = "service", **headers: str) -> httpx.Client:
        return httpx.Client(
            base_url=self.http,
            headers={"authorization": f"Bearer {self.token(client)}", **headers},
            timeout=30,
            verify=PLAIN,
        )


class Models:
    """Real models, where they lie."""

    def __call__(self, name: str) -> Path:
        path = MODELS / name
        if not path.exists():
            pytest.skip(f"the model {name} is not beside this checkout")
        return path
