"""Sentences for users whose new password was refused."""

from dataclasses import dataclass

from edge.oidc.access.refusal import Refused
from server.platform.languages import Language, marked


@dataclass(frozen=True, slots=True)
class _Sentence:
    """`one` is for a count of one, and for every count where it is alone."""

    one: str
    many: str = ""


_SENTENCES = {
    "PASSWORD_TOO_SHORT": _Sentence(
        marked("The password is too short. It needs at least %(num)s characters."),
    ),
    "PASSWORD_TOO_LONG": _Sentence(
        marked("The password is too long. It may have up to %(num)s characters."),
    ),
    "PASSWORD_LACKS_LOWER_CASE": _Sentence(
        marked("The password needs at least %(num)s lowercase letter."),
        marked("The password needs at least %(num)s lowercase letters."),
    ),
    "PASSWORD_LACKS_UPPER_CASE": _Sentence(
        marked("The password needs at least %(num)s uppercase letter."),
        marked("The password needs at least %(num)s uppercase letters."),
    ),
    "PASSWORD_LACKS_DIGITS": _Sentence(
        marked("The password needs at least %(num)s digit."),
        marked("The password needs at least %(num)s digits."),
    ),
    "PASSWORD_LACKS_SPECIAL": _Sentence(
        marked("The password needs at least %(num)s special character."),
        marked("The password needs at least %(num)s special characters."),
    ),
    "PASSWORD_OWN_NAME": _Sentence(
        marked("The password is your username or your email address. Choose another one."),
    ),
    "PASSWORD_EASILY_GUESSED": _Sentence(
        marked("The password is easily guessed. Choose a longer or less common one."),
    ),
    "PASSWORD_BREACHED": _Sentence(
        marked(
            "The password is known from a data breach of another service, so attackers try it. "
            "Choose another one, also where you have used it before."
        ),
    ),
    "PASSWORD_USED_BEFORE": _Sentence(
        marked("The password is your current one. Choose a new one."),
        marked("The password is one of the last %(num)s that you had. Choose a new one."),
    ),
    "PASSWORD_KEPT_ELSEWHERE": _Sentence(
        marked("Your organization keeps your password in its directory. Change it there."),
    ),
}


def sentence_on_password(refusal: Refused, language: Language) -> str:
    """Return the sentence in this language; empty for a refusal that is not about a password."""
    sentence = _SENTENCES.get(str(refusal.members.get("reason", "")))
    if sentence is None:
        return ""
    count = refusal.members.get("count", 0)
    number = count if isinstance(count, int) else 0
    text = sentence.many if sentence.many and number != 1 else sentence.one
    return language.translated(text, num=number)
