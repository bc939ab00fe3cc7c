"""BlacklistService."""

from gnomon.identity.v1 import blacklist_service_pb2 as pb
from identity.access.login_protection.blacklist import Blacklist
from identity.access.rpc.admission import Admission
from identity.access.rpc.operations import Operations, named


class BlacklistServicer(Operations):
    def __init__(self, admission: Admission, blacklist: Blacklist) -> None:
        super().__init__(
            admission,
            {
                pb.AdmitAddressRequest: blacklist.admit,
                pb.ListBlockedAddressesRequest: blacklist.blocked,
                pb.BlockAddressRequest: named(blacklist.block, address="ip", until="exp"),
                pb.UnblockAddressRequest: named(blacklist.unblock, address="ip"),
            },
            names={"ip": "address", "exp": "until"},
        )
