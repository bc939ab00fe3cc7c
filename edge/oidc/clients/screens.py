"""/clients/{id}/screens: a client's sign-in and sign-out screens; schemas are in screen_service.proto."""

import re
from collections.abc import Iterator, Mapping
from typing import Any, Literal

import msgspec
from aiohttp import hdrs, web

from edge.conditional import is_named
from edge.oidc.access.administration_calls import AdministrationCalls, tenant_and_id, written
from edge.oidc.access.body import read_json
from edge.oidc.access.browsers import Browsers
from edge.oidc.access.message_json import MessageJson, members
from edge.oidc.access.tenant import issuer_path
from edge.oidc.config import OidcConfig
from edge.oidc.openapi.operation import UNCHANGED, content, described, may, page
from edge.oidc.openapi.schemas import all_of, message, with_any
from edge.oidc.pages import Pages
from edge.oidc.stubs import Stubs
from edge.problem import Handler
from gnomon.identity.v1 import screen_service_pb2 as pb

# Two templates and two stylesheets, lengthened by sanitizing, with each character escaped in JSON.
_MAX_BYTES = 2 * 1024 * 1024
_ENTITY_TAG = re.compile(r'(?<!W/)"([\x21\x23-\x7e]*)"')

_KINDS = {"login": pb.SCREEN_KIND_LOGIN, "logout": pb.SCREEN_KIND_LOGOUT}


class _Settings(msgspec.Struct, forbid_unknown_fields=True):
    """All settings; `removed_rules` of an earlier response may be present and is ignored."""

    removed_rules: object = None


_JSON = MessageJson(pb.ScreenSettings, _Settings, name="Settings")
_SETTINGS = all_of(pb.ScreenSettings)
# The members of a draft are those of the settings, in an object.
_Body: Any = _JSON.body


class _Draft(msgspec.Struct, forbid_unknown_fields=True, kw_only=True):
    screen: Literal["login", "logout"]
    settings: _Body


def about_screens(
    stubs: Stubs, config: OidcConfig, *, browsers: Browsers, pages: Pages
) -> Iterator[tuple[str, Mapping[str, Handler]]]:
    screens = ScreensEndpoint(stubs, AdministrationCalls(config, browsers), pages=pages)

    yield "/clients/{id}/screens", {"GET": screens.get, "PUT": screens.update}
    yield "/clients/{id}/screens/preview", {"POST": screens.preview}


class ScreensEndpoint:
    def __init__(self, stubs: Stubs, calls: AdministrationCalls, *, pages: Pages) -> None:
        self._screens = stubs.screens
        self._calls = calls
        self._pages = pages

    @described(
        "The look of the pages of a client.",
        content(_SETTINGS),
        UNCHANGED,
        headers=(may("If-None-Match", "Entity tags of the caller's copies."),),
    )
    async def get(self, request: web.Request) -> web.Response:
        tenant_id, client_id = tenant_and_id(request)
        asked = pb.GetClientScreensRequest(
            tenant_id=tenant_id, caller=self._calls.caller(request), client_id=client_id
        )
        found = await self._screens.GetClientScreens(asked, timeout=self._calls.timeout)
        if is_named(found.etag, request.headers.getall(hdrs.IF_NONE_MATCH, ())):
            return web.Response(status=304, headers=_tagged(found.etag))
        return written(members(found.settings), headers=_tagged(found.etag))

    @described(
        "Replaces the look of the pages of a client.",
        content(with_any(_SETTINGS, removed_rules=message(pb.RemovedRules))),
        body=_JSON.body,
        headers=(may("If-Match", "Entity tags, one of which the current screens must have."),),
        refusals=(412,),
    )
    async def update(self, request: web.Request) -> web.Response:
        (tenant_id, client_id), caller = tenant_and_id(request), self._calls.caller(request)
        sent = await read_json(request, _JSON.body, max_bytes=_MAX_BYTES)
        asked = pb.UpdateClientScreensRequest(
            tenant_id=tenant_id,
            caller=caller,
            client_id=client_id,
            settings=_JSON.read(sent),
            if_match=_if_match(request),
        )
        saved = await self._screens.UpdateClientScreens(asked, timeout=self._calls.timeout)
        removed = saved.removed_rules
        counts = {"custom_css": removed.custom_css, "logout_custom_css": removed.logout_custom_css}
        document = members(saved.settings) | {"removed_rules": counts}
        return written(document, headers=_tagged(saved.etag))

    @described("Draws a page with a look that is not saved.", page("The page."), body=_Draft)
    async def preview(self, request: web.Request) -> web.Response:
        (tenant_id, client_id), caller = tenant_and_id(request), self._calls.caller(request)
        sent = await read_json(request, _Draft, max_bytes=_MAX_BYTES)
        asked = pb.PreviewClientScreenRequest(
            tenant_id=tenant_id,
            caller=caller,
            client_id=client_id,
            settings=_JSON.read(sent.settings),
            kind=_KINDS[sent.screen],
        )
        shown = await self._screens.PreviewClientScreen(asked, timeout=self._calls.timeout)
        render = self._pages.sign_in_preview if sent.screen == "login" else self._pages.log_out_preview
        return render(shown.screen, issuer_path(request), client_name=shown.client_name)


def _tagged(etag: str) -> dict[str, str]:
    return {"ETag": f'"{etag}"'}


def _if_match(request: web.Request) -> list[str]:
    """Return the entity tags of If-Match: RFC 9110 §13.1.1; none for an absent header or `*`.

    A header without a valid tag gives a tag that matches nothing.
    """
    lines = request.headers.getall(hdrs.IF_MATCH, ())
    if not lines or "*" in (line.strip() for line in lines):
        return []
    return [tag for line in lines for tag in _ENTITY_TAG.findall(line)] or ["-"]
