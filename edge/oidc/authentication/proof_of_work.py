"""POST /pow: a proof-of-work challenge as plain text; a solution is this text with a counter appended."""

from aiohttp import web

from edge.oidc.access.tenant import tenant_of
from edge.oidc.config import OidcConfig
from edge.oidc.openapi.operation import Caller, described, plain
from edge.oidc.stubs import Stubs
from gnomon.identity.v1 import proof_of_work_service_pb2 as pb


class ProofOfWorkEndpoint:
    def __init__(self, stubs: Stubs, config: OidcConfig) -> None:
        self._proofs_of_work = stubs.proofs_of_work
        self._timeout = config.call_timeout_seconds

    @described(
        "Issues a challenge; forms of the sign-in carry its solution as `pow`.",
        plain("The challenge."),
        caller=Caller.ANYBODY,
    )
    async def post(self, request: web.Request) -> web.Response:
        asked = pb.IssueChallengeRequest(tenant_id=tenant_of(request))
        issued = await self._proofs_of_work.IssueChallenge(asked, timeout=self._timeout)
        return web.Response(text=issued.challenge, content_type="text/plain")
