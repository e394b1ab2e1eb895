"""Connections of the lab: few, short-lived while idle, and given up when they dawdle."""

import asyncio
import logging
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import uvicorn

HEADER = 8192  # bytes of a request's head at most
SECONDS = 5.0  # for the head of a request, and for each pause while its body comes
IDLE = 30  # seconds that an open connection may rest between requests
OPEN = 256  # connections at a time; the one that has been silent longest gives way


def protocol() -> Any:
    """The class that uvicorn makes for each connection."""
    from uvicorn.protocols.http.h11_impl import H11Protocol

    class Patient(H11Protocol):  # type: ignore[misc]
        """A connection that is closed when a request does not come to its end."""

        late: asyncio.TimerHandle | None = None
        heard = 0.0

        def connection_made(self, transport: Any) -> None:
            super().connection_made(transport)
            self.heard = self.loop.time()
            self._wait()
            others: Any = [one for one in self.connections if one is not self]
            resting = [one for one in others if one.at_rest]
            if len(self.connections) > OPEN and resting:
                min(resting, key=lambda one: one.heard).transport.abort()

        @property
        def at_rest(self) -> bool:
            """Whether nobody works for it."""
            return self.cycle is None or self.cycle.response_complete or self.cycle.more_body

        def data_received(self, data: bytes) -> None:
            before = self.cycle
            super().data_received(data)
            self.heard = self.loop.time()
            self._forget()
            if self.cycle is None or (self.cycle is before and self.cycle.response_complete):
                self._wait(keep=True)
            elif self.cycle.more_body:
                self._wait()

        def connection_lost(self, exc: Exception | None) -> None:
            self._forget()
            super().connection_lost(exc)

        def _wait(self, keep: bool = False) -> None:
            # The time for a head runs from its first byte on: bytes that drip do not lengthen it.
            since = getattr(self, "first", None) if keep else None
            self.first = since or self.loop.time()
            left = max(0.0, self.first + SECONDS - self.loop.time())
            self.late = self.loop.call_later(left, self._give_up)

        def _forget(self) -> None:
            if self.late is not None:
                self.late.cancel()
                self.late = None
            if self.cycle is not None and not self.cycle.response_complete:
                self.first = None

        def _give_up(self) -> None:
            if self.at_rest and not self.transport.is_closing():
                self.transport.abort()

    return Patient


def server(app: Any) -> "uvicorn.Server":
    """A server that says nothing but what matters, and closes within a second."""
    import uvicorn

    logging.getLogger("uvicorn.error").addFilter(_quiet)
    settings = uvicorn.Config(
        app, http=protocol(), ws="none", log_level="error", access_log=False, server_header=False,
        date_header=False, proxy_headers=False, lifespan="on", timeout_keep_alive=IDLE,
        timeout_graceful_shutdown=1, h11_max_incomplete_event_size=HEADER,
    )  # fmt: skip
    return uvicorn.Server(settings)


def _quiet(record: logging.LogRecord) -> bool:
    """No tracebacks on a terminal: who asked was told that it failed."""
    record.exc_info = record.exc_text = None
    return record.levelno >= logging.CRITICAL
