"""A provisioning client, which sends an API key as bearer token."""

from dataclasses import dataclass, replace
from typing import Any

from aiohttp import ClientResponse

from tests.edge.oidc.conftest import Http

USER = "urn:ietf:params:scim:schemas:core:2.0:User"
GROUP = "urn:ietf:params:scim:schemas:core:2.0:Group"
ENTERPRISE = "urn:ietf:params:scim:schemas:extension:enterprise:2.0:User"
PATCH_OP = "urn:ietf:params:scim:api:messages:2.0:PatchOp"
LIST = "urn:ietf:params:scim:api:messages:2.0:ListResponse"
ERROR = "urn:ietf:params:scim:api:messages:2.0:Error"
BULK = "urn:ietf:params:scim:api:messages:2.0:BulkRequest"

RIGHTS = ["read", "create", "update", "delete"]


@dataclass(frozen=True)
class Client:
    http: Http
    authorization: str
    issuer: str = "/auth/v1"

    async def send(self, method: str, path: str, body: object = None, **options: Any) -> ClientResponse:
        headers = {"Authorization": self.authorization, "Content-Type": "application/scim+json"}
        headers |= options.pop("headers", {})
        sent: dict[str, Any] = {} if body is None else {"json": body}
        sent |= {"data": options.pop("data")} if "data" in options else {}
        path = f"{self.issuer}/scim/v2/{path}"
        return await self.http.request(method, path, headers=headers, **sent, **options)

    async def json(self, method: str, path: str, body: object = None, **options: Any) -> Any:
        answer = await self.send(method, path, body, **options)
        assert answer.status < 300, await answer.text()
        assert answer.content_type == "application/scim+json"
        return await answer.json()

    async def refusal(self, method: str, path: str, body: object = None, **options: Any) -> tuple[Any, ...]:
        """Return the status and the `scimType` of a refusal."""
        answer = await self.send(method, path, body, **options)
        told = await answer.json()
        assert told["schemas"] == [ERROR]
        assert told["status"] == str(answer.status)
        assert told["detail"]
        return answer.status, told.get("scimType")

    async def user(self, name: str = "alice@example.com", /, **members: object) -> Any:
        return await self.json("POST", "Users", {"schemas": [USER], "userName": name, **members})

    async def group(self, name: str = "Engineers", /, **members: object) -> Any:
        return await self.json("POST", "Groups", {"schemas": [GROUP], "displayName": name, **members})

    async def get(self, path: str, **query: str) -> Any:
        return await self.json("GET", path, params=query)

    async def find(self, kind: str, condition: str, **query: str) -> list[Any]:
        found = await self.get(kind, filter=condition, **query)
        assert found["schemas"] == [LIST]
        resources: list[Any] = found["Resources"]
        assert found["totalResults"] >= len(resources) == found["itemsPerPage"]
        return resources

    async def patch(self, path: str, *operations: object) -> ClientResponse:
        return await self.send("PATCH", path, {"schemas": [PATCH_OP], "Operations": operations})

    async def patched(self, path: str, *operations: object) -> Any:
        """Return the resource after the operations."""
        answer = await self.patch(path, *operations)
        assert answer.status in {200, 204}, await answer.text()
        return await self.get(path)

    def at(self, tenant: str) -> "Client":
        return replace(self, issuer=f"/auth/v1/{tenant}")
