"""Connections that have a choice of targets and addresses: shares, families, ports, and whose fault a failure is."""

import re

import pytest
from onrush_cluster import assert_accounts_balance, run_embedded, write_plan
from scripted_server import HOLD, ScriptedServer, opening

PLAN = """
name: several
target: {target}
scenarios: {{user: {{script: [connect, {{think: 10s}}]}}}}
stages: [{{name: all, users: {users}, over: 200ms, for: 500ms}}]
"""


def hold(sock, head):
    sock.sendall(opening(head))
    sock.settimeout(20)
    while sock.recv(4096):
        pass


def server(address="127.0.0.1", port=0):
    return ScriptedServer({"/x": hold}, address, port)


def run(tmp_path, target, users, *options, agents=1):
    plan = write_plan(tmp_path, PLAN.format(target=target, users=users))
    process, found = run_embedded(tmp_path, plan, "--agents", agents, *options)
    assert found is not None, process.said()
    assert_accounts_balance(found)
    return process, found


def hosts(scripted):
    """Host of each request that a server got."""
    return {re.search(rb"\r\nHost: (\S+)", head)[1].decode() for head in scripted.heads}


@pytest.mark.parametrize("agents, workers", [(1, 1), (3, 1), (1, 2)])
def test_targets_take_turns_by_weight(agents, workers, tmp_path):
    with server() as a, server() as b:
        target = f"[{{url: ws://127.0.0.1:{a.port}/x, weight: 3}}, ws://127.0.0.1:{b.port}/x]"
        process, found = run(tmp_path, target, 96, "--workers", workers, agents=agents)
        assert process.process.returncode == 0, process.said()
        assert (len(a.heads), len(b.heads)) == (72, 24)
        assert hosts(a) == {f"127.0.0.1:{a.port}"} and hosts(b) == {f"127.0.0.1:{b.port}"}
        assert found["target"] == f"ws://127.0.0.1:{a.port}/x, ws://127.0.0.1:{b.port}/x"


def test_P023_all_addresses_of_a_name_are_used_in_turn_and_the_name_stays_in_Host(tmp_path):
    with server() as v4, server("::1", v4.port) as v6:
        target = f'{{url: "ws://a.test:{v4.port}/x", resolve: [127.0.0.1, "::1"]}}'
        process, found = run(tmp_path, target, 50)
        assert process.process.returncode == 0, process.said() + str(found["failures"])
        assert (len(v4.heads), len(v6.heads)) == (25, 25)
        assert hosts(v4) | hosts(v6) == {f"a.test:{v4.port}"}


def test_P023_an_IPv6_address_has_brackets_in_Host_alone(tmp_path):
    with server("::1") as v6:
        process, _ = run(tmp_path, f"ws://[::1]:{v6.port}/x", 5)
        assert process.process.returncode == 0, process.said()
        assert hosts(v6) == {f"[::1]:{v6.port}"}


def test_the_address_that_refused_is_named(tmp_path):
    with server() as v4:
        _, found = run(tmp_path, f'{{url: "ws://a.test:{v4.port}/x", resolve: [127.0.0.1, "::1"]}}', 20)
        [failure] = [row for row in found["failures"] if row["phase"] == "connect"]
        assert (failure["cause"], failure["count"]) == ("refused (ECONNREFUSED)", 10)
        assert failure["sample"] == f"[::1]:{v4.port}"


def test_P026_no_raw_byte_gets_into_the_request_line(tmp_path):
    with ScriptedServer({"/stra%C3%9Fe/x%20y?q=%25": [b"HTTP/1.1 404 x\r\n\r\n", HOLD]}) as scripted:
        run(tmp_path, f'"ws://127.0.0.1:{scripted.port}/straße/x%20y?q=%25"', 1)
        assert scripted.heads[0].startswith(b"GET /stra%C3%9Fe/x%20y?q=%25 HTTP/1.1\r\n")


def test_P011_a_name_without_address_is_refused_before_the_run(tmp_path):
    plan = write_plan(tmp_path, PLAN.format(target="ws://no-such-host.invalid/x", users=1))
    process, found = run_embedded(tmp_path, plan, "--agents", "1", seconds=30)
    assert (process.process.returncode, found) == (3, None)
    assert "host 'no-such-host.invalid' is unknown" in process.said()
