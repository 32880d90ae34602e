"""The program: serves scripts until it is told to stop."""

import argparse
import asyncio
import signal
import ssl
import sys
from pathlib import Path

from everturn.modelserver.script_files import ScriptError, load_cases
from everturn.modelserver.scripts import Script
from everturn.modelserver.server import ModelServer

_DESCRIPTION = "A scripted Messages API server: plays answers and faults from a file over HTTP."
_EXAMPLES = """\
examples:
  echo '["Hello.", {"error": 529}]' > hello.json
  python -m everturn.modelserver --script hello.json --port 8080
  ANTHROPIC_BASE_URL=http://127.0.0.1:8080 ANTHROPIC_API_KEY=any your-agent

  python -m everturn.modelserver --script faults.jsonl --port 8080 --log requests.jsonl
  ANTHROPIC_BASE_URL=http://127.0.0.1:8080/<id of a case> your-agent

The base URL is printed when the server listens. Ctrl-C ends it.
The script format: docs/how-to/model-server.md
"""


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m everturn.modelserver",
        description=_DESCRIPTION,
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "--script",
        type=Path,
        action="append",
        metavar="FILE",
        help="a script (JSON) or cases (JSON lines); may be given again",
    )
    parser.add_argument(
        "--port", type=int, default=0, metavar="N", help="the port to listen on; 0 (default): any free one"
    )
    parser.add_argument("--host", default="127.0.0.1", help="the address to listen on (default: %(default)s)")
    parser.add_argument(
        "--log",
        type=Path,
        metavar="FILE",
        help="append each request to this file as a line of JSON, without the values of headers that carry keys",
    )
    parser.add_argument(
        "--time-scale", type=float, default=1.0, metavar="X", help="multiply scripted pauses, e.g. 0.01 to hurry"
    )
    parser.add_argument("--tls-cert", type=Path, metavar="FILE", help="serve HTTPS with this certificate (PEM)")
    parser.add_argument("--tls-key", type=Path, metavar="FILE", help="the certificate's private key (PEM)")
    parser.add_argument("--rules", action="store_true", help="print the rules by which requests are refused, and exit")
    arguments, others = parser.parse_known_args()
    if others and not others[0].startswith("-"):
        parser.error(f"a script is named like this: --script {others[0]}")
    if others:
        parser.error(f"there is no option {others[0]}")
    if not arguments.rules and not arguments.script:
        parser.error("--script FILE is needed")
    if arguments.time_scale < 0:
        parser.error("--time-scale is 0 or more")
    if bool(arguments.tls_cert) != bool(arguments.tls_key):
        parser.error("--tls-cert and --tls-key go together")
    return arguments


def _load(paths: list[Path]) -> dict[str, Script]:
    cases: dict[str, Script] = {}
    for path in paths:
        for name, script in load_cases(path).items():
            if name in cases:
                raise ScriptError(f"{path}: there is another {f'case {name!r}' if name else 'script without an id'}")
            cases[name] = script
    return cases


def _tls(certificate: Path, key: Path) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    try:
        context.load_cert_chain(certificate, key)
    except OSError as error:
        raise OSError(f"TLS: {certificate} and {key} are no certificate with its key: {error}") from error
    return context


async def _run(arguments: argparse.Namespace, cases: dict[str, Script]) -> None:
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stop.set)
    tls = _tls(arguments.tls_cert, arguments.tls_key) if arguments.tls_cert else None
    options = {
        "host": arguments.host,
        "port": arguments.port,
        "time_scale": arguments.time_scale,
        "log": arguments.log,
        "remember": False,
    }
    async with ModelServer(cases=cases, tls=tls, **options) as server:
        print(server.url, flush=True)
        await stop.wait()


def main() -> int:
    arguments = _arguments()
    if arguments.rules:
        from everturn.modelserver.rules.table import render_table

        print(render_table())
        return 0
    try:
        asyncio.run(_run(arguments, _load(arguments.script)))
    except (ScriptError, OSError) as error:
        print(f"modelserver: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
