"""Who may ask the lab: this machine, this process's own page, in requests of modest size.

The guard is the outermost layer: what it does not let in reaches no route. Every answer of the lab
passes through it and leaves with the same headers, also refusals and failures.
"""

import hashlib
import hmac
import json
import secrets
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

NAMES = ("127.0.0.1", "localhost", "[::1]")
SAFE = ("GET", "HEAD")
BODY = 10_000_000  # bytes of a request at most
DOOR, ENTER = "/", "/enter"
FIXED = {
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cache-control": "no-store",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "x-frame-options": "DENY",
}
CLOSED = "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"


class Refused(Exception):  # noqa: N818
    """A request that is not let in: the status, and words for whoever wrote it."""

    def __init__(self, status: int, words: str) -> None:
        super().__init__(words)
        self.status = status


class Keys:
    """The secrets of one process; they die with it."""

    def __init__(self, port: int) -> None:
        secret = secrets.token_bytes(32)
        self.port = port
        self.token = secrets.token_urlsafe(24)  # in the address, exchanged for the cookie
        self.page = _derived(secret, b"page")  # in the page, sent with each request of it
        self.cookie_name = f"linsep-lab-{port}"
        self._cookie = _derived(secret, b"cookie")

    @property
    def cookie(self) -> str:
        """What the browser is told to keep."""
        kept = f"{self.cookie_name}={self._cookie}"
        return f"{kept}; Path=/; HttpOnly; SameSite=Strict"

    def knows(self, headers: list[tuple[bytes, bytes]]) -> bool:
        """Whether a request has the cookie."""
        for line in _all(headers, b"cookie"):
            for part in line.split(";"):
                name, _, value = part.strip().partition("=")
                if name == self.cookie_name and same(value, self._cookie):
                    return True
        return False


class Guard:
    """The lab behind its rules."""

    def __init__(self, app: App, keys: Keys, door: Callable[[], tuple[str, str]]) -> None:
        self.app, self.keys, self.door = app, keys, door
        self.hosts = {f"{name}:{keys.port}" for name in NAMES}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let a request in, or say why not."""
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
            return
        if scope["type"] != "http":
            await send({"type": "websocket.close", "code": 1008})
            return
        begun = False

        async def signed(message: MutableMapping[str, Any]) -> None:
            nonlocal begun
            if message["type"] == "http.response.start":
                begun = True
                message["headers"] = _signed(message.get("headers", []))
            await send(message)

        try:
            self.check(scope)
            await self.app(scope, limited(receive), signed)
        except Refused as refusal:
            if scope["method"] == "GET" and scope["path"] == DOOR and refusal.status == 401:
                page, policy = self.door()
                await answer(signed, 401, page, "text/html", policy)
            elif not begun:
                await answer(signed, refusal.status, words(str(refusal)))
        except Exception:
            if not begun:
                said = "The lab failed at this request; it goes on with the next."
                await answer(signed, 500, words(said))

    def check(self, scope: Scope) -> None:
        """Raise Refused unless all rules hold."""
        headers = list(scope["headers"])
        hosts = _all(headers, b"host")
        if len(hosts) != 1 or hosts[0].lower() not in self.hosts:
            raise Refused(421, "This is the lab of another address.")
        if not str(scope.get("raw_path", b"/").decode("latin-1")).startswith("/"):
            raise Refused(400, "The path of the request is not one.")
        site = _all(headers, b"sec-fetch-site")
        foreign = len(site) > 1 or (site and site[0] not in ("same-origin", "none"))
        if scope["method"] in SAFE:
            if foreign and scope["path"] != DOOR:
                raise Refused(403, "The request comes from another page.")
            if foreign or not self.keys.knows(headers):
                raise Refused(401, "Open the address that `linsep lab` printed.")
            return
        self._check_unsafe(scope, headers, site)

    def _check_unsafe(
        self, scope: Scope, headers: list[tuple[bytes, bytes]], site: list[str]
    ) -> None:
        origins = _all(headers, b"origin")
        own = f"http://{_all(headers, b'host')[0].lower()}"
        if site and site != ["same-origin"]:
            raise Refused(403, "The request comes from another page; the lab answers its own.")
        if origins and origins != [own]:
            raise Refused(403, "The request comes from another page; the lab answers its own.")
        if not site and not origins:
            raise Refused(403, "The request does not say which page it comes from.")
        kinds = _all(headers, b"content-type")
        if len(kinds) != 1 or kinds[0].split(";")[0].strip().lower() != "application/json":
            raise Refused(415, "The request is not JSON.")
        length = _all(headers, b"content-length")
        if length and not (length[0].isdecimal() and float(length[0]) <= BODY):
            raise Refused(413, f"The request is longer than {BODY:,} bytes.")
        if scope["path"] == ENTER:
            return  # it has the token, which the route checks
        if not self.keys.knows(headers):
            raise Refused(401, "Open the address that `linsep lab` printed.")
        keys = _all(headers, b"x-lab-key")
        if len(keys) != 1 or not same(keys[0], self.keys.page):
            raise Refused(403, "The request lacks the key of the lab's page.")


def limited(receive: Receive) -> Receive:
    """The same, but for bodies that are too long."""
    size = 0

    async def some() -> MutableMapping[str, Any]:
        nonlocal size
        message = await receive()
        size += len(message.get("body", b""))
        if size > BODY:
            raise Refused(413, f"The request is longer than {BODY:,} bytes.")
        return message

    return some


async def answer(send: Send, status: int, body: str, kind: str = "application/json",
                 policy: str = CLOSED) -> None:  # fmt: skip
    """Send one whole answer."""
    raw = body.encode()
    headers = [
        (b"content-type", f"{kind}; charset=utf-8".encode()),
        (b"content-length", str(len(raw)).encode()),
        (b"content-security-policy", policy.encode()),
    ]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": raw})


def words(text: str) -> str:
    """A sentence as the page expects it."""
    return json.dumps({"error": text}, ensure_ascii=False)


def same(one: str, other: str) -> bool:
    """Whether two secrets are the same, in a time that tells nothing."""
    return hmac.compare_digest(one.encode(), other.encode())


def _derived(secret: bytes, use: bytes) -> str:
    return hmac.new(secret, use, hashlib.sha256).hexdigest()


def _all(headers: list[tuple[bytes, bytes]], name: bytes) -> list[str]:
    return [value.decode("latin-1") for key, value in headers if key.lower() == name]


def _signed(headers: Any) -> list[tuple[bytes, bytes]]:
    complete = list(headers)
    have = {key.lower() for key, _ in complete}
    if b"content-security-policy" not in have:
        complete.append((b"content-security-policy", CLOSED.encode()))
    for key, value in FIXED.items():
        if key.encode() not in have:
            complete.append((key.encode(), value.encode()))
    return complete
