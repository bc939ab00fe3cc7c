import re
from pathlib import Path

import pytest

import edge.oidc.pages
from gnomon.identity.v1.authorization_service_pb2 import BeginAuthorizationResponse, SignInPage
from tests.edge.oidc.protocol.provider import Provider, page_of

NAMESPACE = 'xmlns="http://www.w3.org/2000/svg"'
STATIC = Path(edge.oidc.pages.__file__).parent / "static"


async def test_what_a_page_loads_is_kept_for_ever(provider: Provider) -> None:
    provider.answers(begin_authorization=BeginAuthorizationResponse(page=SignInPage(authorization_id="r")))
    page = await page_of(await provider.http.get("/auth/v1/oidc/authorize"))
    addresses = page.xpath("//script/@src | //link/@href")

    responses = [await provider.http.get(address) for address in addresses]

    assert len(addresses) == 6
    assert {response.status for response in responses} == {200}
    assert {response.content_type for response in responses} == {
        "text/css",
        "text/javascript",
        "image/svg+xml",
    }
    assert {response.headers["Cache-Control"] for response in responses} == {
        "public, max-age=31536000, immutable"
    }


@pytest.mark.parametrize("name", ["page.css", "page.0000000000000000.css", "..%2Frendering.py", "x"])
async def test_nothing_else_is_there(provider: Provider, name: str) -> None:
    response = await provider.http.get(f"/auth/v1/static/{name}")

    assert response.status == 404


@pytest.mark.parametrize(
    "path", sorted(path for path in STATIC.iterdir() if path.suffix != ".ico"), ids=lambda path: path.name
)
def test_it_loads_nothing_from_elsewhere(path: Path) -> None:
    text = path.read_text().replace(NAMESPACE, "")

    assert re.findall(r"https?:|@import|url\(|\beval\b|innerHTML", text) == []


@pytest.mark.parametrize("path", sorted(STATIC.glob("*.js")), ids=lambda path: path.name)
def test_it_talks_to_no_other_window(path: Path) -> None:
    talking = r"\bopener\b|\bparent\b|\btop\b|\bframes\b|contentWindow|BroadcastChannel|window\.postMessage"

    assert re.findall(talking, path.read_text()) == []
