"""DPoP proofs in calls: RFC 9449 §7.

A proof is for one HTTP request, so it counts from an edge alone, which passes it on with the method and the path.
"""

from dataclasses import dataclass, field

from server.platform.call import Call

_PROOF = "x-dpop-proof"
_METHOD = "x-dpop-method"
_PATH = "x-dpop-path"

# In the metadata of a refusal: the error code, and the nonce for the next proof.
ERROR = "dpop_error"
NONCE = "dpop_nonce"


@dataclass(frozen=True, slots=True)
class CarriedProof:
    """A proof, with the request that carries it."""

    proof: str = field(repr=False)
    http_method: str
    path: str

    @property
    def metadata(self) -> list[tuple[str, str]]:
        return [(_PROOF, self.proof), (_METHOD, self.http_method), (_PATH, self.path)]


def proof_of(call: Call) -> CarriedProof | None:
    """Return the proof of the caller, None without one or from a peer that is no edge."""
    proof = call.metadata.get(_PROOF, "")
    if not proof or not call.peer.is_edge:
        return None
    return CarriedProof(proof, call.metadata.get(_METHOD, ""), call.metadata.get(_PATH, ""))
