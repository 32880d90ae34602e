"""Where a benchmark plays: the server in its own process, a scratch folder, and one way to run a program in it."""

import json
import os
import shutil
import signal
import socket
import ssl
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Mapping
from itertools import pairwise
from pathlib import Path
from resource import struct_rusage
from types import MappingProxyType, TracebackType
from typing import NamedTuple, Self

ROOT = Path(__file__).parents[1]
CERTIFICATE = ROOT / "tests" / "modelserver" / "certificates" / "localhost.pem"
PATIENCE_S = 120.0
HEAD_END = b"\r\n\r\n"
NOTHING: Mapping[str, str] = MappingProxyType({})


class StageError(Exception):
    """A program did not do its part; the text holds what it said."""


class Run(NamedTuple):
    """One process from start to end. Seconds, and kilobytes of memory at its peak."""

    output: str
    first_request_s: float
    turns_s: list[float]
    """From the end of each answer to the whole of the next request: the harness and its tool."""
    cpu_s: float
    peak_kb: int


class Needs(NamedTuple):
    """What a program wants to find: variables, and files below its home."""

    environment: Mapping[str, str] = NOTHING
    files: Mapping[str, str] = NOTHING


class Stage:
    """A context: starts the server, and removes everything at its end."""

    def __init__(self) -> None:
        self._count = 0

    def __enter__(self) -> Self:
        self.folder = Path(tempfile.mkdtemp(prefix="everturn-bench-"))
        self.bundle = write_bundle(self.folder)
        self._server = subprocess.Popen(
            [sys.executable, "-m", "bench.server", CERTIFICATE, CERTIFICATE.with_suffix(".key")],
            cwd=ROOT,
            stdout=subprocess.PIPE,
            text=True,
        )
        ports = self._server.stdout.readline().split() if self._server.stdout else []
        if not ports:
            raise StageError("the server did not start")
        self._plain, self._secure = (int(port) for port in ports)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.terminate()
        self._server.wait()
        if self._server.stdout:
            self._server.stdout.close()
        shutil.rmtree(self.folder, ignore_errors=True)

    def url(self, script: str) -> str:
        """For a program that is started elsewhere."""
        self._count += 1
        return f"http://127.0.0.1:{self._plain}/{script}/run{self._count}"

    def run(
        self,
        command: list[str],
        script: str,
        *,
        secure: bool = False,
        needs: Needs | None = None,
        patience_s: float = PATIENCE_S,
    ) -> Run:
        """`{url}` in the command and in its needs becomes the base URL. Raises `StageError` where the program fails."""
        self._count += 1
        run = f"run{self._count}"
        scheme, port = ("https", self._secure) if secure else ("http", self._plain)
        url = f"{scheme}://127.0.0.1:{port}/{script}/{run}"
        work = self.folder / run
        work.mkdir()
        environment = self._environment(work, url)
        if needs is not None:
            environment |= {name: value.replace("{url}", url) for name, value in needs.environment.items()}
            for name, content in needs.files.items():
                (work / name).parent.mkdir(parents=True, exist_ok=True)
                (work / name).write_text(content.replace("{url}", url))
        arguments = [part.replace("{url}", url) for part in command]
        started = time.monotonic_ns()
        output, code, usage = run_bounded(arguments, work, environment, patience_s)
        if code != 0:
            said = (work / "errors.txt").read_text(errors="replace")[-2_000:]
            raise StageError(f"{arguments[0]} ended with {code}: {said.strip() or output[-2_000:]}")
        times = self._times(run)
        shutil.rmtree(work, ignore_errors=True)
        return Run(
            output=output,
            first_request_s=(times[0][0] - started) / 1e9 if times else float("nan"),
            turns_s=[(after[0] - before[1]) / 1e9 for before, after in pairwise(times)],
            cpu_s=usage.ru_utime + usage.ru_stime,
            peak_kb=usage.ru_maxrss,
        )

    def _environment(self, work: Path, url: str) -> dict[str, str]:
        """Nothing of the user's: no settings, no proxy, no key."""
        return {
            "PATH": os.environ["PATH"],
            "HOME": str(work),
            "LANG": "C.UTF-8",
            "SSL_CERT_FILE": str(self.bundle),
            "NODE_EXTRA_CA_CERTS": str(self.bundle),
            "ANTHROPIC_BASE_URL": url,
            "ANTHROPIC_API_KEY": "made-up",
            "EVERTURN_HOME": str(work / "sessions"),
            "BENCH_JOURNAL": str(work / "journal"),
        }

    def _times(self, run: str) -> list[tuple[int, int]]:
        # A bare socket: this process stays small, for a child's peak memory counts from its parent's.
        with socket.create_connection(("127.0.0.1", self._plain), timeout=10) as connection:
            connection.sendall(b"GET /times/%b HTTP/1.1\r\nhost: bench\r\n\r\n" % run.encode())
            received = b""
            while HEAD_END not in received or not received.endswith((b"[]", b"]]")):
                received += connection.recv(65_536)
        times: list[tuple[int, int]] = json.loads(received.partition(HEAD_END)[2])
        return times


def run_bounded(
    command: list[str], work: Path, environment: dict[str, str], patience_s: float
) -> tuple[str, int, struct_rusage]:
    """Output, exit code, and what the process and its children used. Ends it when it takes too long."""
    try:
        with (work / "errors.txt").open("wb") as errors:
            process = subprocess.Popen(
                command,
                cwd=work,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=errors,
                start_new_session=True,
            )
    except OSError as error:
        raise StageError(f"{command[0]} cannot be started: {error.strerror}") from None
    timer = threading.Timer(patience_s, os.killpg, (process.pid, signal.SIGKILL))
    timer.start()
    try:
        with process.stdout or sys.stdin.buffer as pipe:
            output = pipe.read()
        _, status, usage = os.wait4(process.pid, 0)
    finally:
        timer.cancel()
    process.returncode = os.waitstatus_to_exitcode(status)
    return output.decode(errors="replace"), process.returncode, usage


def write_bundle(folder: Path) -> Path:
    """As large as a user's: the system's certificates with the server's added."""
    system = ssl.get_default_verify_paths().cafile
    bundle = folder / "bundle.pem"
    bundle.write_bytes((Path(system).read_bytes() if system else b"") + CERTIFICATE.read_bytes())
    return bundle
