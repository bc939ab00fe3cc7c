import pytest

from tests.edge.oidc.administration.administrator import Administrator
from tests.edge.oidc.conftest import Http
from tests.identity.deployment import Deployment


@pytest.fixture
async def administrator(http: Http, deployment: Deployment) -> Administrator:
    token = (await deployment.issue()).access_token
    return Administrator(http, f"Bearer {token}")
