"""Records of terms of use: versions, texts and acceptances."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from identity.directory.client import ClientId
from identity.directory.user import UserId
from server.platform.records import Kind, Owner, Record

MOST_OF_TENANT = 100
MOST_LANGUAGES = 16


@dataclass(frozen=True, slots=True)
class TextOfVersion:
    """The language of a text, and the id of its record."""

    language: str
    text_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TermsVersion(Record):
    """A version of the terms of use; `id` is its name. Texts are added, and it is withdrawn; nothing else changes.

    The first of `texts` is the one with which it was published. Users who accepted an earlier version accept this one again
    if it `is_accepted_again`. Until `accept_until`, users whose accounts existed at `holds_from` may continue without
    accepting it.
    """

    uri: str
    texts: tuple[TextOfVersion, ...]
    holds_from: datetime
    is_accepted_again: bool
    accept_until: datetime | None
    published_at: datetime
    withdrawn_at: datetime | None = None

    @property
    def version(self) -> str:
        return self.id

    @property
    def languages(self) -> tuple[str, ...]:
        return tuple(each.language for each in self.texts)

    def holds(self, now: datetime) -> bool:
        return self.withdrawn_at is None and self.holds_from <= now


@dataclass(frozen=True, slots=True, kw_only=True)
class TermsText(Record):
    """The plain text of a version in a language. It never changes."""

    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TermsAcceptance(Record):
    """A user's first acceptance of a version; `id` names version and user, so acceptances of a version are in one range.

    `client_id` is the client of the sign-in.
    """

    user_id: UserId
    version: str
    accepted_at: datetime
    client_id: ClientId


TERMS_VERSIONS = Kind(TermsVersion, "terms_version", owners=())
TERMS_TEXTS = Kind(TermsText, "terms_text", owners=())
TERMS_ACCEPTANCES = Kind(
    TermsAcceptance,
    "terms_acceptance",
    indexed=("user_id",),
    owners=(Owner("user", "user_id"),),
    outlives=("client_id",),
)


def acceptance_id_of(version: str, user_id: UserId | str) -> str:
    # Names of versions contain no space.
    return f"{version} {user_id}"


def sufficient(versions: Sequence[TermsVersion], now: datetime) -> Sequence[TermsVersion]:
    """Return the versions of which a user has accepted one, the latest first; none when no version holds.

    These are the version that holds and earlier ones, back to the last one that is accepted again.
    """
    found: list[TermsVersion] = []
    for version in sorted(versions, key=_by_start, reverse=True):
        if version.holds(now):
            found.append(version)
            if version.is_accepted_again:
                break
    return found


def _by_start(version: TermsVersion) -> tuple[datetime, datetime, str]:
    return version.holds_from, version.published_at, version.id
