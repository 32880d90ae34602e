"""Which tools a model is offered: the built-in ones that the options name, and the caller's own."""

import os
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import TYPE_CHECKING

from everturn.core.errors import OptionError
from everturn.core.limits import Limits
from everturn.models.transport.proxy import plan_proxy
from everturn.ports.outputs import Outputs
from everturn.ports.scratch import NO_SCRATCH, Scratch
from everturn.ports.shell_folder import ShellFolder
from everturn.ports.tool import Tool
from everturn.settings.options import Options
from everturn.settings.setup import Setup
from everturn.tools.builtin import NAMES, PERSON_TOOLS, Web, builtin_tools
from everturn.tools.web.system_net import SystemNet

if TYPE_CHECKING:
    from everturn.ports.sandbox import Holder, Sandbox


def build_web(setup: Setup, env: Mapping[str, str], small_model: str) -> Web:
    options = setup.options
    ca_file = options.ca_file or env.get("SSL_CERT_FILE") or env.get("NODE_EXTRA_CA_CERTS")
    net = SystemNet(ca_file=os.fspath(ca_file) if ca_file else None, proxy_for=lambda url: plan_proxy(env, url))
    searcher = None
    if options.web_search == "brave" and setup.search_key:
        from everturn.tools.web_search.brave import BraveSearcher

        searcher = BraveSearcher(setup.search_key, net)
    return Web(net=net, small_model=small_model, searcher=searcher)


def choose_tools(
    options: Options,
    own_tools: Sequence[Tool],
    web: Web,
    *,
    removes: Callable[[str], bool],
    outputs: Outputs,
    shell: ShellFolder,
    limits: Limits,
    sandbox: "Sandbox | None" = None,
    only_reads: Callable[[str], bool] | None = None,
    holder: "Holder | None" = None,
    scratch: Scratch = NO_SCRATCH,
    list_late: Callable[[], tuple[Tool, ...]] = tuple,
) -> tuple[tuple[Tool, ...], tuple[Tool, ...]]:
    """Those that are listed, and those that wait to be found, which is possible only where ToolSearch is offered.

    Built-in ones first, in their fixed order; an own tool of the same name takes a built-in one's place. What a deny rule
    covers as a whole is not listed.
    """
    offered = offered_names(options)
    for name in offered:
        if name not in NAMES:
            raise OptionError("builtin_tools", f"there is no {name!r} (there are: {', '.join(NAMES)})")
    own = {tool.name: tool for tool in own_tools}
    if len(own) != len(own_tools):
        raise OptionError("tools", "two of them have the same name")
    names = {name for name in offered if name not in own and not removes(name)}
    kept = [tool for name, tool in own.items() if not removes(name)]
    deferred = tuple(tool for tool in kept if "ToolSearch" in names and tool.deferred)
    listed = (tool for tool in kept if tool not in deferred)
    made = builtin_tools(
        names,
        web,
        deferred,
        outputs=outputs,
        shell=shell,
        read_tokens=limits.read_tokens,
        sandbox=sandbox,
        limits=limits,
        only_reads=only_reads,
        holder=holder,
        scratch=scratch,
        list_late=list_late,
    )
    return (*made, *listed), deferred


def offered_names(options: Options) -> Collection[str]:
    if options.builtin_tools is not True:
        return options.builtin_tools or ()
    return NAMES if options.approver is not None else [name for name in NAMES if name not in PERSON_TOOLS]
