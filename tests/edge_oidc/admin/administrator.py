"""Somebody who calls administrators' endpoints."""

from dataclasses import dataclass, replace
from typing import Any

from aiohttp import ClientResponse

from tests.edge_oidc.conftest import Http


@dataclass(frozen=True)
class Administrator:
    http: Http
    authorization: str

    async def send(self, method: str, path: str, body: object = None, **options: Any) -> ClientResponse:
        """The path is below the issuer's."""
        headers = {"Authorization": self.authorization} | options.pop("headers", {})
        sent: dict[str, Any] = {} if body is None else {"json": body}
        return await self.http.request(method, f"/auth/v1/{path}", headers=headers, **sent, **options)

    async def key(self, name: str, **rights: list[str]) -> "Administrator":
        """A program with an API key of these rights."""
        access = [{"group": group, "access_rights": allowed} for group, allowed in rights.items()]
        created = await self.send("POST", "api_keys", {"name": name, "access": access})
        assert created.status == 200, await created.text()
        return replace(self, authorization=f"API-Key {await created.text()}")

    async def typs(self, **wanted: object) -> list[str]:
        """Types of the events that are there, the newest first."""
        listed = await self.send("POST", "events", {"from": 0, **wanted})
        return [event["typ"] for event in await listed.json()]
