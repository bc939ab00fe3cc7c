"""The page that asks for a code, and the responses to its answers."""

import json

import pytest

from gnomon.identity.v1 import authorization_service_pb2 as authorization
from gnomon.identity.v1 import one_time_code_service_pb2 as pb
from gnomon.identity.v1.browser_pb2 import Parameter, Redirect, SessionCookie
from gnomon.identity.v1.passkey_service_pb2 import RememberedFactor
from server.platform.errors import ResourceExhausted, Unauthenticated
from tests.edge.oidc.protocol.provider import NOON, Provider, directives, hidden_fields, page_of

AUTHORIZE = "/auth/v1/oidc/authorize"
CODE = f"{AUTHORIZE}/one_time_code"
PASSKEY, ONE_TIME, RECOVERY = (
    authorization.SECOND_FACTOR_METHOD_PASSKEY,
    authorization.SECOND_FACTOR_METHOD_ONE_TIME_CODE,
    authorization.SECOND_FACTOR_METHOD_RECOVERY_CODE,
)
REDIRECT = Redirect(uri="https://shop.example/cb", parameters=[Parameter(name="code", value="abc")])
COOKIE = SessionCookie(value="new", max_age=60, csrf_token="new-proof")
REMEMBERED = RememberedFactor(value="kept", max_age=90)
SUBMITTED = pb.SubmitOneTimeCodeResponse(redirect=REDIRECT, cookie=COOKIE, remembered=REMEMBERED)
SENT = {"code": "question-1", "one_time_code": "123456"}
FORM = {**SENT, "csrf_token": "proof", "methods": "one_time_code nonsense"}


def asked(*methods: authorization.SecondFactorMethod) -> authorization.SubmitCredentialsResponse:
    return authorization.SubmitCredentialsResponse(
        second_factor=authorization.SecondFactor(
            code="question-1",
            user_id="ada",
            expires_in=60,
            methods=methods,
            redirect_origin="https://shop.example" if {ONE_TIME, RECOVERY} & {*methods} else "",
        )
    )


async def test_a_script_is_told_what_the_person_may_answer_with(provider: Provider) -> None:
    provider.answers(submit_credentials=asked(PASSKEY, ONE_TIME, RECOVERY))

    response = await provider.http.post(
        AUTHORIZE, json={"authorization_id": "r", "email": "ada@example.com", "password": "pw", "pow": "p"}
    )

    assert await response.json() == {
        "code": "question-1",
        "user_id": "ada",
        "exp": 60,
        "methods": ["passkey", "one_time_code", "recovery_code"],
    }


@pytest.mark.parametrize(
    ("methods", "shows", "forms"),
    [
        ((PASSKEY,), True, []),
        ((PASSKEY, ONE_TIME), True, ["code-form"]),
        ((PASSKEY, RECOVERY), True, ["recovery-form"]),
        ((ONE_TIME, RECOVERY), False, ["code-form", "recovery-form"]),
    ],
    ids=["passkey", "both", "recovery codes", "codes"],
)
async def test_a_form_is_answered_with_the_page_of_what_the_person_has(
    provider: Provider,
    methods: tuple[authorization.SecondFactorMethod, ...],
    *,
    shows: bool,
    forms: list[str],
) -> None:
    provider.answers(submit_credentials=asked(*methods))

    response = await provider.http.post(AUTHORIZE, data={"csrf_token": "proof"})

    page = await page_of(response)
    assert bool(page.xpath("//button[@id='show']")) is shows
    assert page.xpath("//form/@id") == forms
    assert set(page.xpath("//form/@action")) <= {CODE}
    fields = {name: text for name, text in hidden_fields(page).items() if name != "methods"}
    assert fields == ({"csrf_token": "proof", "code": "question-1"} if forms else {})
    allowed = "'self' https://shop.example" if forms else "'self'"
    assert directives(response)["form-action"] == allowed


async def test_the_field_for_a_code_is_one_for_digits_and_filled_in_by_the_phone(provider: Provider) -> None:
    provider.answers(submit_credentials=asked(ONE_TIME, RECOVERY))

    page = await page_of(await provider.http.post(AUTHORIZE, data={"csrf_token": "proof"}))

    [code] = page.xpath("//input[@id='one-time-code']")
    [recovery] = page.xpath("//details//input[@id='recovery-code']")
    assert (page.xpath("string(//h1)"), page.xpath("string(//title)")) == ("Enter your code",) * 2
    assert (code.get("inputmode"), code.get("autocomplete")) == ("numeric", "one-time-code")
    assert (recovery.get("inputmode"), recovery.get("autocomplete")) == (None, "off")
    assert page.xpath("//button/text()") == ["Verify", "Verify"]


async def test_a_right_code_leads_back_with_a_session(provider: Provider) -> None:
    provider.answers(submit_one_time_code=SUBMITTED)

    by_script = await provider.http.post(CODE, json=SENT, headers={"x-csrf-token": "proof"})
    by_form = await provider.http.post(CODE, data=FORM, allow_redirects=False)

    sent = provider.asked(pb.SubmitOneTimeCodeRequest)
    assert (sent.code, sent.one_time_code, sent.browser.csrf_token) == ("question-1", "123456", "proof")
    assert [by_script.status, by_form.status] == [202, 303]
    for response in (by_script, by_form):
        assert response.headers["Location"] == "https://shop.example/cb?code=abc"
        session, remembered = response.headers.getall("Set-Cookie")
        assert session.startswith("__Host-GnomonSession=new; ")
        assert remembered.startswith("__Host-GnomonMfa=kept; HttpOnly; Max-Age=90;")


async def test_a_browser_that_is_not_remembered_keeps_nothing(provider: Provider) -> None:
    provider.answers(submit_one_time_code=pb.SubmitOneTimeCodeResponse(redirect=REDIRECT, cookie=COOKIE))

    response = await provider.http.post(CODE, json=SENT)

    assert len(response.headers.getall("Set-Cookie")) == 1


async def test_a_wrong_code_is_asked_for_once_more(provider: Provider) -> None:
    provider.answers(
        submit_one_time_code=Unauthenticated(
            "the code is wrong", cause="WRONG_CODE", redirect_origin="https://shop.example"
        )
    )

    by_script = await provider.http.post(CODE, json=SENT)
    by_form = await provider.http.post("/auth/v1/acme/oidc/authorize/one_time_code", data=FORM)

    page = await page_of(by_form)
    assert (by_script.status, (await by_script.json())["error"]) == (401, "WrongCode")
    assert (by_form.status, len(page.xpath("//*[@role='alert']"))) == (401, 1)
    assert page.xpath("//form/@action") == ["/auth/v1/acme/oidc/authorize/one_time_code"]
    assert hidden_fields(page) == {"csrf_token": "proof", "code": "question-1", "methods": "one_time_code"}
    assert page.xpath("//input[@name='one_time_code']/@aria-invalid") == ["true"]
    assert directives(by_form)["form-action"] == "'self' https://shop.example"
    assert "123456" not in await by_form.text()


async def test_a_question_that_has_ended_is_no_wrong_code(provider: Provider) -> None:
    provider.answers(submit_one_time_code=Unauthenticated("no code is requested"))

    by_script = await provider.http.post(CODE, json=SENT)
    by_form = await provider.http.post(CODE, data=FORM)

    assert (by_script.status, (await by_script.json())["error"]) == (401, "Unauthorized")
    assert (by_form.status, (await page_of(by_form)).xpath("//form")) == (401, [])


async def test_after_too_many_the_person_is_told_when_to_come_back(provider: Provider) -> None:
    until = str(int(NOON.timestamp()) + 60)
    provider.answers(submit_one_time_code=ResourceExhausted("too many wrong codes", retry_at=until))

    response = await provider.http.post(CODE, json=SENT)

    assert (response.status, response.headers["Retry-After"]) == (429, "60")


@pytest.mark.parametrize(
    "body",
    [
        pytest.param("{", id="no JSON"),
        pytest.param("{}", id="nothing"),
        pytest.param(json.dumps(SENT | {"s3cret": 1}), id="unknown member"),
        pytest.param(json.dumps(SENT | {"one_time_code": 123456}), id="a number"),
        pytest.param(json.dumps(SENT | {"one_time_code": "1" * 65}), id="too long"),
    ],
)
async def test_json_is_read_strictly(provider: Provider, body: str) -> None:
    response = await provider.http.post(CODE, data=body, headers={"Content-Type": "application/json"})

    refused = await response.json()
    assert (response.status, refused["error"]) == (400, "BadRequest")
    assert "s3cret" not in refused["message"]


async def test_another_page_gives_no_code(provider: Provider) -> None:
    response = await provider.http.post(CODE, data=FORM, headers={"Sec-Fetch-Site": "cross-site"})

    assert response.status == 400
