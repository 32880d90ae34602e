"""The words and numbers of the Model Context Protocol: its versions, the two eras, and what we say of ourselves.

Up to 2025-11-25 a session begins with `initialize`. From 2026-07-28 on there is no session: each request says in `_meta` who asks
and in which version. The two are called the session era and the stateless era.
"""

from typing import Final

SESSION_VERSIONS: Final = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")
STATELESS_VERSIONS: Final = ("2026-07-28",)
NEWEST_SESSION: Final = SESSION_VERSIONS[-1]
NEWEST_STATELESS: Final = STATELESS_VERSIONS[-1]
CLIENT_NAME: Final = "everturn"
VERSION_KEY: Final = "io.modelcontextprotocol/protocolVersion"
CLIENT_KEY: Final = "io.modelcontextprotocol/clientInfo"
CAPABILITIES_KEY: Final = "io.modelcontextprotocol/clientCapabilities"
SERVER_KEY: Final = "io.modelcontextprotocol/serverInfo"
INVALID_REQUEST: Final = -32_600
METHOD_NOT_FOUND: Final = -32_601
INVALID_PARAMS: Final = -32_602
INTERNAL_ERROR: Final = -32_603
HEADER_MISMATCH: Final = -32_020
UNSUPPORTED_VERSION: Final = -32_022
ADDRESS_REQUIRED: Final = -32_042
"""The person must open an address first, as 2025-11-25 has it."""
ELICITATION: Final = "elicitation/create"
NAMED_BY: Final = {"tools/call": "name", "prompts/get": "name", "resources/read": "uri"}
"""Requests about one thing, and the parameter that names it."""


def is_stateless(version: str) -> bool:
    return version in STATELESS_VERSIONS
