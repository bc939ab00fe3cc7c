"""SignInDomainService."""

from gnomon.identity.v1 import sign_in_domain_service_pb2 as pb
from identity.access.callers import Actor
from identity.access.rpc.admission import Admission
from identity.access.rpc.operations import Operations, named
from identity.access.rpc.records import message_of
from identity.administration.tenants.domain_administration import DomainAdministration
from identity.directory.tenants.sign_in_domain import SignInDomain, Target, TargetType
from server.platform.call import Call
from server.platform.errors import InvalidArgument


class SignInDomainServicer(Operations):
    def __init__(self, admission: Admission, domains: DomainAdministration) -> None:
        self._admission = admission
        self._domains = domains
        super().__init__(
            admission,
            {
                pb.ListSignInDomainsRequest: domains.all,
                pb.CreateSignInDomainRequest: self._create,
                pb.UpdateSignInDomainRequest: named(domains.change_target, text="domain"),
                pb.DeleteSignInDomainRequest: named(domains.remove, text="domain"),
            },
            reads={Target: _target},
            shows={SignInDomain: _message},
        )

    async def _create(self, request: pb.CreateSignInDomainRequest, actor: Actor) -> SignInDomain:
        target = _target(request.target) if request.HasField("target") else Target()
        return await self._domains.add(request.tenant_id, request.domain, target, actor=actor)

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
        return pb.VerifySignInDomainResponse(domain=_message(verified))


def _target(message: pb.SignInTarget) -> Target:
    try:
        return Target(type=TargetType(message.type), provider_ids=tuple(message.providers))
    except ValueError as error:
        raise InvalidArgument(str(error)) from error


def _message(domain: SignInDomain) -> pb.SignInDomain:
    target = pb.SignInTarget(type=domain.target.type, providers=domain.target.provider_ids)
    return message_of(pb.SignInDomain, domain, {"domain": "name"}, target=target)
