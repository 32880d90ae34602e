"""Which addresses are public: judged on what a name resolves to, before anything is connected. Pure."""

from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network

_CLOSED = tuple(
    ip_network(text)
    for text in (
        # Named here too where the standard library knows them, since its versions differ.
        "0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12", "192.0.0.0/24",
        "192.0.2.0/24", "192.88.99.0/24", "192.168.0.0/16", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24",
        "224.0.0.0/4", "240.0.0.0/4",
        "::/128", "::1/128", "64:ff9b:1::/48", "100::/64", "2001:db8::/32", "3fff::/20", "5f00::/16", "fc00::/7",
        "fe80::/10", "fec0::/10", "ff00::/8",
    )
)  # fmt: skip
_NAT64 = ip_network("64:ff9b::/96")
_COMPATIBLE = ip_network("::/96")
_LOW = 0xFFFF_FFFF


def is_public(text: str) -> bool:
    """An address that carries another one (mapped, NAT64, 6to4, Teredo) is as public as what it carries."""
    try:
        # A scope (`fe80::1%eth0`) belongs to local addresses only.
        address = ip_address(text)
    except ValueError:
        return False
    if isinstance(address, IPv6Address) and address.scope_id is not None:
        return False
    carried = _carried(address) if isinstance(address, IPv6Address) else ()
    if carried:
        return all(_is_open(inner) for inner in carried)
    return _is_open(address)


def _is_open(address: IPv4Address | IPv6Address) -> bool:
    closed = any(address.version == network.version and address in network for network in _CLOSED)
    return not closed and address.is_global and not address.is_multicast


def _carried(address: IPv6Address) -> tuple[IPv4Address, ...]:
    if address.ipv4_mapped is not None:
        return (address.ipv4_mapped,)
    if address in _NAT64 or address in _COMPATIBLE:
        return (IPv4Address(int(address) & _LOW),)
    if address.sixtofour is not None:
        return (address.sixtofour,)
    return address.teredo or ()
