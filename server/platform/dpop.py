"""DPoP proofs in calls (RFC 9449 §7).

A proof belongs to one HTTP request, so only an edge may pass it on, with the HTTP method and path.
"""

from dataclasses import dataclass, field

from server.platform.call import Call

_PROOF = "x-dpop-proof"
_METHOD = "x-dpop-method"
_PATH = "x-dpop-path"

# Metadata of a refusal: the error code, and the nonce for the next proof.
ERROR = "dpop_error"
NONCE = "dpop_nonce"


@dataclass(frozen=True, slots=True)
class CarriedProof:
    """A DPoP proof with the method and path of the request that carries it."""

    proof: str = field(repr=False)
    http_method: str
    path: str

    @property
    def metadata(self) -> list[tuple[str, str]]:
        return [(_PROOF, self.proof), (_METHOD, self.http_method), (_PATH, self.path)]


def proof_of(call: Call) -> CarriedProof | None:
    """Return the caller's DPoP proof, or None without a proof or if the peer is not an edge."""
    proof = call.metadata.get(_PROOF, "")
    if not proof or not call.peer.is_edge:
        return None
    return CarriedProof(proof, call.metadata.get(_METHOD, ""), call.metadata.get(_PATH, ""))
