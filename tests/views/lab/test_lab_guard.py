"""Nobody but the lab's own page, on this machine, gets an answer."""

import asyncio
import json

import pytest

pytest.importorskip("starlette", reason="starlette is not installed: pip install linsep[lab]")

from linsep.views.lab.guard import BODY, CLOSED, FIXED, Keys
from linsep.views.lab.server import ROUTES, lab

PORT = 8808
HOST = f"127.0.0.1:{PORT}"
HOME = f"http://{HOST}"


@pytest.fixture(scope="module")
def app():
    return lab(None, Keys(PORT))


def cookie(keys):
    return keys.cookie.split(";")[0]


def ask(app, method="GET", path="/", headers=(), body=b"", host=HOST):
    """The status, headers and body of an answer; headers are names and values in their order."""
    sent = [(name.encode(), value.encode()) for name, value in headers]
    return asked(app, method, path, sent, body, host)


def asked(app, method, path, headers, body, host=HOST):
    """The same, with headers in bytes."""
    sent = [(b"host", host.encode()), *headers] if host is not None else headers
    scope = {"type": "http", "asgi": {"version": "3.0"}, "http_version": "1.1", "method": method,
             "scheme": "http", "path": path, "raw_path": path.encode(), "query_string": b"",
             "root_path": "", "headers": sent, "server": ("127.0.0.1", PORT),
             "client": ("127.0.0.1", 5), "state": {}}  # fmt: skip
    told = []

    async def receive():
        return {"type": "http.request", "body": body, "more_body": False}

    async def send(message):
        told.append(message)

    asyncio.run(app(scope, receive, send))
    start = told[0]
    return start["status"], dict(start["headers"]), b"".join(one.get("body", b"") for one in told)


def inside(app, **more):
    """Headers of a request that the page itself makes."""
    given = {
        "cookie": cookie(app.keys), "content-type": "application/json", "origin": HOME,
        "sec-fetch-site": "same-origin", "x-lab-key": app.keys.page,
    }  # fmt: skip
    return [(key, value) for key, value in (given | more).items() if value is not None]


@pytest.mark.parametrize("path", ROUTES)
def test_every_route_is_closed_to_who_has_no_cookie(app, path):
    method = ROUTES[path][0]
    bare = inside(app, cookie=None)
    status, headers, body = ask(app, method, path, bare, b"{}")
    assert status == 401
    assert headers[b"content-security-policy"]
    assert app.keys.token not in body.decode()
    assert app.keys.page not in body.decode()
    wrong = inside(app, cookie=f"{app.keys.cookie_name}=guess")
    assert ask(app, method, path, wrong, b"{}")[0] == 401


def test_the_table_of_routes_is_all_there_is(app):
    found = {(one.path, *sorted(one.methods - {"HEAD"})) for one in app.app.routes}
    assert found == {(path, method) for path, (method, _) in ROUTES.items()}


@pytest.mark.parametrize("path", [path for path in ROUTES if ROUTES[path][0] == "POST"])
def test_requests_that_change_need_the_key_of_the_page_too(app, path):
    if path == "/enter":
        return
    for key in (None, "", "guess", app.keys.token):
        assert ask(app, "POST", path, inside(app, **{"x-lab-key": key}), b"{}")[0] == 403


def test_the_page_is_for_who_has_the_cookie_and_the_token_is_exchanged_for_it(app):
    status, headers, body = ask(app)
    assert status == 401
    assert b"/enter" in body
    enter = inside(app, cookie=None, **{"x-lab-key": None})
    for token in ("guess", 5, None):
        assert ask(app, "POST", "/enter", enter, json.dumps({"token": token}).encode())[0] == 401
    right = json.dumps({"token": app.keys.token}).encode()
    status, headers, _ = ask(app, "POST", "/enter", enter, right)
    assert status == 204
    said = headers[b"set-cookie"].decode()
    assert said.endswith("; Path=/; HttpOnly; SameSite=Strict")
    status, _, body = ask(app, headers=[("cookie", said.split(";")[0])])
    assert status == 200
    assert app.keys.page.encode() in body
    assert app.keys.token.encode() not in body


@pytest.mark.parametrize("token", [rb'"\ud800"', b'"\xed\xa0\x80"', b'"\xff"', b'"\\u00e9"'])
def test_half_a_letter_for_a_token_is_refused_as_any_other(app, token):
    enter = inside(app, cookie=None, **{"x-lab-key": None})
    status, _, body = ask(app, "POST", "/enter", enter, b'{"token": ' + token + b"}")
    assert (status, b"error" in body) == (401 if token == b'"\\u00e9"' else 400, True)


@pytest.mark.parametrize("path", ["/run", "/fit", "/film", "/model", "/table"])
def test_half_a_letter_in_any_text_is_refused(app, path):
    body = (
        rb'{"text": "a,b\n1,\ud800\n", "name": "\udc00", "toy": "\ud800", "learners": ["\ud800"]}'
    )
    status, _, said = ask(app, "POST", path, inside(app), body)
    assert (status, b"not JSON" in said) == (400, True)


def test_a_cookie_dies_with_its_process(app):
    other = lab(None, Keys(PORT))
    assert ask(other, headers=[("cookie", cookie(app.keys))])[0] == 401
    assert ask(other, headers=[("cookie", cookie(other.keys))])[0] == 200


GOOD_HOSTS = [HOST, f"localhost:{PORT}", f"LOCALHOST:{PORT}", f"[::1]:{PORT}"]
NAMES = ["127.0.0.1", "localhost", "example.org", "0.0.0.0", "127.1", "2130706433", "0x7f000001",
         "[::ffff:127.0.0.1]", "127.0.0.1.", "localhost.", "127.0.0.1.nip.io", "lab", "", "*",
         "user@127.0.0.1", "127.0.0.1@example.org", "xn--lcalhost-n4a", "127.0.0.2"]  # fmt: skip
PORTS = ["", ":", ":0", ":80", ":8809", ":18808", ":8808 ", ":8808/", ":8808:8808", ":+8808",
         ":08808"]  # fmt: skip
BAD_HOSTS = [f"{name}{port}" for name in NAMES for port in [*PORTS, ":8808"]]
BAD_HOSTS = [host for host in BAD_HOSTS if host.lower() not in {one.lower() for one in GOOD_HOSTS}]


def test_no_other_host_is_answered(app):
    assert len(BAD_HOSTS) >= 200
    known = inside(app)
    for host in GOOD_HOSTS:
        assert ask(app, headers=known, host=host)[0] == 200
    for host in BAD_HOSTS:
        assert ask(app, headers=known, host=host)[0] == 421, host
    assert ask(app, headers=known, host=None)[0] == 421
    assert ask(app, headers=[*known, ("host", HOST)])[0] == 421


SITES = [None, "same-origin", "none", "same-site", "cross-site"]
MODES = [None, "cors", "no-cors", "navigate"]
ORIGINS = [None, HOME, "http://example.org", "null", f"{HOME}.example.org", f"https://{HOST}"]


@pytest.mark.parametrize("site", SITES)
def test_only_the_page_itself_may_change_something(app, site):
    for mode in MODES:  # never decides
        for origin in ORIGINS:
            headers = inside(app, origin=origin, **{"sec-fetch-site": site, "sec-fetch-mode": mode})
            status, _, _ = ask(app, "POST", "/fit", headers, b"{}")
            own = origin in (None, HOME) and site in (None, "same-origin")
            may = own and not (origin is None and site is None)
            assert status == (400 if may else 403), (site, mode, origin)  # 400: let in, and no data
            said = ask(app, "GET", "/", headers)[0]
            assert said == (200 if site in (None, "same-origin", "none") else 401)


def test_two_origins_or_two_sites_are_none(app):
    for name, value in (("origin", HOME), ("sec-fetch-site", "same-origin")):
        twice = [*inside(app), (name, value)]
        assert ask(app, "POST", "/fit", twice, b"{}")[0] == 403
    assert ask(app, "GET", "/", [*inside(app), ("sec-fetch-site", "same-origin")])[0] == 401
    mixed = [*inside(app), ("origin", "http://example.org")]
    assert ask(app, "POST", "/fit", mixed, b"{}")[0] == 403


@pytest.mark.parametrize("kind", [None, "text/plain", "application/x-www-form-urlencoded",
                                  "multipart/form-data", "application/jsonp"])  # fmt: skip
def test_only_json_is_read(app, kind):
    assert ask(app, "POST", "/fit", inside(app, **{"content-type": kind}), b"{}")[0] == 415


def test_long_requests_are_refused_by_their_word_and_by_their_length(app):
    long = inside(app, **{"content-length": str(BODY + 1)})
    assert ask(app, "POST", "/fit", long, b"{}")[0] == 413
    assert ask(app, "POST", "/fit", inside(app), b" " * (BODY + 1))[0] == 413


@pytest.mark.parametrize("length", ["-1", "abc", "²", "", "9" * 5000])
def test_lengths_that_are_none_are_refused(app, length):
    sent = [(name.encode(), value.encode("latin-1")) for name, value in
            inside(app, **{"content-length": length})]  # fmt: skip
    assert asked(app, "POST", "/fit", sent, b"{}")[0] == 413
    assert ask(app, "POST", "/fit", inside(app, **{"content-length": str(BODY)}), b"{}")[0] == 400


def test_the_door_alone_is_shown_to_who_has_no_key(app):
    assert ask(app)[1][b"content-type"].startswith(b"text/html")
    for method, path in (("GET", "/film"), ("HEAD", "/"), ("OPTIONS", "/")):
        status, headers, _ = ask(app, method, path)
        assert status in (401, 403)
        assert not headers[b"content-type"].startswith(b"text/html")


@pytest.mark.parametrize("path", ["*", "http://127.0.0.1/", "x"])
def test_a_path_that_is_none_is_refused(app, path):
    assert ask(app, "GET", path, inside(app))[0] == 400


def test_every_answer_has_the_headers_that_keep_others_out(app):
    answers = [
        ask(app), ask(app, headers=inside(app)), ask(app, path="/none", headers=inside(app)),
        ask(app, "DELETE", "/", inside(app)), ask(app, "POST", "/fit", inside(app), b"{}"),
        ask(app, host="example.org"), ask(app, "POST", "/fit", inside(app), b"\xff"),
    ]  # fmt: skip
    assert [status for status, _, _ in answers] == [401, 200, 404, 405, 400, 421, 400]
    for _, headers, _ in answers:
        policy = headers[b"content-security-policy"].decode()
        assert policy.startswith("default-src 'none'")
        assert "frame-ancestors 'none'" in policy
        assert "unsafe" not in policy
        for name, value in FIXED.items():
            assert headers[name.encode()].decode() == value
    assert answers[2][1][b"content-security-policy"].decode() == CLOSED


def test_a_failure_inside_is_told_without_its_traceback(app, monkeypatch):
    import linsep.views.lab.server as server

    def broken(*given):
        raise RuntimeError("/secret/path")

    monkeypatch.setattr(server, "job_of", broken)
    body = json.dumps({"toy": "xor", "learners": ["online"]}).encode()
    status, _, told = ask(app, "POST", "/fit", inside(app), body)
    assert status == 500
    assert "secret" not in told.decode()


TRAVERSALS = ["/..", "/../pyproject.toml", "/%2e%2e/%2e%2e/etc/passwd", "/static/../../x",
              "/..;/x", "/\\..\\x", "//etc/passwd", "/%00", "/.%00./x", "/page.py", "/lab.js",
              "/%c0%ae%c0%ae/", "/C:/x", "/~root", "/fit/", "/fit/..",
              "//example.org/"]  # fmt: skip


def test_no_path_leads_to_a_file_or_elsewhere(app):
    for path in TRAVERSALS:
        status, headers, _ = ask(app, path=path, headers=inside(app))
        assert status in (404, 405), path
        assert b"location" not in headers


def test_no_socket_but_http_is_spoken_to(app):
    told = []

    async def send(message):
        told.append(message)

    asyncio.run(app({"type": "websocket", "path": "/", "headers": []}, None, send))
    assert told == [{"type": "websocket.close", "code": 1008}]
