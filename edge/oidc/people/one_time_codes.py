"""/users/{id}/one_time_codes and /users/{id}/recovery_codes: second factors by code, RFC 6238."""

import msgspec
import segno
from aiohttp import web

from edge.oidc.access.administration_calls import AdministrationCalls, named, tenant_and_id, written
from edge.oidc.access.body import read_json
from edge.oidc.access.message_json import members
from edge.oidc.openapi.operation import content, described, done
from edge.oidc.openapi.schemas import OBJECT, STRING, STRINGS, an_object, message, with_any
from edge.oidc.stubs import Stubs
from gnomon.identity.v1 import one_time_code_service_pb2 as pb

_CREATED = 201


class _Named(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    name: str
    mfa_mod_token_id: str = ""


class _First(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    one_time_code: str


class _Modified(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    mfa_mod_token_id: str = ""


class OneTimeCodesEndpoint:
    def __init__(self, stubs: Stubs, calls: AdministrationCalls) -> None:
        self._codes = stubs.one_time_codes
        self._calls = calls

    @described(
        "Begins the set-up of a code generator: RFC 6238.",
        content(with_any(an_object(id=STRING, secret=STRING, otpauth_uri=STRING))),
        body=_Named,
    )
    async def begin(self, request: web.Request) -> web.Response:
        tenant_id, user_id = tenant_and_id(request)
        sent = await read_json(request, _Named, max_bytes=self._calls.max_bytes)
        asked = pb.StartCodeGeneratorRequest(
            tenant_id=tenant_id,
            caller=self._calls.caller(request),
            user_id=user_id,
            name=sent.name,
            modification_token=sent.mfa_mod_token_id,
        )
        begun = await self._codes.StartCodeGenerator(asked, timeout=self._calls.timeout)
        return written(
            {
                "id": begun.id,
                "secret": begun.secret,
                "otpauth_uri": begun.otpauth_uri,
                # For pages, whose scripts draw no codes.
                "qr_code": segno.make(begun.otpauth_uri, micro=False).svg_data_uri(scale=4),
                "exp": begun.expires_at,
            },
            status=_CREATED,
        )

    @described(
        "Ends the set-up of a code generator with its first code.",
        done(201),
        content(OBJECT, status=201),
        body=_First,
    )
    async def confirm(self, request: web.Request) -> web.Response:
        tenant_id, user_id = tenant_and_id(request)
        sent = await read_json(request, _First, max_bytes=self._calls.max_bytes)
        asked = pb.ConfirmCodeGeneratorRequest(
            tenant_id=tenant_id,
            caller=self._calls.caller(request),
            user_id=user_id,
            generator_id=named(request, "generator_id"),
            one_time_code=sent.one_time_code,
        )
        await self._codes.ConfirmCodeGenerator(asked, timeout=self._calls.timeout)
        return web.Response(status=_CREATED)

    @described("Renames a code generator.", done(), body=_Named)
    async def rename(self, request: web.Request) -> web.Response:
        tenant_id, user_id = tenant_and_id(request)
        sent = await read_json(request, _Named, max_bytes=self._calls.max_bytes)
        asked = pb.RenameCodeGeneratorRequest(
            tenant_id=tenant_id,
            caller=self._calls.caller(request),
            user_id=user_id,
            generator_id=named(request, "generator_id"),
            name=sent.name,
            modification_token=sent.mfa_mod_token_id,
        )
        await self._codes.RenameCodeGenerator(asked, timeout=self._calls.timeout)
        return web.Response()

    @described("Deletes a code generator.", done(), body=_Modified, has_optional_body=True)
    async def delete(self, request: web.Request) -> web.Response:
        tenant_id, user_id = tenant_and_id(request)
        sent = await self._modified(request)
        asked = pb.DeleteCodeGeneratorRequest(
            tenant_id=tenant_id,
            caller=self._calls.caller(request),
            user_id=user_id,
            generator_id=named(request, "generator_id"),
            modification_token=sent.mfa_mod_token_id,
        )
        await self._codes.DeleteCodeGenerator(asked, timeout=self._calls.timeout)
        return web.Response()

    @described("Says how many recovery codes are left.", content(message(pb.GetRecoveryCodesResponse)))
    async def recovery_codes(self, request: web.Request) -> web.Response:
        tenant_id, user_id = tenant_and_id(request)
        asked = pb.GetRecoveryCodesRequest(
            tenant_id=tenant_id, caller=self._calls.caller(request), user_id=user_id
        )
        found = await self._codes.GetRecoveryCodes(asked, timeout=self._calls.timeout)
        return written(members(found))

    @described(
        "Makes new recovery codes; the response alone has them.",
        content(an_object(recovery_codes=STRINGS), status=201),
        body=_Modified,
        has_optional_body=True,
    )
    async def make_recovery_codes(self, request: web.Request) -> web.Response:
        tenant_id, user_id = tenant_and_id(request)
        sent = await self._modified(request)
        asked = pb.CreateRecoveryCodesRequest(
            tenant_id=tenant_id,
            caller=self._calls.caller(request),
            user_id=user_id,
            modification_token=sent.mfa_mod_token_id,
        )
        made = await self._codes.CreateRecoveryCodes(asked, timeout=self._calls.timeout)
        return written({"recovery_codes": [*made.recovery_codes]}, status=_CREATED)

    @described("Deletes the recovery codes.", done(), body=_Modified, has_optional_body=True)
    async def delete_recovery_codes(self, request: web.Request) -> web.Response:
        tenant_id, user_id = tenant_and_id(request)
        sent = await self._modified(request)
        asked = pb.DeleteRecoveryCodesRequest(
            tenant_id=tenant_id,
            caller=self._calls.caller(request),
            user_id=user_id,
            modification_token=sent.mfa_mod_token_id,
        )
        await self._codes.DeleteRecoveryCodes(asked, timeout=self._calls.timeout)
        return web.Response()

    async def _modified(self, request: web.Request) -> _Modified:
        if not request.can_read_body:
            return _Modified()
        return await read_json(request, _Modified, max_bytes=self._calls.max_bytes)
