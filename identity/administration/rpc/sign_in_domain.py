"""SignInDomainService."""

from typing import Protocol

from gnomon.identity.v1 import caller_pb2
from gnomon.identity.v1 import sign_in_domain_service_pb2 as pb
from identity.access.callers import Actor, AdministrationArea, Callers, Right
from identity.access.rpc.records import message_of
from identity.administration.tenants.domain_administration import DomainAdministration
from identity.directory.tenants.sign_in_domain import SignInDomain, Target, TargetType
from identity.foundation.events.event import EventActor
from identity.foundation.tenants import Tenants
from server.platform.call import Call
from server.platform.errors import InvalidArgument, NotFound, Unauthenticated


class Asked(Protocol):
    tenant_id: str

    @property
    def caller(self) -> caller_pb2.Caller: ...


class SignInDomainServicer:
    def __init__(self, tenants: Tenants, administration: DomainAdministration, callers: Callers) -> None:
        self._tenants = tenants
        self._administration = administration
        self._callers = callers

    async def list_sign_in_domains(
        self, request: pb.ListSignInDomainsRequest, _call: Call
    ) -> pb.ListSignInDomainsResponse:
        await self._admit(request, Right.READ)
        found = await self._administration.all(request.tenant_id)
        return pb.ListSignInDomainsResponse(domains=map(_message, found))

    async def create_sign_in_domain(
        self, request: pb.CreateSignInDomainRequest, _call: Call
    ) -> pb.CreateSignInDomainResponse:
        actor = await self._admit(request, Right.CREATE)
        target = _target(request.target) if request.HasField("target") else Target()
        created = await self._administration.add(request.tenant_id, request.domain, target, actor=actor)
        return pb.CreateSignInDomainResponse(domain=_message(created))

    async def update_sign_in_domain(
        self, request: pb.UpdateSignInDomainRequest, _call: Call
    ) -> pb.UpdateSignInDomainResponse:
        actor = await self._admit(request, Right.UPDATE)
        changed = await self._administration.change_target(
            request.tenant_id, request.domain, _target(request.target), actor=actor
        )
        return pb.UpdateSignInDomainResponse(domain=_message(changed))

    async def verify_sign_in_domain(
        self, request: pb.VerifySignInDomainRequest, _call: Call
    ) -> pb.VerifySignInDomainResponse:
        if request.without_dns:
            actor = await self._admit_to_deployment(request, Right.UPDATE)
            verify = self._administration.vouch_for
        else:
            actor = await self._admit(request, Right.UPDATE)
            verify = self._administration.verify
        verified = await verify(request.tenant_id, request.domain, actor=actor)
        return pb.VerifySignInDomainResponse(domain=_message(verified))

    async def delete_sign_in_domain(
        self, request: pb.DeleteSignInDomainRequest, _call: Call
    ) -> pb.DeleteSignInDomainResponse:
        actor = await self._admit(request, Right.DELETE)
        await self._administration.remove(request.tenant_id, request.domain, actor=actor)
        return pb.DeleteSignInDomainResponse()

    async def _admit(self, request: Asked, right: Right) -> EventActor:
        """Admit an administrator of the tenant, else one of the deployment; an unknown tenant gives the same error."""
        try:
            tenant = self._tenants.find(request.tenant_id)
            return _event_actor(
                await self._callers.expect(tenant, request.caller, AdministrationArea.TENANTS, right)
            )
        except (NotFound, Unauthenticated):
            return await self._admit_to_deployment(request, right)

    async def _admit_to_deployment(self, request: Asked, right: Right) -> EventActor:
        default = self._tenants.default
        return _event_actor(
            await self._callers.expect(default, request.caller, AdministrationArea.TENANTS, right)
        )


def _event_actor(actor: Actor) -> EventActor:
    return EventActor(kind=actor.kind, id=actor.id, name=actor.name)


def _target(message: pb.SignInTarget) -> Target:
    try:
        return Target(type=TargetType(message.type), provider_ids=tuple(message.providers))
    except ValueError as error:
        raise InvalidArgument(str(error)) from error


def _message(domain: SignInDomain) -> pb.SignInDomain:
    target = pb.SignInTarget(type=domain.target.type, providers=domain.target.provider_ids)
    return message_of(pb.SignInDomain, domain, {"domain": "name"}, target=target)
