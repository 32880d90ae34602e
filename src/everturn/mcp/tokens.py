"""What a login has brought, in a file for each server that only its owner can read. Nothing of OAuth is imported for it."""

import os
from contextlib import suppress
from hashlib import sha256
from typing import Any

import msgspec

_FOLDER_MODE = 0o700
_FILE_MODE = 0o600
_MAX_SIZE = 1_000_000


class Login(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """All fields but the last two are as the authorisation server and the package `mcp` write them."""

    tokens: dict[str, Any] | None = None
    client: dict[str, Any] | None = None
    """As which the authorisation server knows us; it belongs to one issuer."""
    metadata: dict[str, Any] | None = None
    """Of the authorisation server: where tokens are renewed."""
    issuer: str = ""
    redirect_port: int = 0
    """Of the address on this machine that the authorisation server was told to send people back to."""

    @property
    def access_token(self) -> str:
        token = (self.tokens or {}).get("access_token")
        return token if isinstance(token, str) else ""

    @property
    def can_renew(self) -> bool:
        return bool((self.tokens or {}).get("refresh_token")) and self.client is not None


class LoginFile:
    """That of one server."""

    def __init__(self, folder: str, url: str) -> None:
        """`folder`: that of all logins; empty: none is kept."""
        self._folder = folder
        self._path = os.path.join(folder, f"{sha256(url.encode()).hexdigest()[:32]}.json") if folder else ""  # noqa: PTH118 (as text)

    def load(self) -> Login:
        """An empty one where there is none, or none that could be read."""
        if not self._path:
            return Login()
        try:
            with open(self._path, "rb") as file:  # noqa: PTH123 (as text)
                return msgspec.json.decode(file.read(_MAX_SIZE), type=Login)
        except (OSError, msgspec.DecodeError):
            return Login()

    def save(self, login: Login) -> None:
        """In the place of the old one, in one step. Raises `OSError`."""
        if not self._path:
            return
        os.makedirs(self._folder, _FOLDER_MODE, exist_ok=True)  # noqa: PTH103 (as text)
        beside = f"{self._path}.{os.urandom(4).hex()}"
        descriptor = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, _FILE_MODE)
        try:
            with open(descriptor, "wb") as file:  # noqa: PTH123 (a descriptor)
                file.write(msgspec.json.encode(login))
            os.replace(beside, self._path)  # noqa: PTH105 (as text)
        except BaseException:
            with suppress(OSError):
                os.unlink(beside)  # noqa: PTH108 (as text)
            raise

    def remove(self) -> bool:
        """Whether there was one. Raises `OSError`."""
        try:
            os.unlink(self._path)  # noqa: PTH108 (as text)
        except FileNotFoundError:
            return False
        return True
