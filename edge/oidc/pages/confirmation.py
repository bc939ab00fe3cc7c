"""Pages of self-registration and e-mail confirmation."""

from aiohttp import web

from edge.oidc.access.originating_request import OriginatingRequest
from edge.oidc.pages.renderer import Pages
from edge.oidc.prefix import PREFIX
from gnomon.identity.v1 import registration_service_pb2 as pb

_SEND_AGAIN = "/users/request_confirmation"


class ConfirmationPages:
    """`path` is the path of the tenant's issuer, without a final slash."""

    def __init__(self, pages: Pages) -> None:
        self._pages = pages

    def registration(
        self, page: pb.GetRegistrationPageResponse, path: str, *, originating_request: OriginatingRequest
    ) -> web.Response:
        state = self._pages.state(path, "/users/register") | {"send_again": f"{path}{_SEND_AGAIN}"}
        facts = {
            "page": page,
            "state": state,
            "action": originating_request.registration_address(path),
            "back": originating_request.sign_in_address(path),
            "terms": f"{path}/oidc/terms",
        }
        return self._pages.rendered("registration.html", facts)

    def registered(self, path: str, email: str, *, originating_request: OriginatingRequest) -> web.Response:
        """The page after a registration without script; it is the same for every address."""
        facts = {
            "email": email,
            "send_again": f"{path}{_SEND_AGAIN}",
            "back": originating_request.sign_in_address(path),
        }
        return self._pages.rendered("registered.html", facts)

    def company_sign_in(self, provider_name: str, location: str) -> web.Response:
        """The page for an address whose organization has its own sign-in."""
        facts = {"provider_name": provider_name, "location": location}
        return self._pages.rendered("company_sign_in.html", facts, status=409)

    def behind_link(self, confirmation: pb.Confirmation, path: str) -> web.Response:
        match confirmation.status:
            case pb.CONFIRMATION_STATUS_OPEN:
                return self._pages.rendered("confirm_email.html", {"email": confirmation.email})
            case pb.CONFIRMATION_STATUS_CONFIRMED:
                facts = {"confirmation": confirmation, "entry": f"{PREFIX}/"}
                return self._pages.rendered("email_confirmed.html", facts)
            case _:
                return self._send_again("expired", path, email=confirmation.email, status=400)

    def no_such_link(self, path: str) -> web.Response:
        return self._send_again("unknown", path, status=404)

    def confirm_first(self, path: str, email: str) -> web.Response:
        """The page after a right password while the address is unconfirmed."""
        return self._send_again("first", path, email=email, status=403)

    def send_again(self, path: str) -> web.Response:
        return self._send_again("again", path)

    def sent(self) -> web.Response:
        return self._pages.rendered("letter_sent.html", {})

    def _send_again(self, reason: str, path: str, *, email: str = "", status: int = 200) -> web.Response:
        facts = {"reason": reason, "email": email, "state": self._pages.state(path, _SEND_AGAIN)}
        return self._pages.rendered("send_again.html", facts, status=status)
