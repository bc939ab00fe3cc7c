"""DPoP proofs in HTTP requests: RFC 9449 §4.1."""

from aiohttp import web

from edge.oidc.access.refusal import Refused
from gnomon.identity.v1 import token_service_pb2 as pb

HEADER = "DPoP"
NONCE_HEADER = "DPoP-Nonce"
# RFC 9449 §5.1: accepted algorithms of proofs.
ALGORITHMS = "ES256 EdDSA RS256 PS256"


def proof_of(request: web.Request) -> pb.DpopProof | None:
    """Return the proof with the method and address that it must be for, None without one; raises Refused."""
    proofs = request.headers.getall(HEADER, ())
    if len(proofs) > 1:
        raise invalid_proof("the DPoP header comes more than once")
    if not proofs:
        return None
    if not proofs[0].isascii():
        raise invalid_proof("the proof is no JWT")
    return pb.DpopProof(proof=proofs[0], http_method=request.method, path=request.rel_url.raw_path)


def invalid_proof(message: str) -> Refused:
    return Refused(400, "invalid_dpop_proof", message, is_oauth=True)
