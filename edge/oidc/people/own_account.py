"""/users/{id}/self, /users/{id}/mfa_token: self-service of a user's account."""

import msgspec
from aiohttp import web

from edge.oidc.access.administration_calls import AdministrationCalls, tenant_and_id, written
from edge.oidc.access.body import bad_request, read_json
from edge.oidc.access.browsers import CSRF_HEADER, Browsers
from edge.oidc.access.message_json import members
from edge.oidc.openapi.operation import content, described, done
from edge.oidc.openapi.schemas import INTEGER, STRING, an_object, message
from edge.oidc.stubs import Stubs
from gnomon.identity.v1 import account_service_pb2 as pb
from gnomon.identity.v1 import user_pb2

_ACCEPTED = 202


class _Proof(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Exactly one of both members is needed."""

    password: str = ""
    mfa_code: str = ""


class _OwnValues(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    birthdate: str | None = None
    phone: str | None = None
    street: str | None = None
    zip: str | None = None
    city: str | None = None
    country: str | None = None
    tz: str | None = None


class _Changes(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Absent members stay unchanged."""

    email: str | None = None
    given_name: str | None = None
    family_name: str | None = None
    language: str | None = None
    password_new: str | None = None
    password_current: str = ""
    mfa_mod_token_id: str = ""
    user_values: _OwnValues = _OwnValues()


class _Username(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    preferred_username: str | None = None
    force_overwrite: bool = False


class _Deletion(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    mfa_mod_token_id: str


class OwnAccountEndpoint:
    def __init__(self, stubs: Stubs, calls: AdministrationCalls, *, browsers: Browsers) -> None:
        self._accounts = stubs.accounts
        self._calls = calls
        self._browsers = browsers

    @described(
        "Issues a modification token for the password or a second factor: changes of factors carry it.",
        content(an_object(id=STRING, user_id=STRING, exp=INTEGER)),
        body=_Proof,
        refusals=(406,),
    )
    async def prove(self, request: web.Request) -> web.Response:
        (tenant_id, user_id), caller = tenant_and_id(request), self._calls.caller(request)
        sent = await read_json(request, _Proof, max_bytes=self._calls.max_bytes)
        if not (sent.password or sent.mfa_code):
            raise bad_request("expected password or mfa_code")
        asked = pb.IssueModificationTokenRequest(
            tenant_id=tenant_id,
            caller=caller,
            user_id=user_id,
            password=sent.password,
            passkey_code=sent.mfa_code,
        )
        issued = await self._accounts.IssueModificationToken(asked, timeout=self._calls.long_timeout)
        return written(
            {
                "id": issued.modification_token,
                "user_id": user_id,
                "exp": issued.expires_at,
                "ip": caller.browser.peer_address,
            }
        )

    @described(
        "Changes the account of the caller.",
        content(message(user_pb2.User)),
        body=_Changes,
        refusals=(406, 409),
    )
    async def update(self, request: web.Request) -> web.Response:
        (tenant_id, user_id), caller = tenant_and_id(request), self._calls.caller(request)
        sent = await read_json(request, _Changes, max_bytes=self._calls.max_bytes)
        asked = pb.UpdateAccountRequest(
            tenant_id=tenant_id,
            caller=caller,
            user_id=user_id,
            email=sent.email,
            given_name=sent.given_name,
            family_name=sent.family_name,
            language=sent.language,
            user_values=user_pb2.UserValues(**msgspec.structs.asdict(sent.user_values)),
            password_new=sent.password_new,
            password_current=sent.password_current,
            modification_token=sent.mfa_mod_token_id,
        )
        updated = await self._accounts.UpdateAccount(asked, timeout=self._calls.long_timeout)
        response = written(members(updated.user))
        if updated.HasField("cookie"):
            response.headers[CSRF_HEADER] = updated.cookie.csrf_token
            self._browsers.keep(request, response, cookie=updated.cookie)
        return response

    @described("Changes the username.", content(message(user_pb2.User)), body=_Username, refusals=(406, 409))
    async def update_username(self, request: web.Request) -> web.Response:
        """Change the username; without a name it is removed."""
        (tenant_id, user_id), caller = tenant_and_id(request), self._calls.caller(request)
        sent = await read_json(request, _Username, max_bytes=self._calls.max_bytes)
        asked = pb.UpdatePreferredUsernameRequest(
            tenant_id=tenant_id,
            caller=caller,
            user_id=user_id,
            preferred_username=sent.preferred_username or "",
            force_overwrite=sent.force_overwrite,
        )
        updated = await self._accounts.UpdatePreferredUsername(asked, timeout=self._calls.timeout)
        return written(members(updated.user))

    @described("Says whether users may delete their account.", done(202), refusals=(406,))
    async def check_deletion(self, request: web.Request) -> web.Response:
        tenant_id, user_id = tenant_and_id(request)
        asked = pb.CheckAccountDeletionRequest(
            tenant_id=tenant_id, caller=self._calls.caller(request), user_id=user_id
        )
        await self._accounts.CheckAccountDeletion(asked, timeout=self._calls.timeout)
        return web.Response(status=_ACCEPTED)

    @described("Deletes the account of the caller.", done(204), body=_Deletion, refusals=(406,))
    async def delete(self, request: web.Request) -> web.Response:
        (tenant_id, user_id), caller = tenant_and_id(request), self._calls.caller(request)
        sent = await read_json(request, _Deletion, max_bytes=self._calls.max_bytes)
        asked = pb.DeleteAccountRequest(
            tenant_id=tenant_id,
            caller=caller,
            user_id=user_id,
            modification_token=sent.mfa_mod_token_id,
        )
        await self._accounts.DeleteAccount(asked, timeout=self._calls.long_timeout)
        response = web.Response(status=204)
        self._browsers.forget(request, response)
        return response
