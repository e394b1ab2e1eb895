"""The lab's server: one page, and runs for it. For this machine only.

Starlette comes with the extra `lab`, so it is imported where it is needed.
"""

import html
import json
from typing import TYPE_CHECKING, Any

from linsep.errors import LinsepError
from linsep.views.lab.page import lab_page, policy
from linsep.views.lab.request import read_request
from linsep.views.lab.runs import Opened, run
from linsep.views.lab.turns import Closing, Turns

if TYPE_CHECKING:
    from starlette.applications import Starlette
    from starlette.requests import Request
    from starlette.responses import Response

HOSTS = ["127.0.0.1", "localhost"]
BODY = 100_000  # bytes of a request at most; 500 points need a third of it


def lab(opened: Opened | None = None) -> "Starlette":
    """The application, with a trace or data opened, or with toys only."""
    from starlette.applications import Starlette
    from starlette.middleware import Middleware
    from starlette.middleware.trustedhost import TrustedHostMiddleware
    from starlette.requests import ClientDisconnect, Request
    from starlette.responses import HTMLResponse, Response
    from starlette.routing import Route

    page, turns = lab_page(opened), Turns()
    headers = {
        "Content-Security-Policy": policy(page),
        "X-Content-Type-Options": "nosniff",
        "Referrer-Policy": "no-referrer",
        "Cache-Control": "no-store",
    }

    async def show(request: Request) -> Response:
        return HTMLResponse(page.text, headers=headers)

    async def answer(request: Request) -> Response:
        problem = _refusal(request)
        if problem is not None:
            return problem
        body = b""
        try:
            async for piece in request.stream():
                body += piece
                if len(body) > BODY:
                    return _error(413, f"The request is longer than {BODY:,} bytes.")
            told = await turns.result(lambda: run(read_request(body), opened))
        except ClientDisconnect:
            return Response(status_code=400)  # who asked has left: nobody reads it
        except Closing:
            return _error(503, "The lab was closed before this run was done.")
        except LinsepError as found:
            return _error(400, str(found))
        return Response(_json(told), media_type="application/json", headers=_PLAIN)

    app = Starlette(
        routes=[Route("/", show), Route("/run", answer, methods=["POST"])],
        middleware=[Middleware(TrustedHostMiddleware, allowed_hosts=HOSTS, www_redirect=False)],
    )
    app.state.turns = turns
    return app


def serve(app: "Starlette", listener: Any) -> None:
    """Answer what comes to the socket, until Ctrl-C; runs that wait then give up at once."""
    import uvicorn

    class Server(uvicorn.Server):  # type: ignore[misc]
        async def shutdown(self, sockets: Any = None) -> None:
            app.state.turns.close()
            await super().shutdown(sockets)

    settings = uvicorn.Config(app, log_level="warning", timeout_graceful_shutdown=1)
    Server(settings).run(sockets=[listener])


_PLAIN = {"X-Content-Type-Options": "nosniff", "Cache-Control": "no-store"}


def _refusal(request: "Request") -> "Response | None":
    """Why a request is not from the lab's own page, if so."""
    kind = request.headers.get("content-type", "").split(";")[0].strip().lower()
    if kind != "application/json":
        return _error(415, f"The request is {html.escape(kind[:40]) or 'of no type'}, not JSON.")
    origin = request.headers.get("origin")
    if origin is not None and origin != f"http://{request.headers.get('host', '')}":
        return _error(403, "The request comes from another page; the lab answers its own only.")
    return None


def _error(status: int, words: str) -> "Response":
    from starlette.responses import JSONResponse

    return JSONResponse({"error": words}, status_code=status, headers=_PLAIN)


def _json(value: Any) -> str:
    return json.dumps(value, allow_nan=False, ensure_ascii=False, separators=(",", ":"))
