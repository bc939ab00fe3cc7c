"""/users/{id}/webauthn and /users/webauthn_…: Web Authentication Level 3, §5.1 in JSON."""

from collections.abc import Mapping
from typing import Literal

import msgspec
import orjson
from aiohttp import web

from edge.oidc.access.administration_calls import AdministrationCalls, tenant_and_id, written
from edge.oidc.access.body import bad_request, read_json
from edge.oidc.access.browsers import CSRF_HEADER, Browsers
from edge.oidc.access.tenant import tenant_of
from edge.oidc.authentication.sign_in_fields import SignInFields
from edge.oidc.authentication.steps import scripted
from edge.oidc.openapi.operation import Caller, content, described, done
from edge.oidc.openapi.schemas import INTEGER, OBJECT, STRING, an_object, with_any
from edge.oidc.openapi.standards import CREATION_OPTIONS, REQUEST_OPTIONS
from edge.oidc.people.shown_links import shown_link
from edge.oidc.stubs import Stubs
from gnomon.identity.v1 import passkey_service_pb2 as pb
from gnomon.identity.v1 import password_reset_service_pb2 as reset_pb

# An attestation with its certificates takes some kilobytes.
_MAX_ANSWER_BYTES = 65_536

_PURPOSES = {
    "Discoverable": pb.PASSKEY_PURPOSE_DISCOVERABLE,
    "MfaModToken": pb.PASSKEY_PURPOSE_MODIFICATION,
    "PasswordReset": pb.PASSKEY_PURPOSE_PASSWORD_RESET,
    "Test": pb.PASSKEY_PURPOSE_TEST,
}


class _Registration(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Authorized by a modification token, or by the link of a new account."""

    passkey_name: str
    mfa_mod_token_id: str = ""
    magic_link_id: str = ""


class _Registered(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    passkey_name: str
    data: msgspec.Raw
    magic_link_id: str = ""


class _Modified(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    mfa_mod_token_id: str = ""


class _Login(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    code: str = msgspec.field(name="Login")


class _Start(SignInFields, frozen=True, forbid_unknown_fields=True, kw_only=True):
    purpose: _Login | Literal["Discoverable", "MfaModToken", "PasswordReset", "Test"]


class _Answer(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    code: str
    data: msgspec.Raw


class PasskeysEndpoint:
    def __init__(self, stubs: Stubs, calls: AdministrationCalls, *, browsers: Browsers) -> None:
        self._passkeys = stubs.passkeys
        self._resets = stubs.password_resets
        self._calls = calls
        self._browsers = browsers

    @described("Deletes a passkey.", done(), body=_Modified, has_optional_body=True)
    async def delete(self, request: web.Request) -> web.Response:
        (tenant_id, user_id), (_, name) = tenant_and_id(request), tenant_and_id(request, "name")
        sent = await self._modified(request)
        asked = pb.DeletePasskeyRequest(
            tenant_id=tenant_id,
            caller=self._calls.caller(request),
            user_id=user_id,
            name=name,
            modification_token=sent.mfa_mod_token_id,
        )
        await self._passkeys.DeletePasskey(asked, timeout=self._calls.timeout)
        return web.Response()

    @described(
        "Replaces the password of the account by its passkeys.",
        done(),
        body=_Modified,
        has_optional_body=True,
        refusals=(406,),
    )
    async def convert(self, request: web.Request) -> web.Response:
        tenant_id, user_id = tenant_and_id(request)
        sent = await self._modified(request)
        asked = pb.ConvertToPasskeyRequest(
            tenant_id=tenant_id,
            caller=self._calls.caller(request),
            user_id=user_id,
            modification_token=sent.mfa_mod_token_id,
        )
        await self._passkeys.ConvertToPasskey(asked, timeout=self._calls.timeout)
        return web.Response()

    @described(
        "Begins a ceremony of registration: WebAuthn Level 3 §7.1.",
        content(CREATION_OPTIONS),
        body=_Registration,
    )
    async def start_registration(self, request: web.Request) -> web.Response:
        tenant_id, user_id = tenant_and_id(request)
        sent = await read_json(request, _Registration, max_bytes=self._calls.max_bytes)
        if sent.magic_link_id:
            return await self._start_enrollment(request, sent)
        asked = pb.StartPasskeyRegistrationRequest(
            tenant_id=tenant_id,
            caller=self._calls.caller(request),
            user_id=user_id,
            name=sent.passkey_name,
            modification_token=sent.mfa_mod_token_id,
        )
        started = await self._passkeys.StartPasskeyRegistration(asked, timeout=self._calls.timeout)
        return written(_public_key(started.options))

    @described(
        "Ends a ceremony of registration.",
        done(201),
        content(an_object(location=STRING), status=201),
        body=_Registered,
    )
    async def finish_registration(self, request: web.Request) -> web.Response:
        tenant_id, user_id = tenant_and_id(request)
        sent = await read_json(request, _Registered, max_bytes=_MAX_ANSWER_BYTES)
        if sent.magic_link_id:
            return await self._finish_enrollment(request, sent)
        asked = pb.FinishPasskeyRegistrationRequest(
            tenant_id=tenant_id,
            caller=self._calls.caller(request),
            user_id=user_id,
            name=sent.passkey_name,
            answer=_text(sent.data),
        )
        await self._passkeys.FinishPasskeyRegistration(asked, timeout=self._calls.timeout)
        return web.Response(status=201)

    @described(
        "Begins a ceremony of authentication: WebAuthn Level 3 §7.2.",
        content(with_any(an_object(code=STRING, rcr=REQUEST_OPTIONS, exp=INTEGER), user_id=STRING)),
        caller=Caller.BROWSER,
        body=_Start,
    )
    async def start(self, request: web.Request) -> web.Response:
        """Begin an authentication ceremony, for the user of the path or for any passkey."""
        sent = await read_json(request, _Start, max_bytes=self._calls.max_bytes)
        purpose = sent.purpose
        asked = pb.StartPasskeyAuthenticationRequest(
            tenant_id=tenant_of(request),
            caller=self._calls.caller(request),
            user_id=_user_id(request),
            purpose=pb.PASSKEY_PURPOSE_LOGIN if isinstance(purpose, _Login) else _PURPOSES[purpose],
            code=purpose.code if isinstance(purpose, _Login) else "",
            authorization_id=sent.authorization_id,
            parameters=sent.parameters() if purpose == "Discoverable" else (),
            reset_cookie=self._browsers.link_cookie(request),
        )
        started = await self._passkeys.StartPasskeyAuthentication(asked, timeout=self._calls.timeout)
        person = {"user_id": started.user_id} if started.user_id else {}
        return written(
            {
                "code": started.code,
                "rcr": _public_key(started.options),
                **person,
                "exp": started.expires_in,
            }
        )

    @described(
        "Ends a ceremony of authentication.",
        content(with_any(OBJECT, code=STRING, user_id=STRING), status=202),
        done(202, "The redirect URI with the response is in `Location`."),
        caller=Caller.BROWSER,
        body=_Answer,
    )
    async def finish(self, request: web.Request) -> web.Response:
        sent = await read_json(request, _Answer, max_bytes=_MAX_ANSWER_BYTES)
        asked = pb.FinishPasskeyAuthenticationRequest(
            tenant_id=tenant_of(request),
            caller=self._calls.caller(request),
            user_id=_user_id(request),
            code=sent.code,
            answer=_text(sent.data),
            reset_cookie=self._browsers.link_cookie(request),
        )
        finished = await self._passkeys.FinishPasskeyAuthentication(asked, timeout=self._calls.long_timeout)
        if not (finished.HasField("redirect") or finished.HasField("consent")):
            person = {"code": finished.code, "user_id": asked.user_id} if finished.code else {}
            return written(person, status=202)
        return self._signed_in(request, finished)

    async def _start_enrollment(self, request: web.Request, sent: _Registration) -> web.Response:
        tenant_id, user_id = tenant_and_id(request)
        asked = reset_pb.StartPasskeyEnrollmentRequest(
            tenant_id=tenant_id,
            link=shown_link(request, self._browsers, user_id=user_id, code=sent.magic_link_id),
            name=sent.passkey_name,
        )
        started = await self._resets.StartPasskeyEnrollment(asked, timeout=self._calls.timeout)
        return written(_public_key(started.options))

    async def _finish_enrollment(self, request: web.Request, sent: _Registered) -> web.Response:
        tenant_id, user_id = tenant_and_id(request)
        asked = reset_pb.FinishPasskeyEnrollmentRequest(
            tenant_id=tenant_id,
            link=shown_link(request, self._browsers, user_id=user_id, code=sent.magic_link_id),
            name=sent.passkey_name,
            answer=_text(sent.data),
            peer_address=self._browsers.peer_address(request),
        )
        finished = await self._resets.FinishPasskeyEnrollment(asked, timeout=self._calls.timeout)
        return written({"location": finished.location}, status=201)

    def _signed_in(
        self, request: web.Request, finished: pb.FinishPasskeyAuthenticationResponse
    ) -> web.Response:
        response = scripted(request, finished)
        if finished.HasField("cookie"):
            response.headers[CSRF_HEADER] = finished.cookie.csrf_token
            self._browsers.keep(request, response, cookie=finished.cookie)
            self._browsers.remember(request, response, factor=finished.remembered)
        return response

    async def _modified(self, request: web.Request) -> _Modified:
        if not request.can_read_body:
            return _Modified()
        return await read_json(request, _Modified, max_bytes=self._calls.max_bytes)


def _user_id(request: web.Request) -> str:
    return tenant_and_id(request)[1] if "id" in request.match_info else ""


def _public_key(options: str) -> Mapping[str, orjson.Fragment]:
    return {"publicKey": orjson.Fragment(options)}


def _text(data: msgspec.Raw) -> str:
    try:
        return bytes(data).decode()
    except UnicodeDecodeError as error:
        raise bad_request("expected data in UTF-8") from error
