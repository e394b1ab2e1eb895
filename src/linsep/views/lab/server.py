"""The lab's server: one page, and runs for it. For this machine only.

Starlette comes with the extra `lab`, so it is imported where it is needed.
"""

import asyncio
from collections import OrderedDict
from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager, suppress
from typing import TYPE_CHECKING, Any

from linsep.errors import DataError, LinsepError
from linsep.views.lab import connections
from linsep.views.lab.guard import Guard, Keys, Refused, same, words
from linsep.views.lab.page import door_page, lab_page, policy_of
from linsep.views.lab.pool import Overrun, Pool
from linsep.views.lab.request import RunRequest, read_json, read_request
from linsep.views.lab.runs import Job, Opened, job_of
from linsep.views.lab.tables import Shelf, choice, columns_of, summary

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

SMALL = 60_000  # visits of rows up to which a run counts as small
QUICK, LONG = 30.0, 90.0  # seconds that a run may take; the first one may compile
BYTES = "application/octet-stream"
PAGES = 200  # whose runs are known at a time


class Lab:
    """The pages, workers and files of one process."""

    def __init__(self, opened: Opened | None, keys: Keys) -> None:
        self.opened, self.keys = opened, keys
        self.page = lab_page(opened, keys.page)
        self.policy = policy_of(self.page)
        self.quick, self.long = Pool(1, QUICK), Pool(1, LONG)
        self.shelf = Shelf()
        self.running: OrderedDict[str, asyncio.Task[Any]] = OrderedDict()

    @asynccontextmanager
    async def lifespan(self, app: Any) -> AsyncIterator[None]:
        """Workers that are warm when the page comes, and gone when the lab closes."""
        await self.quick.warm()
        await self.long.warm()
        yield
        for one in list(self.running.values()):
            one.cancel()
        await self.quick.close()
        await self.long.close()

    async def show(self, request: "Request") -> "Response":
        """The page."""
        from starlette.responses import HTMLResponse

        return HTMLResponse(self.page.text, headers={"content-security-policy": self.policy})

    async def enter(self, request: "Request") -> "Response":
        """The cookie for a token, or for who has it already."""
        from starlette.responses import Response

        token = read_json(await request.body()).get("token")
        right = isinstance(token, str) and same(token, self.keys.token)
        if not right and not self.keys.knows(request.scope["headers"]):
            raise Refused(401, "This address is of a lab that was closed; use the new one.")
        return Response(status_code=204, headers={"set-cookie": self.keys.cookie})

    async def fit(self, request: "Request") -> "Response":
        """A model without its steps, and the verdict: what is wanted while a point is dragged."""
        return await self._run(request, traced=False)

    async def run(self, request: "Request") -> "Response":
        """A run with all its steps."""
        return await self._run(request, traced=True)

    async def film(self, request: "Request") -> "Response":
        """The same as one file that anybody can open."""
        return await self._run(request, traced=True, work="film", kind="text/html")

    async def model(self, request: "Request") -> "Response":
        """The model as a file."""
        return await self._run(request, traced=False, work="model")

    async def table(self, request: "Request") -> "Response":
        """A file that was dropped on the page."""
        from starlette.responses import JSONResponse

        fields = read_json(await request.body())
        text, name, target = fields.get("text"), fields.get("name"), fields.get("target")
        if not isinstance(text, str) or not isinstance(name, str) or len(name) > 200:
            raise DataError("The request needs a text and a name.")
        if target is not None and not isinstance(target, str):
            raise DataError("target is not a text.")
        asked = self.quick.do("table", (text, name, target), len(text))
        try:
            table = await self._waited(request, asked)
        except DataError as problem:
            return JSONResponse(choice(text, name, target, problem))
        known = summary(table, self.shelf.add(table), columns_of(text))
        if len(table.columns) == 2:
            known["points"] = table.rows[0].tolist()
        return JSONResponse(known)

    async def _run(
        self, request: "Request", traced: bool, work: str = "run", kind: str = BYTES
    ) -> "Response":
        from starlette.responses import Response

        run_request = read_request(await request.body())
        job = job_of(run_request, self._source(run_request), traced)
        own = work == "run" and traced
        page = request.headers.get("x-lab-page", "")[:40] if own else None
        answer = await self._waited(request, self._do(work, job), page or None)
        return Response(answer, media_type=kind)

    def _source(self, request: RunRequest) -> Opened | None:
        return self.opened if request.table is None else self.shelf.get(request.table)

    async def _do(self, work: str, job: Job) -> bytes:
        """Small runs have a worker of their own, so that none waits for a large one."""
        pool = self.quick if not job.traced or job.visits <= SMALL else self.long
        answer: bytes = await pool.do(work, job, job.visits)
        return answer

    async def _waited(
        self, request: "Request", work: Coroutine[Any, Any, Any], page: str | None = None
    ) -> Any:
        """What the work returns, unless who asked leaves, or the same page asks anew."""
        task = asyncio.ensure_future(work)
        gone = asyncio.ensure_future(_left(request))
        if page is not None:
            before = self.running.pop(page, None)
            if before is not None:
                before.cancel()
            self.running[page] = task
            while len(self.running) > PAGES:
                self.running.popitem(last=False)
        try:
            await asyncio.wait({task, gone}, return_when=asyncio.FIRST_COMPLETED)
            if not task.done():
                task.cancel()
                raise Refused(499, "Nobody waits for this run.")
            return task.result()
        except asyncio.CancelledError:
            if not task.cancelled():
                raise
            raise Refused(409, "Another run was asked for meanwhile.") from None
        except Overrun as problem:
            what = "Ask again if it was compiled, or for fewer passes or points."
            raise DataError(f"{problem} {what}") from None
        finally:
            gone.cancel()
            task.cancel()
            if page is not None and self.running.get(page) is task:
                del self.running[page]


async def _left(request: "Request") -> None:
    """Return when who asked has gone."""
    while (await request.receive())["type"] != "http.disconnect":
        pass


ROUTES = {
    "/": ("GET", "show"), "/enter": ("POST", "enter"), "/fit": ("POST", "fit"),
    "/run": ("POST", "run"), "/film": ("POST", "film"), "/model": ("POST", "model"),
    "/table": ("POST", "table"),
}  # fmt: skip


def lab(opened: Opened | None = None, keys: Keys | None = None) -> Guard:
    """The application, with a trace or data opened, or with toys only."""
    from starlette.applications import Starlette
    from starlette.exceptions import HTTPException
    from starlette.requests import ClientDisconnect, Request
    from starlette.responses import Response
    from starlette.routing import Route

    keys = keys or Keys(8808)
    held = Lab(opened, keys)

    def said(status: int, text: str) -> Response:
        return Response(words(text), status, media_type="application/json")

    async def refused(request: Request, problem: Exception) -> Response:
        return said(getattr(problem, "status", 400), str(problem))

    async def unknown(request: Request, problem: Exception) -> Response:
        status = problem.status_code if isinstance(problem, HTTPException) else 400
        return said(status, "The lab has no such place.")

    async def left(request: Request, problem: Exception) -> Response:
        return Response(status_code=400)  # nobody reads it

    app = Starlette(
        routes=[Route(path, getattr(held, name), methods=[method])
                for path, (method, name) in ROUTES.items()],
        exception_handlers={LinsepError: refused, Refused: refused, HTTPException: unknown,
                            ClientDisconnect: left},
        lifespan=held.lifespan,
    )  # fmt: skip
    app.router.redirect_slashes = False
    return Guard(app, keys, door_page)


def serve(app: Guard, listener: Any) -> None:
    """Answer what comes to the socket, until Ctrl-C."""
    with suppress(KeyboardInterrupt):
        connections.server(app).run(sockets=[listener])
