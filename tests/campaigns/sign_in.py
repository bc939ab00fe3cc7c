"""An access token of the deployment, for the client that everybody knows."""

import aiohttp

from tests.campaigns.api import NotAnswered, until_answered

FORM = {"grant_type": "client_credentials", "client_id": "demo", "client_secret": "demo-secret"}
TIMEOUT = aiohttp.ClientTimeout(total=5)


async def token_of(url: str) -> str:
    """Ask until there is one."""
    async with aiohttp.ClientSession(timeout=TIMEOUT) as session:

        async def attempt() -> str:
            try:
                async with session.post(f"{url}/auth/v1/oidc/token", data=FORM) as response:
                    return str((await response.json())["access_token"])
            except (aiohttp.ClientError, TimeoutError, OSError) as error:
                raise NotAnswered(type(error).__name__) from error

        return await until_answered(attempt)
