"""What every way to sign in shares: what is done before an account is looked at, and what follows."""

from dataclasses import dataclass

from identity.authorization.asked import AskedRequests
from identity.authorization.signing_in import SigningIn
from identity.proof_of_work.proof_of_work import ProofOfWork


@dataclass(frozen=True, slots=True, kw_only=True)
class Door:
    proof_of_work: ProofOfWork
    asked: AskedRequests
    signing_in: SigningIn
