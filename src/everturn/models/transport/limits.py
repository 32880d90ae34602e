"""What every transport keeps to unless it is told otherwise; times in seconds, sizes in bytes."""

CONNECT_S = 10.0
STALL_S = 120.0
"""Silence, before the first byte and between two."""
IDLE_S = 60.0
"""How long an unused connection is kept."""
IDLE_LIMIT = 8
"""How many unused connections are kept for one origin."""
BODY_CAP = 128_000_000
"""Of a response, decoded."""
CLOSE_S = 1.0
"""A broken TLS connection may never say that it is closed."""
