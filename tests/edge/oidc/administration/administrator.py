"""A caller of the administration endpoints."""

from dataclasses import dataclass, replace
from typing import Any

from aiohttp import ClientResponse

from tests.edge.oidc.conftest import Http


@dataclass(frozen=True)
class Administrator:
    http: Http
    authorization: str

    async def send(self, method: str, path: str, body: object = None, **options: Any) -> ClientResponse:
        """Send a request to a path below the issuer."""
        headers = {"Authorization": self.authorization} | options.pop("headers", {})
        sent: dict[str, Any] = {} if body is None else {"json": body}
        return await self.http.request(method, f"/auth/v1/{path}", headers=headers, **sent, **options)

    async def key(self, name: str, **rights: list[str]) -> "Administrator":
        """Return a caller with an API key of these rights."""
        access = [{"group": group, "access_rights": allowed} for group, allowed in rights.items()]
        created = await self.send("POST", "api_keys", {"name": name, "access": access})
        assert created.status == 200, await created.text()
        return replace(self, authorization=f"API-Key {await created.text()}")

    async def typs(self, **wanted: object) -> list[str]:
        """Return the types of all events, newest first."""
        listed = await self.send("POST", "events", {"from": 0, **wanted})
        return [event["typ"] for event in await listed.json()]
