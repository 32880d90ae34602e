"""The sandbox of a session: chooses how each command is confined, prepares it, and reports what was denied."""

import os
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from functools import partial

import msgspec

from everturn.core.errors import ToolFault
from everturn.ports.sandbox import Start
from everturn.ports.scratch import NO_SCRATCH, Scratch
from everturn.ports.tool import Confinement, Inquire
from everturn.sandbox.aftermath import Aftermath
from everturn.sandbox.bubblewrap import (
    FILTER_DESCRIPTOR,
    INFORMATION_DESCRIPTOR,
    hand_over,
    part_environment,
    plan_mounts,
    plan_view,
)
from everturn.sandbox.calls import Machine
from everturn.sandbox.cells import CommandCell, OpenCell
from everturn.sandbox.denials import ConfinedRun
from everturn.sandbox.descriptors import make_readable
from everturn.sandbox.devices import keep_devices, plan_keeping
from everturn.sandbox.excluded import find_exclusion
from everturn.sandbox.filter import AF_UNIX, INTERNET, LOCAL, encode_filter
from everturn.sandbox.kept import PutBack
from everturn.sandbox.landlock import plan_entry
from everturn.sandbox.limits import limit_processes
from everturn.sandbox.network.consent import Consent
from everturn.sandbox.network.doorway import Doorway, may_make_networks, plan_opening, plan_variables
from everturn.sandbox.network.hosts import parse_pattern
from everturn.sandbox.network.proxy import Proxy
from everturn.sandbox.pins import MountPins
from everturn.sandbox.placeholders import Placeholders
from everturn.sandbox.places import Places, find_nested, find_places, lies_in_protected
from everturn.sandbox.probe import Means
from everturn.sandbox.settings import SandboxSettings
from everturn.sandbox.survivors import RuledSurvivors, ViewedSurvivors, has_scope, plan_sparing
from everturn.sandbox.temporary import Temporary

FIELD = "sandbox.network.allowedDomains"
SECRETS = frozenset({"ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_CUSTOM_HEADERS", "BRAVE_API_KEY"})
MAX_COVERED = 200
"""Most files that are hidden from a command because of rules. Hiding more would take longer than most commands."""
PROXIES = frozenset(
    name for bare in ("http_proxy", "https_proxy", "all_proxy", "no_proxy") for name in (bare, bare.upper())
)


class SandboxSurroundings(msgspec.Struct, frozen=True, kw_only=True):
    """Folders of the session, of the person and of Everturn itself."""

    folders: tuple[str, ...]
    """The working folders."""
    home: str
    """The person's home folder."""
    own: tuple[str, ...] = ()
    """Everturn's own folders: commands neither write them nor read the settings in them."""
    code: tuple[str, ...] = ()
    """Folders of Everturn's code and interpreter: commands do not write them."""


class SandboxRules(msgspec.Struct, frozen=True, kw_only=True):
    """What the rules in force add to the settings of the sandbox. Paths are absolute."""

    deny_read: tuple[str, ...] = ()
    deny_write: tuple[str, ...] = ()
    find_unread: Callable[[], tuple[str, ...] | None] = tuple
    """Function that finds existing files that a rule denies to read, in any folder; None if too much would have to be searched."""
    find_unwritten: Callable[[], tuple[str, ...] | None] = tuple
    folders: tuple[str, ...] = ()
    """Further working folders."""
    object_to: Callable[[str], str | None] = lambda _: None
    """Function that names the rule against a host; None if there is none."""


class CommandSandbox:
    """`ports.sandbox.Sandbox`."""

    def __init__(
        self,
        settings: SandboxSettings,
        means: Means,
        surroundings: SandboxSurroundings,
        ruled: Callable[[], SandboxRules] = SandboxRules,
        *,
        asks: bool = False,
        scratch: Scratch = NO_SCRATCH,
    ) -> None:
        """`ruled` is asked before each command. `asks`: there is a person to ask about hosts that are not named.

        `scratch`: the session's folder for temporary files; without one the sandbox makes one of its own.

        Raises `OptionError` where a host is none.
        """
        self.means = means
        self._asks = asks and settings.asks_hosts and settings.own_proxy_port is None
        self._ruled = ruled
        self._settings = msgspec.structs.replace(
            settings,
            deny_read=(*settings.deny_read, *(f"{own}/settings.json" for own in surroundings.own)),
            # As they are before the first command: one may lie in the workspace, and a command put a link in its place.
            allow_write=tuple(map(os.path.realpath, settings.allow_write)),
        )
        self._surroundings = surroundings
        self._allowed = [parse_pattern(FIELD, text) for text in settings.allowed_hosts]
        denied = [parse_pattern("sandbox.network.deniedDomains", text) for text in settings.denied_hosts]
        self._proxy = Proxy(
            self._allowed,
            denied,
            own_port=settings.own_proxy_port,
            object_to=lambda host: self._ruled().object_to(host),
        )
        self._placeholders = Placeholders()
        self.aftermath = Aftermath()
        self._is_looked_at = False
        self._found_by: SandboxRules | None = None
        """The last rules of which all files were found."""
        self._scratch = scratch
        self._temporary: Temporary | None = None
        self._nested: dict[str, list[str]] = {}
        self._pins = MountPins()
        self._running = 0
        families = LOCAL | ({AF_UNIX} if settings.unix_sockets else set())
        wide = families | INTERNET if means.kind == "bubblewrap" else families
        self._filter = encode_filter(means.machine, frozenset(wide)) if means.machine else b""

    @property
    def has_network(self) -> bool:
        """Whether commands can reach hosts through the proxy and nothing else; this needs bubblewrap."""
        return (self._settings.has_network or self._asks) and self.means.kind == "bubblewrap"

    @property
    def description(self) -> str:
        if self.means.kind == "none":
            return ""
        network = self._describe_network() if self.has_network else "none"
        leaving = (
            " Where a command fails because of it and is right as it is, run it again with dangerouslyDisableSandbox."
            if self._settings.may_leave
            else ""
        )
        return (
            "Commands run in a sandbox. They can write inside the working folder and $TMPDIR, not to settings of agents and "
            f"git (.git/hooks, .git/config) there, nor to those of editors and shells that exist; everything else is read-only. Network: {network}. "
            f"What a command starts ends with it, and a server is reached only by the command that started it.{leaving}"
        )

    def _describe_network(self) -> str:
        if self._settings.own_proxy_port is not None:
            hosts = "what the person's own proxy allows"
        else:
            asked = ["hosts that the person agrees to (they are asked while a connection waits)"] if self._asks else []
            hosts = ", ".join([*self._settings.allowed_hosts, *asked])
        return f"only {hosts}, through the proxy in HTTP_PROXY"

    def allow_host(self, text: str) -> None:
        """Allows a host for the rest of the session. Raises `OptionError`."""
        self._allowed.append(parse_pattern(FIELD, text))

    def judge(self, command: str, *, leave: bool) -> Confinement:
        if self.means.kind == "none" or find_exclusion(command, self._settings.excluded):
            return Confinement.NONE
        if leave and self._settings.may_leave:
            return Confinement.LEAVES
        return Confinement.ENOUGH if self._is_trusted() and self._finds_covered() else Confinement.INSIDE

    def _is_trusted(self) -> bool:
        """Whether a command needs no question because of files that it may leave behind."""
        # The weaker kind holds no metadata, and protected files only afterwards: it is enough for who says so.
        is_enough = self.means.kind == "bubblewrap" if self._settings.auto_allow is None else self._settings.auto_allow
        return is_enough and not self._is_exposed() and self._can_put_back()

    def _is_exposed(self) -> bool:
        """Whether a working folder is itself a protected place, such as `~/.config/autostart`, where every file may run later."""
        home = os.path.realpath(self._surroundings.home)
        folders = (*self._surroundings.folders, *self._ruled().folders)
        return any(lies_in_protected(os.path.realpath(folder), home) for folder in folders)

    def _finds_covered(self) -> bool:
        """Whether all files that rules deny are known, so that they can be hidden. Checked once; `confine` checks before each command."""
        ruled = self._ruled()
        if self._found_by is not ruled:
            self._find_covered(ruled)
        return self._found_by is ruled

    def _find_covered(self, ruled: SandboxRules) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Files that may not be read, and files that may not be written; empty if there are too many."""
        unread, unwritten = ruled.find_unread(), ruled.find_unwritten()
        if unread is None or unwritten is None or len({*unread, *unwritten}) > MAX_COVERED:
            self._found_by = None
            return (), ()
        self._found_by = ruled
        return unread, tuple(path for path in unwritten if path not in unread)

    def _can_put_back(self) -> bool:
        """Whether protected places can be restored after a command: all its processes can be ended, nothing is too large, and restoring has not failed."""
        if self.means.kind == "landlock" and not has_scope(self.means.version):
            return False
        if not self._is_looked_at:
            self._is_looked_at = True
            for folder in self._surroundings.folders:
                places = self._find_places(folder)
                self.aftermath.begin(self._list_kept(places), places, self.temporary)
                self.aftermath.end()
        return self.aftermath.is_sure

    def _begin(self, kept: tuple[str, ...], places: Places) -> None:
        """Remembers what is restored afterwards. Raises `ToolFault` if it has become too much and no person was asked."""
        was_trusted = self._is_trusted()
        self.aftermath.begin(kept, places, self.temporary)
        if was_trusted and not self._is_trusted():
            self.aftermath.end()
            raise ToolFault(
                "The command did not run: by now there is more in the working folders than the sandbox can look at before a "
                "command and put back after it. Run it again: then the person is asked."
            )

    async def confine(
        self, command: str, start: Start, folder: str, inquire: Inquire | None = None
    ) -> CommandCell | OpenCell:
        if self.means.kind == "none":
            if self._settings.required:
                raise ToolFault(
                    f"The command did not run: sandbox.required is set, and there is no sandbox here ({self.means.why})."
                )
            return OpenCell(start, f"The command ran without a sandbox, although one is wanted: {self.means.why}")
        if find_exclusion(command, self._settings.excluded):
            return OpenCell(start)
        was_found = self._found_by
        places = self._find_places(folder)
        if was_found is not None and self._found_by is None and was_found is self._ruled():
            # Nobody was asked about it, since all of them could be found a moment ago.
            raise ToolFault(
                "The command did not run: rules deny files, and by now there are too many in the working folders for the "
                "sandbox to keep all of them from it. Run it again: then the person is asked."
            )
        held = ConfinedRun(
            command=command,
            output="",
            folder=folder,
            places=places,
            by_rules=self.means.kind == "landlock",
            network=self.has_network,
            unix_sockets=self._settings.unix_sockets,
            may_leave=self._settings.may_leave,
        )
        environment = self._plan_environment(start.environment)
        if held.by_rules:
            return self._confine_by_rules(start.arguments, environment, held)
        consent = Consent(inquire, command) if inquire is not None and self._asks else None
        doorway = Doorway(self._proxy, consent) if self.has_network else None
        return self._confine_by_view(start.arguments, environment, held, doorway)

    async def aclose(self) -> None:
        self._placeholders.sweep()
        self.aftermath.close()
        if self._temporary is not None:
            self._temporary.close()
            self._temporary = None

    @property
    def temporary(self) -> str:
        """The temporary folder of commands: the session's scratch folder, or one of their own."""
        if path := self._scratch.make():
            return path
        if self._temporary is None:
            self._temporary = Temporary()
        return self._temporary.path

    def _find_places(self, folder: str) -> Places:
        around, ruled, settings = self._surroundings, self._ruled(), self._settings
        settings = msgspec.structs.replace(settings, allow_write=tuple(filter(_is_straight, settings.allow_write)))
        unread, unwritten = self._find_covered(ruled)
        settings = msgspec.structs.replace(
            settings,
            deny_read=(*settings.deny_read, *ruled.deny_read, *unread),
            deny_write=(*settings.deny_write, *ruled.deny_write, *unwritten),
        )
        places = find_places(
            settings,
            folders=dict.fromkeys((folder, *around.folders, *filter(_is_straight, ruled.folders))),
            temporary=self.temporary,
            homes=(around.home,),
            own=around.own,
            code=around.code,
            nested=self._find_nested(folder),
        )
        return msgspec.structs.replace(places, pinned=self._pins.judge(places.pinned, running=self._running))

    def _find_nested(self, folder: str) -> list[str]:
        """Nested repositories of a folder. Searched once, because a search takes longer than most commands."""
        if folder not in self._nested:
            self._nested[folder] = find_nested(os.path.realpath(folder))
        return self._nested[folder]

    def _plan_environment(self, given: Mapping[str, str]) -> dict[str, str]:
        without = SECRETS | self._settings.hidden_variables | PROXIES
        kept = {name: value for name, value in given.items() if name not in without}
        ours = {"TMPDIR": self.temporary, "EVERTURN_SANDBOX": self.means.kind}
        return kept | ours | (plan_variables(self._allowed) if self.has_network else {})

    def _confine_by_view(
        self, arguments: list[str], environment: dict[str, str], held: ConfinedRun, doorway: Doorway | None
    ) -> CommandCell:
        places = held.places
        with ExitStack() as failed:
            if doorway is not None:
                failed.callback(doorway.close)
            placeholders = self._placeholders.put(places.missing)
            self._running += 1
            failed.callback(self._note_closed, placeholders)
            machine = self.means.machine
            # Root makes the command's network itself, with the door in it: nothing need run inside to open one.
            enter = partial(_enter_network, doorway, machine) if doorway and machine and may_make_networks() else None
            via = plan_keeping(machine) if enter is None else None
            line = [doorway.make_line()] if doorway and not enter else []
            view = plan_view(self.means.program, as_root=os.geteuid() == 0, has_own_network=enter is not None)
            limited = limit_processes(arguments)
            inner = plan_opening(limited) if line else limited
            mounts = plan_mounts(places, placeholders)
            own, handed = part_environment(environment)
            filtered = make_readable(self._filter)
            failed.callback(os.close, filtered)
            survivors = ViewedSurvivors()
            failed.callback(survivors.end)
            self._begin(self._list_kept(places, placeholders), places)
            failed.pop_all()
        return CommandCell(
            Start(
                arguments=[
                    *view, *mounts, "--seccomp", str(FILTER_DESCRIPTOR),
                    "--info-fd", str(INFORMATION_DESCRIPTOR), "--chdir", held.folder,
                    *hand_over(handed), "--", *inner,
                ],
                environment=own,
                handed=handed,
                descriptors=((filtered, FILTER_DESCRIPTOR), (survivors.writable, INFORMATION_DESCRIPTOR), *line),
                enter=enter,
                via=via,
                # Bubblewrap dies with who started it: that is the thread.
                stay=doorway.closed.wait if doorway and enter else None,
                wrapped=True,
            ),
            held,
            survivors=survivors,
            put_back=self._put_back,
            note_closed=partial(self._note_closed, placeholders),
            filtered=filtered,
            doorway=doorway,
            placeholders=placeholders,
        )  # fmt: skip

    def _put_back(self, is_over: bool) -> PutBack:
        may_linger = self.means.kind == "landlock" and not has_scope(self.means.version)
        return self.aftermath.end(is_over=is_over, may_linger=may_linger)

    def _note_closed(self, placeholders: tuple[str, ...]) -> None:
        self._running -= 1
        self._placeholders.remove(placeholders)

    def _confine_by_rules(self, arguments: list[str], environment: dict[str, str], held: ConfinedRun) -> CommandCell:
        if self.means.machine is None:
            raise ToolFault("The command did not run: this machine is not known to the sandbox.")
        places = held.places
        enter = plan_entry(self.means.machine, self.means.version, places, self._filter)
        limited = limit_processes(arguments)
        survivors = RuledSurvivors(self.means.machine, enter) if has_scope(self.means.version) else None
        with ExitStack() as failed:
            if survivors is not None:
                failed.callback(survivors.end)
            self._begin(self._list_kept(places), places)
            failed.pop_all()
        return CommandCell(
            Start(
                arguments=limited,
                environment=environment,
                enter=survivors.enter if survivors else plan_sparing(self.means.machine, enter),
                stay=survivors.stay if survivors else None,
            ),
            held,
            survivors=survivors,
            put_back=self._put_back,
        )

    def _list_kept(self, places: Places, placeholders: tuple[str, ...] | None = None) -> tuple[str, ...]:
        """Places that are restored: all protected ones, or those that a view cannot cover. `placeholders`: those that exist; None = none yet."""
        if self.means.kind == "landlock":
            # Rules hold what is denied. We write in our own folders meanwhile: the session's journal must not be put back.
            protected = (path for path in places.protected if path not in places.denied)
            return (*protected, *places.missing, *places.traps, *places.links)
        # A disk that is full has no room for one, until the command has made some.
        bare = [path for path in places.missing if placeholders is not None and path not in placeholders]
        return (*places.traps, *places.links, *bare)


def _enter_network(doorway: Doorway, machine: Machine) -> None:
    """Enters the network of a command, as root. Raises `OSError`."""
    keep_devices(machine)
    doorway.run_opening(machine)


def _is_straight(path: str) -> bool:
    """Whether no link was put into the path since it was resolved."""
    return os.path.realpath(path) == path
