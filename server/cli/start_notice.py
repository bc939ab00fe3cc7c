"""The notice for a person who starts the server in a terminal: addresses, credentials, and how to stop it.

Programs read only the ready line. The notice shows no secrets except the well-known ones of embedded mode.
"""

from collections.abc import Iterator

from server.launcher import secrets_file
from server.platform.addresses import Addresses
from server.platform.policy import Mode
from server.platform.sockets import authority, public_host
from server.sections import DEMO_CLIENT, DEMO_PASSWORD, DEMO_SECRET, Config

_MEANING = {
    Mode.EMBEDDED: "in memory: nothing is kept when it ends",
    Mode.BUNDLED: "durable, on this machine",
    Mode.CLUSTER: "one process of a cluster",
}


def start_notice(config: Config, addresses: Addresses) -> str:
    rows = [*_places(config, addresses), *_credentials(config)]
    width = max(len(name) for name, _ in rows)
    lines = [f"  {name:<{width}}  {value}" for name, value in rows]
    heading = f"Gnomon runs in {config.server.mode} mode, {_MEANING[config.server.mode]}."
    return "\n".join(["", heading, "", *lines, "", "Press Ctrl-C to stop it.", ""])


def _places(config: Config, addresses: Addresses) -> Iterator[tuple[str, str]]:
    port = int(addresses.http.rpartition(":")[2])
    origin = config.identity.at(authority(public_host(config.edge.host), port)).origin
    yield "Sign-in service", f"{origin}/auth/v1/"
    yield "Process API", f"{origin}/docs"
    yield "gRPC", addresses.grpc


def _credentials(config: Config) -> Iterator[tuple[str, str]]:
    bootstrap = config.bootstrap
    if bootstrap.client_secret and bootstrap.admin_password:
        return
    match config.server.mode:
        case Mode.EMBEDDED:
            if not bootstrap.client_secret:
                yield "Client", f"{DEMO_CLIENT}, secret {DEMO_SECRET}"
            if not bootstrap.admin_password and not bootstrap.admin_setup:
                yield "Administrator", f"{bootstrap.admin_email}, password {DEMO_PASSWORD}"
        case Mode.BUNDLED:
            yield "Secrets", f"of {bootstrap.client_id} and {bootstrap.admin_email} in {secrets_file(config)}"
        case Mode.CLUSTER:
            pass
