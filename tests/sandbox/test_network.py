"""The way out: curl, git and pip reach the host that is allowed, and no other."""

import os
import shutil
import signal
from pathlib import Path

import pip
import pytest
from tests.sandbox.conftest import USERS, Worker
from tests.sandbox.servers import Server, fill
from tests.sandbox.test_escapes import python
from tests.sandbox.test_running import wait_for
from tests.tools.processes import named

from everturn.sandbox.network.doorway import MAX_VISITORS


@pytest.fixture
def hosts(viewed):
    served = viewed.place / "served"
    served.mkdir()
    fill(served)
    servers = Server(served), Server(served)
    yield servers
    for server in servers:
        server.close()


def reach(world, hosts, *commands):
    allowed = [f"127.0.0.1:{hosts[0].port}"]
    return world.run(*commands, settings={"network": {"allowedDomains": allowed}})


@pytest.mark.needs("curl")
def test_curl_reaches_the_allowed_host_and_no_other(viewed, hosts):
    good, bad = hosts

    page, posted, tunnelled, other, direct = reach(
        viewed, hosts,
        f"curl -sS {good.url}/page",
        f"curl -sS -d shout {good.url}/",
        f"curl -sS -p {good.url}/page",
        f"curl -sS -f {bad.url}/page",
        f"curl -sS --noproxy '*' {good.url}/page",
    )  # fmt: skip

    assert [result["content"] for result in (page, posted, tunnelled)] == ["a page", "SHOUT", "a page"]
    assert f"127.0.0.1:{bad.port} was not reached: sandbox.network.allowedDomains does not name it" in other["content"]
    assert direct["is_error"]
    assert bad.asked == []


def test_git_reaches_the_allowed_host_and_no_other(viewed, hosts):
    good, bad = hosts

    cloned, other = reach(
        viewed, hosts,
        f"git clone -q {good.url}/repo.git a && cat a/file",
        f"git clone -q {bad.url}/repo.git b",
    )  # fmt: skip

    assert cloned["content"] == "from the repository"
    assert f"127.0.0.1:{bad.port} was not reached" in other["content"]
    assert bad.asked == []


def test_pip_reaches_the_allowed_host_and_no_other(viewed, hosts):
    good, bad = hosts
    program = viewed.place / "pip"
    shutil.copytree(Path(pip.__file__).parent, program)
    viewed.own(viewed.workspace)

    def install(server, target):
        where = f"--index-url {server.url}/simple --trusted-host 127.0.0.1 --target {target}"
        return f"python3 {program} install -q --no-deps --retries 0 --disable-pip-version-check {where} treat"

    installed, other = reach(viewed, hosts, f"{install(good, 'a')} && cat a/treat.py", install(bad, "b"))

    assert "taste = 'sweet'" in installed["content"].splitlines()
    assert f"127.0.0.1:{bad.port} was not reached" in other["content"]
    assert bad.asked == []


@pytest.mark.needs("curl")
def test_a_host_that_nothing_names_is_reached_when_the_person_agrees(viewed, hosts):
    good, bad = hosts
    commands = (
        f"curl -sS --noproxy '' {good.url}/page; curl -sS --noproxy '' -p {good.url}/page",
        f"env -u no_proxy -u NO_PROXY git clone -q {good.url}/repo.git a && cat a/file",
        f"curl -sS -f --noproxy '' {bad.url}/page",
    )

    done = viewed.do(*commands, answers={str(good.port): None, str(bad.port): "the person said no"})

    twice, cloned, other = (result["content"] for result in done["results"])
    assert (twice, cloned) == ("a pagea page", "from the repository")
    assert f"127.0.0.1:{bad.port} was not reached: the person said no" in other
    assert bad.asked == []
    wanted = [(good.port, commands[0]), (good.port, commands[1]), (bad.port, commands[2])]
    assert [(asked["port"], asked["command"]) for asked in done["asked"]] == wanted


@pytest.mark.needs("curl")
def test_a_large_answer_comes_whole(viewed, hosts):
    (result,) = reach(viewed, hosts, f"curl -sS {hosts[0].url}/large | wc -c")

    assert result["content"] == "3000000"


@pytest.mark.needs("curl")
def test_a_host_by_its_local_name_is_reached(viewed, hosts):
    said = viewed.say(
        f"curl -sS http://LOCALHOST:{hosts[0].port}/page", settings={"network.allowedDomains": ["localhost"]}
    )

    assert said == "a page"


@pytest.mark.needs("curl")
def test_a_server_of_the_commands_own_is_reached_without_the_proxy(viewed, hosts):
    said = viewed.say(
        "echo mine > page; python3 -m http.server 8123 --bind 127.0.0.1 >/dev/null 2>&1 & "
        "until curl -sS http://127.0.0.1:8123/page 2>/dev/null; do sleep 0.05; done",
        settings={"network.allowedDomains": ["example.com"]},
    )

    assert said == "mine"


@pytest.mark.needs("curl")
def test_a_proxy_of_the_persons_own_takes_the_place_of_ours(viewed, hosts):
    """A server that is no proxy answers a proxy's request all the same."""
    said = viewed.say("curl -sS http://example.com/page", settings={"network.httpProxyPort": hosts[0].port})

    assert said == "a page"


@pytest.mark.needs("curl")
def test_a_denied_host_is_not_reached_although_it_is_allowed(viewed, hosts):
    (result,) = viewed.run(
        f"curl -sS -f {hosts[0].url}/page",
        settings={"network": {"allowedDomains": ["*", "127.0.0.1"], "deniedDomains": ["127.0.0.1"]}},
    )

    assert "sandbox.network.deniedDomains names 127.0.0.1" in result["content"]
    assert hosts[0].asked == []


def test_nothing_with_a_way_out_outlives_a_killed_program(viewed):
    word = f"94.{os.getpid()}"
    worker = Worker(USERS[viewed.user])
    try:
        command = {"command": f"setsid sleep {word} & sleep {word}", "run_in_background": True}
        worker.give(viewed.job(command, waits=True, settings={"network.allowedDomains": ["example.com"]}))
        wait_for(lambda: len(named(word)) == 2)
        os.kill(worker.process.pid, signal.SIGKILL)
        wait_for(lambda: named(word) == [])
    finally:
        worker.process.kill()
        worker.close()


@pytest.mark.needs("curl")
def test_two_commands_at_once_have_a_door_each(viewed, hosts):
    results = viewed.do(
        {"command": f"curl -sS {hosts[0].url}/page; sleep 0.2", "run_in_background": True},
        f"curl -sS {hosts[0].url}/page",
        settings={"network.allowedDomains": [f"127.0.0.1:{hosts[0].port}"]},
        finishes=True,
    )

    assert results["results"][1]["content"] == "a page"
    assert results["reports"] == ["a page"]


def test_idle_connections_take_a_bounded_part_of_us_and_nothing_of_the_next_command(viewed):
    flood = python(
        "import select, socket",
        "kept = {each.fileno(): each for each in (socket.create_connection(('127.0.0.1', 3128)) for _ in range(400))}",
        "open('ready', 'w').close()",
        "poll, told = select.poll(), 0",
        "for number in kept: poll.register(number, select.POLLIN)",
        # Those that were turned away are told so.
        f"while told < {400 - MAX_VISITORS} and (found := poll.poll(9000)):",
        "    for number, _ in found:",
        "        told += b'503' in kept[number].recv(100)",
        "        poll.unregister(number)",
        "print(told, len(poll.poll(0)))",
    )
    answer = viewed.do(
        {"command": flood, "run_in_background": True},
        "until [ -e ready ]; do :; done",
        settings={"network.allowedDomains": ["example.com"]},
        finishes=True,
    )

    (report,) = answer["reports"]
    assert report.split()[:2] == [str(400 - MAX_VISITORS), "0"]
    assert "too many connections at once" in report
    assert not answer["results"][1]["is_error"]
