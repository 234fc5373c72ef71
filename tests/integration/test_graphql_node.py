# ctest: timeout=120
"""graphql-node serves one schema over both subprotocols, as seen by PyPI's websockets speaking plain JSON."""

import json

import pytest
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import connect

from onrush_testing import eventually, start_target

MODERN, LEGACY = "graphql-transport-ws", "graphql-ws"
WORDS = {MODERN: ("subscribe", "next", "complete"), LEGACY: ("start", "data", "stop")}


@pytest.fixture(scope="module")
def server():
    with start_target("graphql-node") as running:
        yield running


def client(server, *subprotocols):
    return connect(server.url("/graphql"), subprotocols=subprotocols or None, compression=None, proxy=None,
                   ping_interval=None)


def say(connection, **message):
    connection.send(json.dumps(message))


def hear(connection, *passed_over):
    """The next message whose type is none of these."""
    while True:
        message = json.loads(connection.recv(10))
        if message["type"] not in passed_over:
            return message


def opened(connection):
    say(connection, type="connection_init", payload={"token": "any"})
    assert hear(connection)["type"] == "connection_ack"
    return connection


@pytest.mark.parametrize("protocol", [MODERN, LEGACY])
def test_a_mutation_reaches_the_subscription_of_its_channel_alone(server, protocol):
    start, result, _ = WORDS[protocol]
    with client(server, protocol) as one, client(server, protocol) as other:
        assert one.subprotocol == protocol
        for name, connection in (("one", one), ("other", other)):
            opened(connection)
            say(connection, type=start, id="s", payload={
                "query": "subscription ($c: String!) { message(channel: $c) { id sentUs } }", "variables": {"c": name}})
        # Right behind the subscription, without waiting.
        for i in range(100):
            say(one, type=start, id=f"m{i}", payload={
                "query": "mutation ($c: String!, $t: Float!) { publish(channel: $c, id: \"x\", sentUs: $t) }",
                "variables": {"c": "one", "t": 1.5e15 + i}})
        events, answers = [], 0
        while len(events) < 100 or answers < 100:
            message = hear(one, "complete")
            assert message["type"] == result and "errors" not in message["payload"]
            if message["id"] == "s":
                events.append(message["payload"]["data"]["message"]["sentUs"])
            else:
                answers += 1
        assert events == [1.5e15 + i for i in range(100)]
        with pytest.raises(TimeoutError):
            other.recv(0.1)


def test_a_document_with_mistakes_is_refused_each_time_and_one_without_takes_new_variables(server):
    ask = "query ($yes: Boolean!) { time @include(if: $yes) }"
    with client(server, MODERN) as connection:
        opened(connection)
        asked = [("{ tim }", None), (ask, True), ("{ tim }", None), (ask, False), (ask, "perhaps")]
        for number, (query, yes) in enumerate(asked):
            say(connection, type="subscribe", id=str(number), payload={"query": query, "variables": {"yes": yes}})
        answers = {}
        while len(answers) < 5:
            message = hear(connection, "complete")
            answers[message["id"]] = message
    assert [answers[i]["payload"][0]["message"][:30] for i in "02"] == ['Cannot query field "tim" on ty'] * 2
    assert list(answers["1"]["payload"]["data"]) == ["time"]
    assert answers["3"]["payload"] == {"data": {}}
    assert "perhaps" in str(answers["4"])


@pytest.mark.parametrize("protocol", [MODERN, LEGACY])
def test_a_broadcast_reaches_every_subscriber_with_its_number_times_and_length(server, protocol):
    start, _, stop = WORDS[protocol]
    with client(server, protocol) as sender, client(server, protocol) as listener:
        for connection in (sender, listener):
            opened(connection)
            say(connection, type=start, id="b",
                payload={"query": "subscription { broadcast { seq batchUs sentUs pad } }"})
        say(listener, type=start, id="t", payload={"query": "{ time }"})
        begun_us = hear(listener)["payload"]["data"]["time"]  # so its subscription has begun
        hear(listener)
        say(sender, type=start, id="m", payload={"query": "mutation { broadcast(bytes: 50) }"})
        copies = [hear(connection, "complete") for connection in (sender, listener)]
        if copies[0]["id"] == "m":
            copies[0] = hear(sender, "complete")
        one, two = (copy["payload"]["data"]["broadcast"] for copy in copies)
        assert one["seq"] == two["seq"] >= 1 and one["batchUs"] == two["batchUs"]
        for copy in (one, two):
            assert begun_us <= copy["batchUs"] <= copy["sentUs"] and len(copy["pad"]) == 50
        say(listener, type=stop, id="b")


def test_who_offers_both_gets_the_modern_protocol_and_who_offers_none_is_closed_with_4406(server):
    with client(server, LEGACY, MODERN) as both:
        assert both.subprotocol == MODERN
    with client(server) as neither, pytest.raises(ConnectionClosed) as closed:
        neither.recv(10)
    assert closed.value.rcvd.code == 4406


def test_stats_count_connections_and_messages_of_both_protocols(server):
    before = eventually(lambda: (s := server.stats())["connections"] == 0 and s)
    with client(server, MODERN) as modern, client(server, LEGACY) as legacy:
        for connection in (modern, legacy):
            opened(connection)
        during = server.stats()
    assert during["connections"] == 2
    assert during["messages_in"] - before["messages_in"] == 2
    assert during["messages_out"] - before["messages_out"] == 2
    assert (during["runtime"], set(during["gc"])) == ("Node.js, graphql-ws", {"minor", "major"})
    assert eventually(lambda: server.stats()["connections"] == 0)
