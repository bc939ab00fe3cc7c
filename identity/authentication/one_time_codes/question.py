"""Pending requests for a code, after a first factor or in a remembered browser.

A wrong code leaves the request pending, so that the user can try again.
"""

import hmac
from dataclasses import dataclass, field, replace
from datetime import datetime

from identity.access.sessions.session import UpstreamAuthentication
from identity.authentication.authorization.sign_in import Proof
from identity.authentication.one_time_codes.config import OneTimeCodeConfig
from identity.authentication.one_time_codes.typed import plain
from identity.authentication.requests.request import AuthorizationRequest
from identity.directory.secrets import SecretHasher
from identity.directory.user import User, UserId
from identity.foundation.randomness import Randomness
from identity.foundation.tenants import Tenant
from server.platform.clock import Clock
from server.platform.errors import Unauthenticated
from server.platform.records import Changed, Kind, Owner, Record, Records

_CODE_LENGTH = 48
_UNKNOWN = "no code is requested in this browser"


@dataclass(frozen=True, slots=True, kw_only=True)
class CodeQuestion(Record):
    """`id` is a keyed hash of the code that the browser holds; answered once, in the session `sid`.

    The sign-in continues `request`. `amr` are the methods of the first factor, by `vouching` if an upstream provider
    reported it. Both are empty in a remembered browser. The request is valid while the account has the password of
    which `password` is a keyed hash. With `by_email` the user may ask for a code by mail; `mailed` is a keyed hash of the
    last one, valid before `mailed_until`.
    """

    sid: str
    user_id: UserId
    password: str = field(repr=False)
    request: AuthorizationRequest
    amr: tuple[str, ...] = ()
    vouching: UpstreamAuthentication | None = None
    by_email: bool = False
    mailed: str = field(default="", repr=False)
    mailed_until: datetime | None = None


CODE_QUESTIONS = Kind(CodeQuestion, "code_question", owners=(Owner("user", "user_id"),))


class CodeQuestions:
    def __init__(
        self,
        records: Records[CodeQuestion],
        hasher: SecretHasher,
        *,
        clock: Clock,
        randomness: Randomness,
        config: OneTimeCodeConfig,
    ) -> None:
        self._records = records
        self._hasher = hasher
        self._clock = clock
        self._randomness = randomness
        self._config = config

    def new_name(self) -> str:
        """Return a new random name of a request for the browser."""
        return self._randomness.alphanumeric(_CODE_LENGTH)

    async def ask(
        self,
        name: str,
        sid: str,
        user: User,
        *,
        request: AuthorizationRequest,
        first: Proof | None,
        by_email: bool = False,
    ) -> CodeQuestion:
        """Store a request; without `first` the browser is remembered."""
        return await self._records.insert(
            CodeQuestion(
                tenant_id=user.tenant_id,
                id=self._id(name),
                expires_at=self._clock.now() + self._config.asked_lifetime,
                sid=sid,
                user_id=user.user_id,
                password=self._password(user),
                request=request,
                amr=first.amr if first is not None else (),
                vouching=first.vouching if first is not None else None,
                by_email=by_email,
            )
        )

    async def note_mailed(self, question: CodeQuestion, code: str, until: datetime) -> None:
        """Store a code that was mailed, in the place of an earlier one; raises Unauthenticated."""
        expires_at = max(question.expires_at or until, until)
        noted = replace(
            question, mailed=self._mailed(question, code), mailed_until=until, expires_at=expires_at
        )
        try:
            await self._records.replace(noted)
        except Changed as error:
            raise Unauthenticated(_UNKNOWN) from error

    def is_mailed(self, question: CodeQuestion, code: str) -> bool:
        """Whether the code is the last one that was mailed for the request."""
        if question.mailed_until is None or question.mailed_until <= self._clock.now():
            return False
        return hmac.compare_digest(question.mailed, self._mailed(question, code))

    def _mailed(self, question: CodeQuestion, code: str) -> str:
        return self._hasher.hash(f"mailed code {question.id} {plain(code)}").hex()

    async def find(self, tenant: Tenant, name: str, sid: str) -> CodeQuestion:
        """Return the request of this session; raises Unauthenticated."""
        question = await self._records.get(tenant.tenant_id, self._id(name)) if name else None
        if question is None or question.sid != sid:
            raise Unauthenticated(_UNKNOWN)
        return question

    async def take(self, question: CodeQuestion) -> None:
        """Remove the request; raises Unauthenticated when another caller did before."""
        if await self._records.take(question.tenant_id, question.id) is None:
            raise Unauthenticated(_UNKNOWN)

    def is_about(self, question: CodeQuestion, user: User) -> bool:
        """Whether the account still has the same password."""
        return bool(user.password_hash) and hmac.compare_digest(question.password, self._password(user))

    def _password(self, user: User) -> str:
        return self._hasher.hash(f"password of a code question {user.password_hash}").hex()

    def _id(self, name: str) -> str:
        return self._hasher.hash(f"code question {name}").hex()
