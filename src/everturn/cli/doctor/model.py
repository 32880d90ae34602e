"""Checks of the way to the model: settings, key, and one small request."""

import asyncio
from collections.abc import Mapping
from pathlib import Path

from everturn.cli.doctor.finding import Finding, fail, ok, warn
from everturn.compose.catalog import build_catalog, resolve_model
from everturn.compose.cli import Launch, build_model, plan_launch
from everturn.core.errors import FaultKind, ModelFault, OptionError
from everturn.core.messages import text_block
from everturn.core.transcript import Wire
from everturn.ports.model import Request
from everturn.settings.files import FILE_NAME

MAX_WAIT_S = 20.0
NOT_FOUND = 404
MEND = {
    FaultKind.CONNECTION: "Check the network, a proxy (HTTPS_PROXY) and ANTHROPIC_BASE_URL.",
    FaultKind.TIMEOUT: "Try again; if it stays so, check the network and a proxy (HTTPS_PROXY).",
    FaultKind.TLS: "Check the certificate's authority (SSL_CERT_FILE) and this machine's clock.",
    FaultKind.AUTHENTICATION: "Get a new key, and set ANTHROPIC_API_KEY to it.",
    FaultKind.PERMISSION: "Ask the owner of the account for access.",
    FaultKind.MODEL_NOT_FOUND: "Choose another model: everturn config set model sonnet",
    FaultKind.NOT_AN_API: "Check ANTHROPIC_BASE_URL: https://api.anthropic.com, say, without /v1 at its end.",
    FaultKind.INVALID: "Check ANTHROPIC_BETAS, ANTHROPIC_CUSTOM_HEADERS and the model's name: the server refuses one of them.",
    FaultKind.STREAM_BROKEN: "Check ANTHROPIC_BASE_URL: what answers there may be no API, or a page that asks for a login.",
}


def check_settings(home: Path, env: Mapping[str, str]) -> tuple[Finding, Launch | None]:
    """What a run would start with; None where it would not start."""
    path = home / FILE_NAME
    try:
        launch = plan_launch({}, env)
    except OptionError as error:
        if error.field == "cwd":
            return fail("folder", f"the working folder {error.problem}", "Go to a folder that is there."), None
        return fail(
            "settings", str(error), "Correct it; everturn --help and docs/reference/settings.md say what is allowed."
        ), None
    if launch.warnings:
        held = launch.warnings == (launch.merged.held,)
        advice = "everturn trust shows it whole, and asks." if held else "Remove or change it in the file."
        return warn("settings", "; ".join(launch.warnings), advice), launch
    return ok("settings", f"{path} is valid" if path.exists() else f"{path} is not there; defaults are used"), launch


def check_key(launch: Launch) -> Finding:
    if launch.setup.has_credentials:
        return ok("key", f"{launch.key_source} is set")
    if launch.has_credentials:
        return ok("key", "none, but headers of your own are set (ANTHROPIC_CUSTOM_HEADERS)")
    return fail("key", "there is none", "Set ANTHROPIC_API_KEY, or: everturn config set apiKeyHelper 'COMMAND'")


def check_model(launch: Launch) -> Finding:
    """Asks the API to count the tokens of a word: that needs the network, the key and the model, and costs nothing."""
    try:
        model = resolve_model(launch.setup.model, launch.setup, build_catalog(launch.options))
        asyncio.run(ask_count(launch, model))
    except ModelFault as fault:
        return fail("model", fault.text, advise(fault))
    except TimeoutError:
        return fail("model", f"no answer within {MAX_WAIT_S:g} s", MEND[FaultKind.CONNECTION])
    except OptionError as error:
        return fail("model", str(error), "Correct it.")
    return ok("model", f"{model} answers at {launch.setup.base_url}")


def advise(fault: ModelFault) -> str:
    if fault.kind is FaultKind.INVALID and fault.status == NOT_FOUND:
        return MEND[FaultKind.NOT_AN_API]
    return MEND.get(fault.kind, "Try again later.")


async def ask_count(launch: Launch, model: str) -> int:
    wire = Wire(role="user", blocks=(text_block("Hello"),))
    client = build_model(launch)
    try:
        async with asyncio.timeout(MAX_WAIT_S):
            return await client.count_tokens(Request(model=model, messages=(wire,), max_tokens=1))
    finally:
        await client.aclose()
