"""Which addresses of the web may be reached, by the guard's own policy; only the resolver is a test's."""

from collections.abc import Sequence
from ipaddress import IPv4Address, IPv6Address, ip_address

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graph.errors import WebUnavailable
from tools.web.guard import Guard, is_public, resolve

PUBLIC = "93.184.215.14"
PUBLIC_6 = "2606:2800:21f:cb07:6820:80da:af6b:8b2c"
FORBIDDEN = [
    "127.0.0.1",
    "127.8.8.8",
    "0.0.0.0",
    "10.1.2.3",
    "172.16.0.1",
    "172.31.255.255",
    "192.168.1.1",
    "169.254.169.254",
    "100.64.0.1",
    "100.100.100.200",
    "168.63.129.16",
    "192.0.0.192",
    "192.0.2.1",
    "198.18.0.1",
    "203.0.113.9",
    "224.0.0.1",
    "240.0.0.1",
    "255.255.255.255",
    "::",
    "::1",
    "::127.0.0.1",
    "::ffff:127.0.0.1",
    "::ffff:169.254.169.254",
    "::ffff:a00:1",
    "::ffff:0:10.0.0.1",
    "64:ff9b::10.0.0.1",
    "64:ff9b::a9fe:a9fe",
    "64:ff9b:1::8.8.8.8",
    "2002:7f00:1::",
    "2002:c0a8:101::1",
    "2001:0:4136:e378:8000:63bf:3fff:fdd2",
    "2001:db8::1",
    "3fff::1",
    "100::1",
    "fc00::1",
    "fd00:ec2::254",
    "fe80::1",
    "fe80::1%eth0",
    "2606:4700::1%eth0",
    "fec0::1",
    "ff02::1",
    "5f00::1",
]


class Names:
    """A resolver that gives what it is told, one answer after the other, and counts."""

    def __init__(self, *answers: Sequence[str] | OSError) -> None:
        self._answers = list(answers)
        self.asked: list[str] = []

    async def __call__(self, host: str, port: int) -> Sequence[str]:
        self.asked.append(host)
        answer = self._answers.pop(0) if len(self._answers) > 1 else self._answers[0]
        if isinstance(answer, OSError):
            raise answer
        return answer


@pytest.mark.parametrize("address", FORBIDDEN)
async def test_what_is_not_public_is_refused_as_it_stands_and_behind_a_name(address: str) -> None:
    assert not is_public(address)
    literal = f"[{address}]" if ":" in address else address
    with pytest.raises(WebUnavailable):
        await Guard(resolve=Names([PUBLIC])).check(f"http://{literal}/")
    with pytest.raises(WebUnavailable, match="not a public one"):
        await Guard(resolve=Names([PUBLIC, address])).check("http://mixed.example/")


@pytest.mark.parametrize("address", [PUBLIC, "8.8.8.8", PUBLIC_6, "::ffff:8.8.8.8", "64:ff9b::8.8.8.8", "2a00::1"])
async def test_what_is_public_may_be_reached(address: str) -> None:
    target = await Guard(resolve=Names([address])).check("https://example.com/a?b=c")
    assert target.addresses == (address,)
    assert str(target.url) == "https://example.com/a?b=c"


@given(st.ip_addresses())
def test_nothing_is_public_that_python_calls_private(ip: IPv4Address | IPv6Address) -> None:
    if ip.is_private or ip.is_multicast or ip.is_reserved or ip.is_loopback or ip.is_link_local or ip.is_unspecified:
        assert not is_public(str(ip)) or str(ip).startswith(("64:ff9b:", "::ffff:"))


@given(st.ip_addresses(v=4))
def test_an_address_in_the_dress_of_ipv6_is_judged_by_what_it_stands_for(ip: IPv4Address | IPv6Address) -> None:
    assert is_public(f"::ffff:{ip}") == is_public(f"64:ff9b::{ip}") == is_public(str(ip))
    assert not is_public(f"::{ip}")
    assert not is_public(f"2002:{int(ip) >> 16:x}:{int(ip) & 0xFFFF:x}::1")


@pytest.mark.parametrize("text", ["", "no", "1.2.3", "8.8.8.8/32", "08.8.8.8", "8.8.8.8 "])
def test_what_is_no_address_is_not_public(text: str) -> None:
    assert not is_public(text)


@pytest.mark.parametrize(
    "url",
    [
        "http://2130706433/",
        "http://017700000001/",
        "http://0x7f000001/",
        "http://0x7f.0.0.1/",
        "http://0177.0.0.1/",
        "http://127.1/",
        "http://127.0.0.1./",
        "http://127。0。0。1/",
        "http://１２７.0.0.1/",
        "http://①②⑦.0.0.1/",
        "http://%31%32%37.0.0.1/",
        "http://example.com.0x7f/",
        "http://localhost/",
        "http://localhost./",
        "http://LOCALHOST/",
        "http://ⅼocalhost/",
        "http://intranet/",
        "http://exa\\mple.com/",
        "http://example.com\\@127.0.0.1/",
        "http://-/",
        "http://.example.com/",
        "http://a..example.com/",
        f"http://{'a' * 64}.com/",
        f"http://{'a.' * 130}com/",
        "http:///path",
        "http:example.com",
        "//example.com/",
        "",
        "http://",
        "http://[",
        "http://[::1",
        "http://example.com:99999/",
        "http://exam ple.com/",
        "http://example.com/\r\nHost: inside",
        "http://example.com/\x00",
        f"http://example.com/{'a' * 2000}",
    ],
)
async def test_odd_addresses_are_refused_before_anything_is_asked(url: str) -> None:
    names = Names([PUBLIC])
    with pytest.raises(WebUnavailable):
        await Guard(resolve=names).check(url)
    assert names.asked == []


@pytest.mark.parametrize("scheme", ["file", "ftp", "gopher", "javascript", "data", "ws", "httpss", "unix"])
async def test_other_schemes_are_refused(scheme: str) -> None:
    with pytest.raises(WebUnavailable, match="neither http nor https"):
        await Guard(resolve=Names([PUBLIC])).check(f"{scheme}://example.com/")


@pytest.mark.parametrize("user", ["user@", "user:word@", ":@", "user%40x@", "127.0.0.1:80@"])
async def test_addresses_that_name_a_user_are_refused(user: str) -> None:
    with pytest.raises(WebUnavailable):
        await Guard(resolve=Names([PUBLIC])).check(f"http://{user}example.com/")


@pytest.mark.parametrize("port", [0, 21, 22, 25, 81, 6379, 8080, 8443, 65535])
async def test_other_ports_are_refused(port: int) -> None:
    with pytest.raises(WebUnavailable, match="port"):
        await Guard(resolve=Names([PUBLIC])).check(f"http://example.com:{port}/")


async def test_the_ports_of_the_web_may_be_named() -> None:
    guard = Guard(resolve=Names([PUBLIC]))
    for url in ("http://example.com:80/", "https://example.com:443/", "http://example.com:443/", "http://8.8.8.8/"):
        assert (await guard.check(url)).addresses


@pytest.mark.parametrize("answer", [[], OSError("no such host"), ["no address"]])
async def test_a_host_that_is_not_known_is_refused(answer: Sequence[str] | OSError) -> None:
    with pytest.raises(WebUnavailable):
        await Guard(resolve=Names(answer)).check("http://example.com/")


async def test_the_system_is_asked_for_addresses() -> None:
    found = await resolve("localhost", 80)
    assert found
    assert not any(map(is_public, found))
    assert len(found) == len(set(found))


async def test_a_host_in_other_letters_is_asked_for_in_ascii() -> None:
    names = Names([PUBLIC])
    await Guard(resolve=names).check("http://Bücher.Example。com/")
    assert names.asked == ["xn--bcher-kva.example.com"]


@given(st.text(max_size=60))
async def test_whatever_an_address_is_it_is_refused_or_checked(text: str) -> None:
    guard = Guard(resolve=Names([PUBLIC]))
    for url in (text, f"http://{text}", f"http://{text}/", f"https://example.com/{text}"):
        try:
            target = await guard.check(url)
        except WebUnavailable:
            continue
        assert all(is_public(address) for address in target.addresses)
        assert ip_address(target.addresses[0])
