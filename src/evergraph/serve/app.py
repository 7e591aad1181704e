"""The HTTP application: /predict, /health, /schema, /docs and the page at /; every error is one sentence."""

import asyncio
import json
import logging
import os
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

from fastapi import FastAPI, Request, Response
from starlette.exceptions import HTTPException
from starlette.responses import HTMLResponse

import evergraph
from evergraph.errors import ConfigError, DataError
from evergraph.serve.answer import answered, columns, health
from evergraph.serve.body import check_headers, parse_json
from evergraph.serve.limits import Limits, Refusal
from evergraph.serve.pages import ASSETS, asset, docs_page, main_page
from evergraph.serve.question import Question, question_of
from evergraph.serve.replies import ERROR, HEALTH, PREDICTION, SCHEMA
from evergraph.serve.served import Served

LOG = logging.getLogger("evergraph.serve")
HEADERS = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
    "img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-store",
}
Next = Callable[[Request], Awaitable[Response]]


def make_app(served: Served, limits: Limits | None = None, hosts: frozenset[str] | None = None) -> FastAPI:
    """The application for one model. hosts: the names under which it answers, any where None.

    Predictions are made one after the other in a thread of their own, so that /health answers meanwhile.
    """
    asking = _Asking(served, limits or Limits())

    @asynccontextmanager
    async def life(_: FastAPI) -> Any:
        yield
        asking.pool.shutdown(wait=False, cancel_futures=True)

    app = FastAPI(
        title="evergraph",
        version=evergraph.__version__,
        description="Predictions of one model. Nothing that is sent is kept, and nothing changes the model.",
        docs_url=None,
        redoc_url=None,
        lifespan=life,
    )
    _guard(app, hosts)
    _add_answers(app, asking)
    _add_pages(app, asking)
    return app


@dataclass
class _Body:
    """How much of a request is in memory."""

    size: int = 0


class _Asking:
    """Questions on their way to the model: read with a limit, answered in turn, given up after a time."""

    def __init__(self, served: Served, limits: Limits):
        self.served = served
        self.limits = limits
        self.pool = ThreadPoolExecutor(max_workers=1, thread_name_prefix="predict")
        self.waiting = 0
        self.held = 0

    async def answer_to(self, request: Request) -> bytes:
        """The answer to a request as JSON; its body counts as held until there is one."""
        mine = _Body()
        try:
            return await self.answer(await self.body(request, mine))
        finally:
            self.held -= mine.size

    async def body(self, request: Request, mine: "_Body") -> bytes:
        """The bytes of a request; no more of them are taken in than the limits allow, for it and for all."""
        check_headers(request.headers)
        said = request.headers.get("content-length", "")
        if said.isdecimal() and len(said) < 20:
            self._forbid_large(int(said))
        parts = []
        try:
            async with asyncio.timeout(self.limits.seconds):
                async for part in request.stream():
                    mine.size += len(part)
                    self.held += len(part)
                    self._forbid_large(mine.size)
                    if self.held > max(self.limits.held, self.limits.bytes):
                        raise Refusal(503, "the server is busy with large requests, got one more; ask again later")
                    parts.append(part)
        except TimeoutError:
            raise Refusal(408, f"a whole request within {self.limits.seconds:g} s is wanted, got a part") from None
        return b"".join(parts)

    def _forbid_large(self, size: int) -> None:
        most = self.limits.bytes
        if size > most:
            raise Refusal(413, f"at most {most / 2**20:.3g} MB are wanted, got more; ask for fewer nodes at a time")

    async def answer(self, body: bytes) -> bytes:
        """The answer as JSON; Refusal where the server is busy or takes too long."""
        if self.waiting >= self.limits.waiting:
            raise Refusal(503, f"the server is busy with {self.waiting} requests, got one more; ask again later")
        self.waiting += 1
        try:
            async with asyncio.timeout(self.limits.seconds):
                return await asyncio.get_running_loop().run_in_executor(self.pool, self._answer, body)
        except TimeoutError:
            raise Refusal(
                504, f"no answer was found within {self.limits.seconds:g} s; ask for fewer nodes at a time"
            ) from None
        finally:
            self.waiting -= 1

    def _answer(self, body: bytes) -> bytes:
        question = question_of(parse_json(body))
        return _encoded(answered(self.served.current(), question, self.limits))


def _encoded(values: Any) -> bytes:
    return json.dumps(values, allow_nan=False, separators=(",", ":")).encode()


def _json(content: bytes, status: int = 200) -> Response:
    return Response(content, status, media_type="application/json")


def _sentence(status: int, sentence: str) -> Response:
    return _json(_encoded({"error": " ".join(sentence.split())}), status)


def _refused(error: Exception) -> Response:
    """The answer to a request that went wrong."""
    if isinstance(error, Refusal):
        return _sentence(error.status, error.sentence)
    if isinstance(error, DataError | ConfigError):
        return _sentence(422, str(error))
    if isinstance(error, MemoryError):
        return _sentence(413, "a graph that fits into memory is wanted, got a larger one; ask for fewer nodes")
    if os.environ.get("EVERGRAPH_TRACEBACK"):
        LOG.error("internal error", exc_info=error)
    return _sentence(
        500,
        f"internal error: {type(error).__name__} (this is a bug of evergraph; EVERGRAPH_TRACEBACK=1 shows where)",
    )


# what every request goes through


def _guard(app: FastAPI, hosts: frozenset[str] | None) -> None:
    """Headers that keep the page to itself, the names under which the server answers, errors as sentences."""

    async def http_error(request: Request, error: Exception) -> Response:
        assert isinstance(error, HTTPException)
        told = {
            404: "one of /, /docs, /health, /openapi.json, /predict and /schema is wanted, got another path",
            405: f"another method than {request.method[:20]} is wanted here; /predict takes POST, all others GET",
        }
        return _sentence(error.status_code, told.get(error.status_code, str(error.detail)))

    app.add_exception_handler(HTTPException, http_error)

    @app.middleware("http")
    async def guarded(request: Request, proceed: Next) -> Response:
        name = request.url.hostname or ""
        if hosts is not None and name not in hosts:
            response = _sentence(421, f"one of the names {', '.join(sorted(hosts))} is wanted as host, got another")
        else:
            try:
                response = await proceed(request)
            except Exception as error:
                response = _refused(error)
        for key, value in HEADERS.items():
            response.headers.setdefault(key, value)
        return response


def _add_answers(app: FastAPI, asking: _Asking) -> None:
    body = {"required": True, "content": {"application/json": {"schema": Question.model_json_schema()}}}

    @app.post(
        "/predict",
        summary="The class of every node",
        responses={200: PREDICTION, **dict.fromkeys((400, 408, 413, 415, 422, 503, 504), ERROR)},
        openapi_extra={"requestBody": body},
    )
    async def predict(request: Request) -> Response:
        """Label, probability and margin (to the next class) of each node, in the order of the nodes."""
        try:
            return _json(await asking.answer_to(request))
        except Exception as error:
            return _refused(error)

    @app.get("/health", summary="The model that answers", responses={200: HEALTH})
    async def state() -> Response:
        """Name, classes, batches, checksum; a model that was replaced on disk is loaded by now."""
        return _json(_encoded(health(await asyncio.to_thread(asking.served.current))))

    @app.get("/schema", summary="The columns that nodes must have", responses={200: SCHEMA})
    async def schema() -> Response:
        """Names and kinds of the columns, what was left out in learning, and an example of both tables."""
        loaded = await asyncio.to_thread(asking.served.current)
        return _json(_encoded(columns(loaded.classifier.schema_)))


def _add_pages(app: FastAPI, asking: _Asking) -> None:
    @app.get("/", include_in_schema=False)
    async def page() -> Response:
        loaded = await asyncio.to_thread(asking.served.current)
        return HTMLResponse(main_page(loaded, asking.limits))

    @app.get("/docs", include_in_schema=False)
    async def docs() -> Response:
        return HTMLResponse(docs_page(app.openapi()))

    for path, kind in ASSETS.items():
        app.add_api_route(path, _asset(path, kind), include_in_schema=False)


def _asset(path: str, kind: str) -> Callable[[], Awaitable[Response]]:
    async def content() -> Response:
        return Response(asset(path), media_type=kind)

    return content
