"""Hosts for commands to reach: a server on the loopback with files, a repository and an index of packages."""

import base64
import hashlib
import io
import re
import subprocess
import threading
import zipfile
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer


class _Handler(SimpleHTTPRequestHandler):
    def do_GET(self):
        # As a proxy is asked, too.
        self.path = re.sub("^http://[^/]*", "", self.path)
        super().do_GET()

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body.upper())

    def log_message(self, *_):
        self.server.asked.append(self.path)


class Server(ThreadingHTTPServer):
    """`asked`: the paths of all requests."""

    def __init__(self, folder):
        self.asked = []
        super().__init__(("127.0.0.1", 0), partial(_Handler, directory=str(folder)))
        threading.Thread(target=self.serve_forever, args=(0.01,), daemon=True).start()

    @property
    def port(self):
        return self.server_address[1]

    @property
    def url(self):
        return f"http://127.0.0.1:{self.port}"

    def close(self):
        self.shutdown()
        self.server_close()


def fill(folder):
    """A page, a repository (`repo.git`) and an index (`simple/`) with the package `treat`."""
    (folder / "page").write_text("a page")
    (folder / "large").write_bytes(b"x" * 3_000_000)
    work = folder / "work"
    run = partial(subprocess.run, check=True, capture_output=True)
    run(["git", "init", "-q", str(work)])
    (work / "file").write_text("from the repository")
    run(["git", "-C", str(work), "add", "file"])
    run(["git", "-C", str(work), "-c", "user.name=A", "-c", "user.email=a@b", "commit", "-qm", "first"])
    run(["git", "clone", "-q", "--bare", str(work), str(folder / "repo.git")])
    run(["git", "-C", str(folder / "repo.git"), "update-server-info"])
    index = folder / "simple" / "treat"
    index.mkdir(parents=True)
    name = "treat-1.0-py3-none-any.whl"
    (index / name).write_bytes(pack_wheel())
    (index / "index.html").write_text(f'<!DOCTYPE html><html><body><a href="{name}">{name}</a></body></html>')


def pack_wheel():
    files = {
        "treat.py": b"taste = 'sweet'\n",
        "treat-1.0.dist-info/METADATA": b"Metadata-Version: 2.1\nName: treat\nVersion: 1.0\n",
        "treat-1.0.dist-info/WHEEL": b"Wheel-Version: 1.0\nGenerator: hand\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    record = [
        f"{name},sha256={base64.urlsafe_b64encode(hashlib.sha256(data).digest()).decode().rstrip('=')},{len(data)}"
        for name, data in files.items()
    ]
    files["treat-1.0.dist-info/RECORD"] = "\n".join([*record, "treat-1.0.dist-info/RECORD,,", ""]).encode()
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return packed.getvalue()
