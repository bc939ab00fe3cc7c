from server.platform.errors import NotFound, Unauthenticated, Unavailable
from tests.edge.oidc.protocol.provider import Provider, page_of

ENTRY = "/auth/v1/acme/"
BROWSER = {"Accept": "text/html,*/*;q=0.8"}


async def test_a_person_who_is_signed_in_is_offered_to_sign_out(provider: Provider) -> None:
    page = await page_of(await provider.http.get(ENTRY))

    assert page.xpath("string(//h1)") == "You are signed in"
    assert page.xpath("//a[.='Sign out']/@href") == ["/auth/v1/acme/oidc/logout"]
    assert page.xpath("//a[.='Your account']/@href") == ["/auth/v1/acme/account"]
    assert page.xpath("//a[.='Forgot password?']") == []


async def test_only_what_is_there_is_offered(provider: Provider) -> None:
    provider.answers(
        get_session=Unauthenticated("no user is signed in"), check_password_reset=NotFound("no mail here")
    )

    page = await page_of(await provider.http.get(ENTRY))

    assert page.xpath("string(//h1)") == "Sign in"
    assert page.xpath("//a[.='Sign in']/@href") == ["/auth/v1/acme/sign-in"]
    assert page.xpath("//a[.='Forgot password?' or .='Your account' or .='Sign out']") == []


async def test_services_that_do_not_answer_are_a_page(provider: Provider) -> None:
    provider.answers(get_metadata=Unavailable("not now"))

    responses = [await provider.http.get(path, headers=BROWSER) for path in ("/", ENTRY, f"{ENTRY}nothing")]

    assert [(each.status, each.content_type) for each in responses] == [(503, "text/html")] * 3
