"""The page over HTTP, for this machine alone.

Who may ask is decided by two headers: `Host`, so that no other name can be made to point here, and
`Origin`, so that no other page can ask in its reader's name. The browser itself refuses whatever
does not come from here.
"""

from __future__ import annotations

import json
import socketserver
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any
from wsgiref.simple_server import WSGIRequestHandler, WSGIServer, make_server

import bottle

from abel.playground.child import Pool, Stopped
from abel.playground.thinking import ANSWERS, MOST_STEPS, UNTRAINED, WIDTHS

LOOPBACK = "127.0.0.1"
NAMES = (LOOPBACK, "localhost")
STATIC = Path(__file__).parent / "static"
FILES = {  # nothing else of the disk is served
    "page.html": "text/html", "style.css": "text/css", "page.js": "text/javascript",
    "panel.js": "text/javascript", "draw.js": "text/javascript",
}  # fmt: skip
MAX_BYTES = 64 << 10  # of a question
SILENCE = 60  # seconds that a connection may say nothing
HEADERS = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; "
    "connect-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-store",
}  # fmt: skip
# The status of an answer, by how it came out.
REFUSED, FAILED, STOPPED = 400, 500, 503

Application = Callable[[dict[str, Any], Callable], Iterable[bytes]]


def make_app(pool: Pool, runs: Iterable[str]) -> Application:
    """The page as a WSGI application."""
    app, names = bottle.Bottle(), list(runs)
    app.default_error_handler = lambda error: error.body  # as it is, and no page of the library's
    agents = [*names, *(name + UNTRAINED for name in names)]

    @app.get("/")
    def page() -> Any:
        return static("page.html")

    @app.get("/static/<name>")
    def static(name: str) -> Any:
        if name not in FILES:
            return answer(404, {"error": "there is no such page"})
        kind = f"{FILES[name]}; charset=utf-8"
        return bottle.HTTPResponse((STATIC / name).read_bytes(), 200, {"Content-Type": kind})

    @app.get("/agents")
    def known() -> Any:
        return answer(200, {"agents": agents})

    @app.post("/<ask>")
    def asked(ask: str) -> Any:
        if ask not in ANSWERS:
            return answer(404, {"error": "there is no such question"})
        try:
            question = read_question(bottle.request, agents)
        except ValueError as reason:
            return answer(REFUSED, {"error": str(reason)})
        return outcome(pool, {**question, "ask": ask})

    return guarded(app)


def answer(status: int, data: Mapping[str, Any]) -> Any:
    return bottle.HTTPResponse(json.dumps(data), status, {"Content-Type": "application/json"})


def outcome(pool: Pool, question: dict[str, Any]) -> Any:
    try:
        found = pool.ask(question)
    except Stopped as reason:
        return answer(STOPPED, {"error": str(reason)})
    if "answer" in found:
        return answer(200, found["answer"])
    status = REFUSED if "refused" in found else FAILED
    return answer(status, {"error": found.get("refused") or found["failed"]})


def read_question(request: Any, agents: list[str]) -> dict[str, Any]:
    """What the page sent, if it is that; ValueError says what is wrong."""
    if request.content_type.split(";")[0] != "application/json":  # a form of another page's
        raise ValueError("a question is JSON")
    if not 0 <= request.content_length <= MAX_BYTES:
        raise ValueError(f"a question has a length of at most {MAX_BYTES} bytes")
    try:
        data = json.loads(request.body.read(MAX_BYTES))
    except (ValueError, RecursionError):
        raise ValueError("a question is JSON") from None
    if not isinstance(data, dict):
        raise ValueError("a question is an object")
    run, equation, path = (data.get(name) for name in ("run", "equation", "path"))
    decoder, unknown = data.get("decoder", "greedy"), data.get("unknown") or None
    if run not in agents:
        raise ValueError("there is no such agent")
    if not isinstance(equation, str):
        raise ValueError("the equation is text")
    if not isinstance(unknown, str | None):
        raise ValueError("the unknown is a letter")
    if not isinstance(path, list) or any(type(index) is not int for index in path):
        raise ValueError("a path is a list of numbers")
    if len(path) > MOST_STEPS:
        raise ValueError(f"a path has at most {MOST_STEPS} steps")
    if decoder not in WIDTHS:
        raise ValueError(f"the agent goes on with {' or '.join(WIDTHS)}")
    return {
        "run": run, "equation": equation, "unknown": unknown, "path": path, "decoder": decoder,
    }  # fmt: skip


def guarded(app: Application) -> Application:
    """The application, for requests to this machine's own name and from no other page."""

    def guard(environ: dict[str, Any], start_response: Callable) -> Iterable[bytes]:
        def start(status: str, headers: list[tuple[str, str]], *rest: Any) -> Any:
            return start_response(status, [*headers, *HEADERS.items()], *rest)

        host = environ.get("HTTP_HOST", "")
        origin = environ.get("HTTP_ORIGIN", f"http://{host}")
        name, _, port = host.partition(":")
        if name not in NAMES or port != environ["SERVER_PORT"] or origin != f"http://{host}":
            start("403 Forbidden", [("Content-Type", "text/plain; charset=utf-8")])
            return [b"this page is for the machine that it runs on\n"]
        return app(environ, start)

    return guard


class Server(socketserver.ThreadingMixIn, WSGIServer):
    """A thread for each connection; the work itself is done in the pool's processes."""

    daemon_threads = True
    request_queue_size = 64


class Handler(WSGIRequestHandler):
    """Says nothing of what is asked for, and hangs up on who says nothing."""

    timeout = SILENCE

    def log_message(self, format: str, *args: Any) -> None:
        pass


def make_loopback_server(app: Application, port: int) -> WSGIServer:
    """Listens on the loopback address alone; port 0 is any that is free."""
    return make_server(LOOPBACK, port, app, server_class=Server, handler_class=Handler)
