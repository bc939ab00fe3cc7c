"""An access token of the deployment, for the client that everybody knows or for another one."""

import aiohttp

from tests.campaigns.api import NotAnswered, until_answered

TIMEOUT = aiohttp.ClientTimeout(total=5)


async def token_of(url: str, client_id: str = "demo") -> str:
    """Ask until there is one; a client's secret follows from its name."""
    form = {
        "grant_type": "client_credentials",
        "client_id": client_id,
        "client_secret": f"{client_id}-secret",
    }
    async with aiohttp.ClientSession(timeout=TIMEOUT) as session:

        async def attempt() -> str:
            try:
                async with session.post(f"{url}/auth/v1/oidc/token", data=form) as response:
                    return str((await response.json())["access_token"])
            except (aiohttp.ClientError, TimeoutError, OSError) as error:
                raise NotAnswered(type(error).__name__) from error

        return await until_answered(attempt)
