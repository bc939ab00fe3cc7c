"""A person at a browser: follows addresses, fills in the sign-in page, keeps cookies."""

import json
from dataclasses import dataclass, field
from urllib.parse import parse_qsl, urljoin, urlsplit

import requests
from lxml import html

from tests.people.proof_of_work import solved

SECONDS = 20


@dataclass(frozen=True)
class Arrival:
    """Where the browser was sent at last, outside the provider: the address and what was posted there."""

    url: str
    posted: dict[str, str] = field(default_factory=dict)

    @property
    def parameters(self) -> dict[str, str]:
        """Of the response, wherever it stands."""
        parts = urlsplit(self.url)
        return self.posted or dict(parse_qsl(parts.fragment or parts.query, keep_blank_values=True))


@dataclass(frozen=True)
class Page:
    """A page of the provider; `state` is what its script is told."""

    status: int
    url: str
    text: str

    @property
    def state(self) -> dict[str, object]:
        found = html.fromstring(self.text).xpath("//script[@id='auth-state']/text()")
        return dict(json.loads(found[0])) if found else {}

    @property
    def asks_for_a_password(self) -> bool:
        """At once, not in a later step."""
        return bool(html.fromstring(self.text).xpath("//input[@type='password'][not(ancestor::template)]"))

    @property
    def hidden(self) -> dict[str, str]:
        """The fields that the page's form sends by itself."""
        inputs = html.fromstring(self.text).xpath("//input[@type='hidden']")
        return {each.name: each.value for each in inputs}

    @property
    def words(self) -> str:
        return " ".join(html.fromstring(self.text).text_content().split())


class Person:
    """Has an account at the provider with this issuer."""

    def __init__(self, issuer: str, email: str, password: str) -> None:
        self.issuer = issuer
        self.email = email
        self.password = password
        self.browser = requests.Session()
        self.pages: list[Page] = []

    def close(self) -> None:
        self.browser.close()

    def visit(self, url: str, form: dict[str, str] | None = None) -> Page | Arrival:
        """Where an address leads, without signing in: a page of the provider, or somewhere else."""
        answer = (
            self.browser.get(url, allow_redirects=False, timeout=SECONDS)
            if form is None
            else self.browser.post(url, data=form, allow_redirects=False, timeout=SECONDS)
        )
        return self._followed(answer)

    def sign_in(self, url: str) -> Arrival:
        """Follow an authorization request to its end, with the password where one is asked for."""
        found = self.visit(url)
        if isinstance(found, Page):
            found = self.submit(found)
        assert isinstance(found, Arrival)
        return found

    def submit(self, page: Page) -> Page | Arrival:
        """Do what the page's script does when its button is pressed."""
        state = page.state
        assert state, f"expected a sign-in page, found {page.status}: {page.words}"
        if page.asks_for_a_password:
            answer = self.submit_credentials(page, self.password)
        else:
            answer = self._post("oidc/authorize/refresh", state, authorization_id=state["authorization_id"])
        assert answer.status_code in {requests.codes.accepted, requests.codes.partial_content}, answer.text
        return self._arrived(answer)

    def answer(self, question: Page, decision: str) -> Page | Arrival:
        """Press the button that says so, where a client asks for something."""
        return self.visit(question.url, question.hidden | {"decision": decision})

    def submit_credentials(self, page: Page, password: str) -> requests.Response:
        return self._post(
            "oidc/authorize",
            page.state,
            authorization_id=page.state["authorization_id"],
            email=self.email,
            password=password,
            pow=solved(self.challenge()),
        )

    def submit_email(self, page: Page, email: str, **members: object) -> requests.Response:
        """Press the button of the step that asks for the address alone."""
        sent = {"authorization_id": page.state["authorization_id"], "email": email} | members
        return self._post("oidc/authorize/email", page.state, **({"pow": solved(self.challenge())} | sent))

    def confirm_logout(self, page: Page) -> Page | Arrival:
        """Press the button that says so."""
        return self.visit(urljoin(self.issuer, "oidc/logout"), page.hidden)

    def let_device_in(self, url: str) -> None:
        """Sign in where that is asked for, and accept what the device behind the address asks for."""
        page = self.visit(url)
        assert isinstance(page, Page)
        if page.asks_for_a_password:
            self.submit(page)
        user_code = dict(parse_qsl(urlsplit(url).query))["code"]
        answer = self._post(
            "oidc/device/verify",
            self.session(),
            user_code=user_code,
            pow=solved(self.challenge()),
            device_accepted="accept",
        )
        assert answer.status_code == requests.codes.accepted, answer.text

    def session(self) -> dict[str, object]:
        """The state of a signed-in browser, as pages of the provider have it."""
        answer = self.browser.get(urljoin(self.issuer, "oidc/sessioninfo/xsrf"), timeout=SECONDS)
        answer.raise_for_status()
        return dict(answer.json())

    def challenge(self) -> str:
        answer = self.browser.post(urljoin(self.issuer, "pow"), timeout=SECONDS)
        answer.raise_for_status()
        return answer.text

    def _post(self, path: str, state: dict[str, object], **body: object) -> requests.Response:
        headers = {"x-csrf-token": str(state["csrf_token"])}
        return self.browser.post(
            urljoin(self.issuer, path), json=body, headers=headers, allow_redirects=False, timeout=SECONDS
        )

    def _arrived(self, answer: requests.Response) -> Page | Arrival:
        """Where a script sends the browser that was answered so."""
        location = answer.headers.get("Location")
        if location:
            return self._at(urljoin(answer.url, location))
        form = answer.json()
        return Arrival(form["redirect_uri"], dict(form["parameters"]))

    def _followed(self, answer: requests.Response) -> Page | Arrival:
        if answer.is_redirect:
            return self._at(urljoin(answer.url, answer.headers["Location"]))
        page = Page(answer.status_code, answer.url, answer.text)
        self.pages.append(page)
        return _posted(page) or page

    def _at(self, url: str) -> Page | Arrival:
        return self.visit(url) if url.startswith(self.issuer) else Arrival(url)


def _posted(page: Page) -> Arrival | None:
    """The fields that a `form_post` page posts by itself."""
    forms = [form for form in html.fromstring(page.text).forms if form.get("id") == "form-post"]
    if not forms:
        return None
    return Arrival(str(forms[0].action), {str(name): str(value) for name, value in forms[0].form_values()})
