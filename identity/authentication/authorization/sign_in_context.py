"""Dependencies that all ways to sign in share: proof of work, authorization requests and the final sign-in step."""

from dataclasses import dataclass

from identity.access.proof_of_work.proof_of_work import ProofOfWork
from identity.authentication.authorization.asked import AskedRequests
from identity.authentication.authorization.sign_in import SignInFlow


@dataclass(frozen=True, slots=True, kw_only=True)
class SignInContext:
    proof_of_work: ProofOfWork
    asked: AskedRequests
    sign_in_flow: SignInFlow
