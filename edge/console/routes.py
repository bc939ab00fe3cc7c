"""All addresses of the console, in one table."""

from collections.abc import Iterator, Mapping
from pathlib import Path

from aiohttp import hdrs, web

from edge.assets import Assets
from edge.config import EdgeConfig
from edge.console.addresses import SIGNED_OUT_PAGE, START
from edge.console.administration import Administration
from edge.console.api import Api, CredentialOf
from edge.console.identity.audit import audit
from edge.console.identity.pages import (
    change_record,
    change_records,
    create_record,
    identity,
    live_events,
    new_record,
    personal_data,
    record,
    records,
)
from edge.console.live_streams import LiveStreams
from edge.console.pages.batches import batch, batches, change_batch, live_batch
from edge.console.pages.decisions import decision, decision_model, decisions, evaluation
from edge.console.pages.expressions import evaluate, expression
from edge.console.pages.instance import cancel, fire_timer, instance, resolve, resolve_all, set_retries
from edge.console.pages.instances import begin_batch, instances
from edge.console.pages.live import live_instance, live_process, model
from edge.console.pages.migration import migrate, migration
from edge.console.pages.models import (
    EDITORS,
    decision_editor,
    editor_file,
    models,
    new_model,
    process_editor,
    start_form,
    start_form_editor,
)
from edge.console.pages.modification import modification, modify
from edge.console.pages.overview import overview
from edge.console.pages.processes import process, processes
from edge.console.pages.starts import start, start_page
from edge.console.pages.tasks import assign, claim, complete, give_back, task, tasks
from edge.console.pages.variables import new_variable, set_variable, variable
from edge.console.renderer import Renderer
from edge.console.sign_in import CALLBACK, SIGNED_OUT, SignIn
from edge.console.site import Change, Show, Site
from edge.oidc.access.browsers import Browsers
from edge.oidc.access.canonical_host import CanonicalHost
from edge.oidc.access.hosts import Hosts
from edge.oidc.access.peers import Peers
from edge.oidc.config import AccessConfig, OidcConfig
from edge.oidc.pages import PageAssets, Pages
from edge.oidc.people.personal_data import PersonalDataDocuments
from edge.oidc.prefix import PREFIX
from edge.oidc.stubs import stubs_of
from edge.problem import Handler
from server.platform.channels import Channel
from server.platform.clock import SystemClock
from server.platform.errors import NotFound

_FOLDER = Path(__file__).parent
_STATIC = f"{START}static"
# Files of npm, which are absent where npm was absent at set-up.
_DIAGRAM = f"{START}diagram"
_TENANT = f"{START}{{tenant:[a-z0-9-]+}}"

_Row = tuple[str, str, Handler]


def console_routes(
    channel: Channel,
    config: EdgeConfig,
    *,
    oidc: OidcConfig,
    access: AccessConfig,
    has_tls: bool,
    canonical: CanonicalHost | None,
    credential_of: CredentialOf,
) -> list[web.RouteDef]:
    """Return the routes of the console; they must precede those of the provider, which has all paths below /auth.

    `has_tls` is whether browsers use https; `credential_of` returns the metadata of a request's session.
    """
    stubs = stubs_of(channel)
    assets = (Assets(_FOLDER / "static", _STATIC), Assets(_FOLDER / "diagram", _DIAGRAM))
    site = Site(
        stubs=stubs,
        api=Api(channel, config, credential_of),
        administration=Administration(channel, oidc),
        hosts=Hosts(stubs, oidc, peers=Peers(access.trusted_proxies), clock=SystemClock()),
        browsers=Browsers(access, has_tls=has_tls),
        renderer=Renderer({name: address for each in assets for name, address in each.addresses.items()}),
        provider_pages=Pages(PageAssets(), SystemClock()),
        streams=LiveStreams(),
        sign_in=SignIn(stubs, access, has_tls=has_tls, timeout=oidc.call_timeout_seconds),
        canonical=canonical or CanonicalHost(),
        personal_data=PersonalDataDocuments(
            stubs, timeout=oidc.call_timeout_seconds, long_timeout=oidc.long_call_timeout_seconds
        ),
        timeout=oidc.call_timeout_seconds,
        max_form_bytes=config.max_body_bytes,
    )
    # A route for GET serves HEAD as well.
    return [
        web.route(method, path, handler)
        for method, path, handler in (*_entries(site, *assets), *_pages(site))
    ]


def _entries(site: Site, static: Assets, diagram: Assets) -> Iterator[_Row]:
    async def signed_out(request: web.Request) -> web.StreamResponse:
        return site.renderer.page(request, "signed_out.html", {"start": START})

    async def to_signed_out(_: web.Request) -> web.StreamResponse:
        return web.Response(status=303, headers={hdrs.LOCATION: SIGNED_OUT_PAGE})

    async def to_start(_: web.Request) -> web.StreamResponse:
        return web.Response(status=308, headers={hdrs.LOCATION: START})

    yield "GET", START, site.open(site.start)
    yield "GET", START.rstrip("/"), site.open(to_start)
    yield "GET", SIGNED_OUT_PAGE, site.open(signed_out)
    yield "GET", f"{_STATIC}/{{name}}", site.open(_file_of(static))
    yield "GET", f"{_DIAGRAM}/{{name}}", site.open(_file_of(diagram))
    yield "GET", f"{EDITORS}/{{name}}", site.open(editor_file)
    for issuer in (PREFIX, f"{PREFIX}/{{tenant:[a-z0-9-]+}}"):
        yield "GET", f"{issuer}/{CALLBACK}", site.open(site.callback)
        yield "GET", f"{issuer}/{SIGNED_OUT}", site.open(to_signed_out)


def _file_of(assets: Assets) -> Handler:
    async def file(request: web.Request) -> web.StreamResponse:
        found = assets.get(request)
        if found is None:
            raise NotFound("there is no such file")
        return found

    return file


def _pages(site: Site) -> Iterator[_Row]:
    for path, show in PAGES.items():
        yield "GET", f"{_TENANT}/{path}", site.page(show)
    for path, change in CHANGES.items():
        yield "POST", f"{_TENANT}/{path}", site.change(change)


# By their paths below the tenant; a fixed segment precedes a key.
PAGES: Mapping[str, Show] = {
    "": overview,
    "processes": processes,
    "processes/{key}": process,
    "processes/{key}/model": model,
    "processes/{key}/edit": process_editor,
    "processes/{key}/start-form": start_form,
    "processes/{key}/start-form/edit": start_form_editor,
    "processes/{key}/live": live_process,
    "processes/{key}/start": start_page,
    "models": models,
    "models/expression": expression,
    "models/new/{kind}": new_model,
    "instances": instances,
    "instances/{key}": instance,
    "instances/{key}/live": live_instance,
    "instances/{key}/variables/new": new_variable,
    "instances/{key}/variables/{variable}": variable,
    "instances/{key}/modification": modification,
    "instances/{key}/migration": migration,
    "batches": batches,
    "batches/{key}": batch,
    "batches/{key}/live": live_batch,
    "tasks": tasks,
    "tasks/{key}": task,
    "decisions": decisions,
    "decisions/{key}": decision,
    "decisions/{key}/edit": decision_editor,
    "decisions/{key}/model": decision_model,
    "evaluations/{key}": evaluation,
    "identity": identity,
    "audit": audit,
    "identity/new/{kind}": new_record,
    "identity/events/live": live_events,
    "identity/{kind}": records,
    "identity/{kind}/{key}": record,
    "identity/users/{key}/personal-data": personal_data,
}
CHANGES: Mapping[str, Change] = {
    "instances/batch": begin_batch,
    "instances/{key}/cancellation": cancel,
    "instances/{key}/incident-resolution": resolve,
    "instances/{key}/incidents-resolution": resolve_all,
    "instances/{key}/job-retries": set_retries,
    "instances/{key}/timer-firing": fire_timer,
    "instances/{key}/variables": set_variable,
    "instances/{key}/modification": modify,
    "instances/{key}/migration": migrate,
    "batches/{key}/change": change_batch,
    "models/expression": evaluate,
    "processes/{key}/start": start,
    "tasks/{key}/claim": claim,
    "tasks/{key}/return": give_back,
    "tasks/{key}/assignment": assign,
    "tasks/{key}/completion": complete,
    "identity/new/{kind}": create_record,
    "identity/{kind}": change_records,
    "identity/{kind}/{key}": change_record,
}
