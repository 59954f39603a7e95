"""Watch the agent think, and steer it, on a page of your own machine.

python -m abel.playground                                  # the bundled agent and those in runs/
python -m abel.playground --run runs/<run> runs/<other>    # these agents
python -m abel.playground --screenshots DIR                # pictures of the page, by Chromium
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from abel.learner.records import RunError
from abel.playground.agents import find_runs
from abel.playground.child import Child, Limits, Pool

PORT = 8765
MISSING = "needs {}: pip install 'abel[playground]', or -e '.[playground]' in a clone"


def parser() -> argparse.ArgumentParser:
    found = argparse.ArgumentParser(
        prog="python -m abel.playground", description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )  # fmt: skip
    add = found.add_argument
    add("--run", nargs="+", default=[], metavar="RUN", help="agents that the page offers")
    add("--port", type=int, default=PORT, help="0 is any that is free (default %(default)s)")
    add("--workers", type=int, default=2, help="processes that think (default %(default)s)")
    add("--limit", type=float, default=30.0,
        help="seconds of CPU for a question (default %(default)s)")  # fmt: skip
    add("--memory", type=int, default=1024,
        help="megabytes for a question, on Linux (default %(default)s)")  # fmt: skip
    add("--screenshots", type=Path, metavar="DIR", help="take pictures for the pages, and end")
    add("--report", type=Path, metavar="PAGE.html",
        help="with --screenshots: a page of reports to take a picture of as well")  # fmt: skip
    return found


def main(argv: Sequence[str] | None = None) -> int:
    args = parser().parse_args(argv)
    try:
        if args.workers < 1 or args.limit <= 0 or args.memory < 1 or not 0 <= args.port < 65536:
            raise RunError("--workers, --limit and --memory must be positive, --port a port")
        runs = find_runs(args.run)
        return serve(args, runs)
    except ModuleNotFoundError as error:
        reason = MISSING.format(error.name)
    except (RunError, OSError) as error:
        reason = " ".join(str(error).split())
    print(f"abel.playground: {reason}", file=sys.stderr)
    return 2


def serve(args: argparse.Namespace, runs: dict[str, Path]) -> int:
    """Answer until Ctrl-C, or until the pictures are taken."""
    from abel.playground.server import LOOPBACK, make_app, make_loopback_server

    settings = {"runs": {name: str(path) for name, path in runs.items()}}
    server = make_loopback_server(lambda *_: [], args.port)  # the port is ours, or this is the end
    children = [Child(settings, Limits(args.limit, args.memory)) for _ in range(args.workers)]
    pool = Pool(children)
    server.set_app(make_app(pool, runs))
    address = f"http://{LOOPBACK}:{server.server_port}/"
    try:
        if args.screenshots:
            from abel.playground.pictures import take_pictures

            take_pictures(server, address, args.screenshots, args.report)
            return 0
        print(f"abel.playground: {address} (Ctrl-C ends it)", flush=True)
        server.serve_forever()
    except KeyboardInterrupt:
        print()
    finally:
        server.server_close()
        pool.close()
    return 0
