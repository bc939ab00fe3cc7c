"""SignInDomainService."""

from gnomon.identity.v1 import sign_in_domain_service_pb2 as pb
from identity.access.rpc.admission import Admission
from identity.access.rpc.operations import Operations, named
from identity.access.rpc.records import message_of, record_of
from identity.administration.tenants.domain_administration import DomainAdministration
from identity.directory.tenants.sign_in_domain import Target
from server.platform.call import Call
from server.platform.errors import InvalidArgument

_NAMES = {"domain": "name", "providers": "provider_ids"}


class SignInDomainServicer(Operations):
    def __init__(self, admission: Admission, domains: DomainAdministration) -> None:
        self._admission = admission
        self._domains = domains
        super().__init__(
            admission,
            {
                pb.ListSignInDomainsRequest: domains.all,
                pb.CreateSignInDomainRequest: named(domains.add, text="domain"),
                pb.UpdateSignInDomainRequest: named(domains.change_target, text="domain"),
                pb.DeleteSignInDomainRequest: named(domains.remove, text="domain"),
            },
            names=_NAMES,
            reads={Target: _target},
        )

    async def verify_sign_in_domain(
        self, request: pb.VerifySignInDomainRequest, _call: Call
    ) -> pb.VerifySignInDomainResponse:
        if request.without_dns:
            actor = await self._admission.of_deployment(request)
            verify = self._domains.vouch_for
        else:
            actor = await self._admission.of_tenant_or_deployment(request)
            verify = self._domains.verify
        verified = await verify(request.tenant_id, request.domain, actor=actor)
        return pb.VerifySignInDomainResponse(domain=message_of(pb.SignInDomain, verified, _NAMES))


def _target(message: pb.SignInTarget) -> Target:
    if not message.type:
        return Target()
    target = record_of(Target, message, _NAMES, without=("password",))
    if message.HasField("password") and message.password is not target.password:
        raise InvalidArgument("target: expected no password with provider, and one with choice and password")
    return target
