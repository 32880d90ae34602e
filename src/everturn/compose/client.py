"""The client of the API, from a setup: its transport, its credentials, its address."""

import os
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from everturn.settings.setup import Setup

if TYPE_CHECKING:
    from everturn.models.anthropic.client import AnthropicModel
    from everturn.ports.model import Catalog
    from everturn.ports.transport import Transport


def build_client(
    setup: Setup,
    env: Mapping[str, str],
    catalog: "Catalog | None" = None,
    *,
    helper_name: str = "api_key_helper",
    ahead: bool = False,
    wrap: "Callable[[Transport], Transport] | None" = None,
) -> "AnthropicModel":
    """Call it inside a running loop. `catalog` None is the one of the setup; `helper_name` is what a person calls the key helper.

    `ahead`: a request is sure to follow. `wrap` may look at what goes over the wire.
    """
    from everturn.models.transport.choose import choose_transport

    limits, options = setup.limits, setup.options
    transport = choose_transport(
        env,
        setup.base_url,
        connect_s=limits.connect_s,
        stall_s=limits.stall_s,
        ca_file=os.fspath(options.ca_file) if options.ca_file else None,
        ahead=ahead,
    )
    # After the transport, which reads certificates meanwhile.
    from everturn import __version__
    from everturn.compose.catalog import build_catalog
    from everturn.models.anthropic.client import AnthropicModel
    from everturn.models.anthropic.credentials import Credentials

    return AnthropicModel(
        transport=wrap(transport) if wrap else transport,
        catalog=catalog or build_catalog(options),
        credentials=Credentials(
            api_key=setup.api_key, auth_token=setup.auth_token, helper=options.api_key_helper, helper_name=helper_name
        ),
        base_url=setup.base_url,
        version=__version__,
        custom_headers=setup.headers,
        first_event_s=limits.first_event_s,
    )
