"""Explanations of errors for users: what happened, and what to do next."""

from collections.abc import Callable
from dataclasses import dataclass, replace

from edge.language_of_request import kept_language
from edge.oidc.access.refusal import NETWORK_REFUSED, SESSION_ENDED, Refused
from edge.oidc.pages.password_reasons import sentence_on_password
from server.platform.languages import Language, marked

_FORBIDDEN = 403
_NOT_FOUND = 404
_CONFLICT = 409

_BACK = marked("Go back to the application that you came from and try again.")
_SUPPORT = marked("If it happens again, send the details below to your administrator.")


@dataclass(frozen=True, slots=True)
class Explanation:
    """`way_on` is the address of a link to continue, empty without one, and `words` is its text.

    They are English; the page translates them, and each of `texts` by itself.
    """

    heading: str
    texts: tuple[str, ...]
    way_on: str = ""
    words: str = ""

    def text(self, language: Language) -> str:
        return " ".join(map(language.translated, self.texts))


Explain = Callable[[Refused], Explanation]

_START = ("/", marked("Go to the start page"))

_NO_SESSION = Explanation(
    marked("Your session has ended"),
    (
        marked("Your session has ended, or your browser blocks cookies."),
        marked(
            "Allow cookies for this site, go back to the application that you came from, and sign in again."
        ),
    ),
)
_COMPANY = Explanation(
    marked("Use your organization's sign-in"),
    (marked("Your organization manages the sign-in for this email address."),),
)
_BY_KIND = {
    NETWORK_REFUSED: Explanation(
        marked("No access from your network"),
        (
            marked("This provider does not permit access from the network that you use."),
            marked("If this is a mistake, send the details below to your administrator."),
        ),
    ),
    "PasswordRefresh": Explanation(
        marked("Your password has expired"),
        (marked("Go back to the sign-in page and use “Forgot password?” to choose a new one."),),
    ),
    "MfaRequired": Explanation(
        marked("This application requires a second factor"),
        (
            marked(
                "Your account has no passkey and no authenticator app yet. Ask your administrator to add one."
            ),
        ),
    ),
}
_BY_STATUS = {
    400: Explanation(
        marked("This request is not valid"),
        (marked("Something in the address or in the form is missing or not valid."), _BACK, _SUPPORT),
    ),
    401: Explanation(
        marked("You are not signed in"),
        (
            marked("Your sign-in is missing, has expired, or was not accepted."),
            marked("Go back to the application that you came from and sign in again."),
        ),
    ),
    403: Explanation(
        marked("You do not have access"),
        (marked("You are not allowed to do this. If you need access, ask your administrator."),),
    ),
    404: Explanation(
        marked("Page not found"),
        (marked("There is nothing at this address. Check the address, or go to the start page."),),
        *_START,
    ),
    405: Explanation(
        marked("This address is not a page"),
        (marked("Programs use this address. Browsers cannot open it. Go to the start page instead."),),
        *_START,
    ),
    413: Explanation(
        marked("This is too large"),
        (
            marked(
                "The file or the form is larger than this server accepts. Send less, or choose a smaller file."
            ),
        ),
    ),
    500: Explanation(
        marked("Something went wrong"),
        (marked("The server failed to handle this request."), _BACK, _SUPPORT),
    ),
    503: Explanation(
        marked("The service is not available"),
        (
            marked("The server cannot handle this request right now. Wait a moment, then reload this page."),
            _SUPPORT,
        ),
    ),
}
OF_APPLICATION = Explanation(
    marked("This request is not valid"),
    (
        marked("The application that you came from sent a request that this server cannot accept."),
        marked(
            "Go back to the application and try again. "
            "If it happens again, send the details below to its support."
        ),
    ),
)

_CLOSED = Explanation(
    marked("Registration is closed"),
    (marked("You cannot create an account here. Ask your administrator for one."),),
)
_NO_RESET = Explanation(
    marked("Password reset is not available"),
    (marked("This server sends no email. Ask your administrator for a new password."),),
)
_NO_CONFIRMATION = Explanation(
    marked("Confirmation links are not available"),
    (marked("This server sends no email. Ask your administrator to confirm your address."),),
)
_OF_LINK = frozenset({400, 403, 404})


def explanation_of(refusal: Refused) -> Explanation:
    if refusal.cause == SESSION_ENDED:
        return _NO_SESSION
    if refusal.error == "UseCompanySignIn":
        location = str(refusal.members.get("location", ""))
        return replace(_COMPANY, way_on=location, words=marked("Go to your organization's sign-in"))
    if refusal.error in _BY_KIND:
        return _BY_KIND[refusal.error]
    return _BY_STATUS.get(refusal.status) or Explanation(marked("That did not work"), (refusal.message,))


def explanation_of_registration(refusal: Refused) -> Explanation:
    return _CLOSED if refusal.status == _FORBIDDEN else explanation_of(refusal)


def explanation_of_reset(refusal: Refused) -> Explanation:
    return _NO_RESET if refusal.status == _NOT_FOUND else explanation_of(refusal)


def explanation_of_confirmation(refusal: Refused) -> Explanation:
    return _NO_CONFIRMATION if refusal.status == _NOT_FOUND else explanation_of(refusal)


def explanation_of_link(advice: str, *, way_on: str, words: str) -> Explain:
    """Explain errors of a link in a mail, with advice what to do instead."""
    dead = Explanation(
        marked("This link is no longer valid"),
        (
            marked("A link works once, for a limited time, and in the browser that opened it first."),
            advice,
        ),
        way_on,
        words,
    )
    return lambda refusal: dead if refusal.status in _OF_LINK else explanation_of(refusal)


def explanation_of_provider_link(account: str) -> Explain:
    """Explain why an account was not linked to a provider with the reason of the service; `account` is its page."""

    def explain(refusal: Refused) -> Explanation:
        if refusal.status != _CONFLICT:
            return explanation_of(refusal)
        heading, words = marked("Your account was not linked"), marked("Back to your account")
        return Explanation(heading, (sentence_of(refusal),), account, words)

    return explain


def explanation_of_password(*, way_on: str, words: str) -> Explain:
    """Explain errors of a new password with the reason of the service."""

    def explain(refusal: Refused) -> Explanation:
        if refusal.status not in _OF_LINK:
            return explanation_of(refusal)
        advice = marked("Go back and try again, or request a new link.")
        heading = marked("Your password was not changed")
        reason = sentence_on_password(refusal, kept_language()) or sentence_of(refusal)
        return Explanation(heading, (reason, advice), way_on, words)

    return explain


def sentence_of(refusal: Refused) -> str:
    """Return the reason of the service as a sentence."""
    return f"{refusal.message[:1].upper()}{refusal.message[1:]}."
