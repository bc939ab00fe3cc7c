"""Options of client commands: server, credentials, tenant and output format."""

from dataclasses import dataclass, field
from typing import Annotated

import typer

ADDRESS = "localhost:26500"
_SERVER = "Server"

# The default credentials of a server in embedded mode.
_CLIENT_ID = "demo"
_CLIENT_SECRET = "demo-secret"  # noqa: S105  # known to everybody; such a server listens on loopback only


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientOptions:
    """Options of every client command; without `address` they use the default address."""

    address: Annotated[
        str | None,
        typer.Option(
            envvar="GNOMON_CLIENT__ADDRESS",
            help=f"gRPC host:port of the server; {ADDRESS} if omitted.",
            rich_help_panel=_SERVER,
        ),
    ] = None
    client_id: Annotated[
        str, typer.Option(envvar="GNOMON_CLIENT__ID", help="Client to act as.", rich_help_panel=_SERVER)
    ] = _CLIENT_ID
    client_secret: Annotated[
        str,
        typer.Option(
            envvar="GNOMON_CLIENT__SECRET",
            help="Secret of the client.",
            show_default=False,
            rich_help_panel=_SERVER,
        ),
    ] = field(default=_CLIENT_SECRET, repr=False)
    tenant: Annotated[
        str | None,
        typer.Option(
            envvar="GNOMON_CLIENT__TENANT",
            help="Tenant to act in; clients of several tenants need it.",
            rich_help_panel=_SERVER,
        ),
    ] = None
    json: Annotated[bool, typer.Option("--json", help="Print JSON, for programs.")] = False
