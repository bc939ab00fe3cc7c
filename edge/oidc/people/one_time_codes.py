"""POST /users/{id}/one_time_codes, whose response has a picture. All else is in one_time_code_service.proto."""

import msgspec
import segno
from aiohttp import web

from edge.oidc.access.administration_calls import AdministrationCalls, tenant_and_id, written
from edge.oidc.access.body import read_json
from edge.oidc.openapi.operation import content, described
from edge.oidc.openapi.schemas import STRING, an_object, with_any
from edge.oidc.stubs import Stubs
from gnomon.identity.v1 import one_time_code_service_pb2 as pb

_CREATED = 201


class _Named(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    name: str
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
