"""The client of the API, from a setup: its transport, its credentials, its address."""

import os
from collections.abc import Mapping

from everturn import __version__
from everturn.models.anthropic.client import AnthropicModel
from everturn.models.anthropic.credentials import Credentials
from everturn.models.transport.choose import choose_transport
from everturn.ports.model import Catalog
from everturn.settings.setup import Setup


def build_client(setup: Setup, env: Mapping[str, str], catalog: Catalog) -> AnthropicModel:
    limits, options = setup.limits, setup.options
    transport = choose_transport(
        env,
        setup.base_url,
        connect_s=limits.connect_s,
        stall_s=limits.stall_s,
        ca_file=os.fspath(options.ca_file) if options.ca_file else None,
    )
    credentials = Credentials(api_key=setup.api_key, auth_token=setup.auth_token, helper=options.api_key_helper)
    return AnthropicModel(
        transport=transport,
        catalog=catalog,
        credentials=credentials,
        base_url=setup.base_url,
        version=__version__,
        custom_headers=setup.headers,
        first_event_s=limits.first_event_s,
    )
