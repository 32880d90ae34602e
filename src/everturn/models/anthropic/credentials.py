"""Credentials for the API: a key, a token, or a command that prints one; and the values that must never be shown."""

import asyncio
import contextlib
import os
import signal
import time
from collections.abc import Callable

from everturn.core.errors import FaultKind, ModelFault, OptionError
from everturn.models.anthropic.headers import is_header_value
from everturn.models.anthropic.key_mask import mask_echoes

HELPER_CACHE_S = 300.0
HELPER_LIMIT_S = 60.0


class Credentials:
    """`helper` is a shell command; what it prints goes out both as key and as bearer token.

    `helper_name` is how whoever set it knows it; errors use it.
    """

    def __init__(
        self,
        *,
        api_key: str | None = None,
        auth_token: str | None = None,
        helper: str | None = None,
        helper_name: str = "api_key_helper",
        helper_limit_s: float = HELPER_LIMIT_S,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._api_key = _checked("ANTHROPIC_API_KEY", api_key)
        self._auth_token = _checked("ANTHROPIC_AUTH_TOKEN", auth_token)
        self._helper = helper
        self.helper_name = helper_name
        self._helper_limit_s = helper_limit_s
        self._clock = clock
        self._printed = ""
        self._printed_at = 0.0
        self._printing = asyncio.Lock()
        self._own = self._list_own()
        self._secrets = {secret for secret in (self._api_key, self._auth_token) if secret}

    def __repr__(self) -> str:
        named = {"api_key": self._api_key, "auth_token": self._auth_token, "helper": self._helper}
        return f"Credentials({', '.join(name for name, value in named.items() if value) or 'none'})"

    @property
    def present(self) -> bool:
        return bool(self._api_key or self._auth_token or self._helper)

    @property
    def renewable(self) -> bool:
        """A refused key may be an old one: the helper can be asked again."""
        return self._helper is not None

    @property
    def own(self) -> frozenset[str]:
        """Those that open the API, as far as they are known by now."""
        return self._own

    def _list_own(self) -> frozenset[str]:
        return frozenset(secret for secret in (self._api_key, self._auth_token, self._printed) if secret)

    def hide(self, *values: str) -> None:
        """Masks these too from now on."""
        self._secrets.update(value for value in values if value)

    def mask(self, text: str) -> str:
        """Of what a server says, without them."""
        return mask_echoes(text, self._secrets)

    def forget(self) -> None:
        """What the helper printed is not used again."""
        self._printed = ""
        self._own = self._list_own()

    async def headers(self) -> dict[str, str]:
        """Raises `ModelFault` where the helper fails; its output is never part of the text."""
        if self._helper is not None:
            key = await self._ask_helper(self._helper)
            return {"x-api-key": key, "authorization": f"Bearer {key}"}
        headers = {}
        if self._api_key:
            headers["x-api-key"] = self._api_key
        if self._auth_token:
            headers["authorization"] = f"Bearer {self._auth_token}"
        return headers

    async def _ask_helper(self, command: str) -> str:
        async with self._printing:
            if not self._printed or self._clock() - self._printed_at >= HELPER_CACHE_S:
                try:
                    printed = (await run_helper(command, self._helper_limit_s)).strip()
                except HelperFailed as failed:
                    raise self._fault(str(failed)) from None
                if not printed or not is_header_value(printed):
                    raise self._fault("printed nothing that could be a key")
                self._secrets.add(printed)
                self._printed, self._printed_at = printed, self._clock()
                self._own = self._list_own()
            return self._printed

    def _fault(self, problem: str) -> ModelFault:
        text = f"The command {self.helper_name} {problem}. Run it by hand to see why."
        return ModelFault(FaultKind.AUTHENTICATION, text)


class HelperFailed(Exception):
    """The end of a sentence that begins with the command's name."""


async def run_helper(command: str, limit_s: float) -> str:
    """The command's output; its process group ends with it, however it ends. Raises `HelperFailed`."""
    try:
        process = await asyncio.create_subprocess_shell(
            command,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL,
            start_new_session=True,
        )
    except (OSError, ValueError):
        raise HelperFailed("cannot be started") from None
    try:
        async with asyncio.timeout(limit_s):
            output, _ = await process.communicate()
    except TimeoutError:
        raise HelperFailed(f"did not finish within {limit_s:g} s") from None
    finally:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
        await process.wait()
    if process.returncode != 0:
        raise HelperFailed(f"failed (exit code {process.returncode})")
    return output.decode("utf-8", "replace")


def _checked(variable: str, value: str | None) -> str | None:
    value = (value or "").strip()
    if not is_header_value(value):
        raise OptionError(variable, "holds characters that no header may carry")
    return value or None
