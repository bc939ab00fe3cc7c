"""The page with the requests that wait for a user, and the one that reports a decision."""

from datetime import UTC, datetime
from functools import partial
from urllib.parse import quote

from aiohttp import web

from edge.language_of_request import kept_language
from edge.oidc.pages.renderer import Pages
from edge.oidc.pages.words import words_of
from gnomon.identity.v1 import backchannel_authentication_service_pb2 as pb
from server.platform.languages import Language, marked


def sign_in_requests_page(pages: Pages, path: str, found: pb.ListBackchannelRequestsResponse) -> web.Response:
    """`path` is the path of the tenant's issuer, without a final slash."""
    language = kept_language(of_user=found.user_language)
    action = f"{path}/sign-in-requests"
    return pages.rendered(
        "sign_in_requests.html",
        {
            "action": action,
            "account": f"{path}/account",
            "email": found.email,
            "csrf_token": found.csrf_token,
            "requests": [
                {
                    "message": request,
                    "name": request.client_name or request.client_id,
                    "rights": [words_of(scope, language) for scope in request.scopes],
                    "confirm": f"{action}?confirm={quote(request.id, safe='')}",
                }
                for request in found.requests
            ],
            "moment": partial(_moment, language),
        },
        language=language,
    )


def answered_page(
    pages: Pages, path: str, answered: pb.AnswerBackchannelRequestResponse, *, is_accepted: bool
) -> web.Response:
    name = answered.client_name or answered.client_id
    return pages.told(
        marked("Request approved") if is_accepted else marked("Request declined"),
        marked("Continue at %(client)s. You can close this page.")
        if is_accepted
        else marked("%(client)s gets no access. You can close this page."),
        way_on=f"{path}/sign-in-requests",
        words=marked("See other requests"),
        values={"client": name},
    )


def _moment(language: Language, seconds: int) -> str:
    return language.moment(datetime.fromtimestamp(seconds, UTC))
