"""Dependencies that all ways to sign in share: proof of work, authorization requests and the final sign-in step."""

from dataclasses import dataclass

from identity.authorization.asked import AskedRequests
from identity.authorization.signing_in import SigningIn
from identity.proof_of_work.proof_of_work import ProofOfWork


@dataclass(frozen=True, slots=True, kw_only=True)
class Door:
    proof_of_work: ProofOfWork
    asked: AskedRequests
    signing_in: SigningIn
