"""A connection that nobody can hold open for nothing: headers come soon, and there are not too many at a time."""

import asyncio

from uvicorn.protocols.http.h11_impl import H11Protocol

HEADER_SECONDS = 10.0
"""From the first byte of a request, or from the beginning of a connection, to the end of its headers."""
MOST_CONNECTIONS = 500


class HastyProtocol(H11Protocol):
    """uvicorn waits for headers for ever; h11 refuses long ones, which other parsers it may find do not."""

    _timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        if len(self.connections) > MOST_CONNECTIONS:
            transport.close()
        else:
            self._watch()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        self._watch()

    def connection_lost(self, exc: Exception | None) -> None:
        super().connection_lost(exc)
        self._stop()

    @property
    def _asked(self) -> bool:
        """Whether a request with all its headers is being answered; its body has limits of its own."""
        return self.cycle is not None and not self.cycle.response_complete

    def _watch(self) -> None:
        if self._asked:
            self._stop()
        elif self._timer is None:
            self._timer = self.loop.call_later(HEADER_SECONDS, self._give_up)

    def _give_up(self) -> None:
        self._timer = None
        if not self._asked and not self.transport.is_closing():
            self.transport.close()

    def _stop(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
