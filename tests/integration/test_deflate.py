# ctest: timeout=120 asan
"""permessage-deflate between `onrush run` and servers that are not ours: every message comes back whole, both ends
count the same, and the wire carries less than the messages."""

import contextlib
import threading

import pytest
from onrush_cluster import run_embedded, write_plan
from onrush_testing import start_target
from websockets.exceptions import ConnectionClosed
from websockets.extensions.permessage_deflate import ServerPerMessageDeflateFactory
from websockets.sync.server import serve

SESSIONS = 20
WORDS = "the same words again and again, "
# 2 * 5 short ones, an empty one after each, one that is longer than a read, and bytes that cannot be compressed.
MESSAGES = 2 * 5 + 5 + 1 + 1
PLAN = """
name: compressed
target: ws://127.0.0.1:{port}/echo
connection: {{deflate: {offer}}}
scenarios:
  talker:
    script:
      - connect
      - repeat:
          times: 5
          do:
            - request: {{text: "${{user}} ${{sequence}} {words}", reply: {{text: "${{user}} ${{sequence}} {words}"}}}}
            - request: {{text: "", reply: {{text: ""}}}}
            - request:
                text: '{{"id": "${{user}}-${{sequence}}"}}'
                reply: {{json: {{/id: "${{user}}-${{sequence}}"}}}}
      - request: {{text: "{long}", reply: {{text: "{long}"}}}}
      - request: {{bytes: 5000}}
      - close
stages:
  - {{name: come, arrivals: 40/s, for: 500ms}}
  - {{name: finish, arrivals: 0/s, for: 2s}}
thresholds:
  - failed_connections == 0
  - lost_connections == 0
  - failed_requests == 0
"""
LONG = WORDS * 4000
OFFERS = {
    "browser": "true",
    "windows": "{client_max_window_bits: 10, server_max_window_bits: 9}",
    "no contexts": "{client_no_context_takeover: true, server_no_context_takeover: true}",
    "smallest window": "{client_max_window_bits: 8, server_max_window_bits: 9}",
}


def run_against(port, offer, folder):
    plan = write_plan(folder, PLAN.format(port=port, offer=offer, words=WORDS, long=LONG))
    process, found = run_embedded(folder, plan)
    assert process.process.returncode == 0, process.said() + process.printed()
    counts = found["counts"]
    assert counts["opened"] == SESSIONS
    assert counts["messages_sent"] == counts["messages_received"] == counts["requests"] == SESSIONS * MESSAGES
    assert counts["payload_bytes_sent"] == counts["payload_bytes_received"] > SESSIONS * len(LONG)
    return counts


def assert_compressed(counts, offer):
    assert counts["bytes_received"] < 0.2 * counts["payload_bytes_received"]
    if offer != "smallest window":  # of which zlib has none, so that messages go as they are
        assert counts["bytes_sent"] < 0.2 * counts["payload_bytes_sent"]


@pytest.mark.parametrize("offer", OFFERS)
@pytest.mark.parametrize("name", ["beast", "ws-node"])
def test_targets(name, offer, tmp_path):
    with start_target(name, "--deflate") as target:
        counts = run_against(target.port, OFFERS[offer], tmp_path)
        assert_compressed(counts, offer)
        seen = target.stats()
        assert (seen["messages_in"], seen["messages_out"]) == (counts["messages_sent"], counts["messages_received"])


def test_a_server_that_declines_gets_plain_messages(tmp_path):
    with start_target("beast") as target:
        counts = run_against(target.port, "true", tmp_path)
        assert counts["bytes_sent"] > counts["payload_bytes_sent"]
        assert counts["bytes_received"] > counts["payload_bytes_received"]


@contextlib.contextmanager
def websockets_server(**options):
    """PyPI's websockets, which echoes; gives its port and what was agreed on, a line a connection."""
    agreed = []

    def echo(connection):
        agreed.append([repr(extension) for extension in connection.protocol.extensions])
        with contextlib.suppress(ConnectionClosed):
            for message in connection:
                connection.send(message)

    with serve(echo, "127.0.0.1", 0, max_size=None, ping_interval=None, **options) as listening:
        thread = threading.Thread(target=listening.serve_forever)
        thread.start()
        try:
            yield listening.socket.getsockname()[1], agreed
        finally:
            listening.shutdown()
            thread.join()


@pytest.mark.parametrize("offer", OFFERS)
def test_python_websockets(offer, tmp_path):
    with websockets_server() as (port, agreed):
        assert_compressed(run_against(port, OFFERS[offer], tmp_path), offer)
    assert len(agreed) == SESSIONS
    assert all(len(extensions) == 1 and "PerMessageDeflate" in extensions[0] for extensions in agreed)


# What the server asks for unasked, or sets within what was offered.
@pytest.mark.parametrize("asks", [
    {"server_no_context_takeover": True, "client_no_context_takeover": True},
    {"server_max_window_bits": 9, "client_max_window_bits": 9},
    {"client_max_window_bits": 8},
])
def test_python_websockets_sets_the_terms(asks, tmp_path):
    with websockets_server(extensions=[ServerPerMessageDeflateFactory(**asks)]) as (port, agreed):
        counts = run_against(port, "true", tmp_path)
    assert counts["bytes_received"] < 0.2 * counts["payload_bytes_received"]
    assert (counts["bytes_sent"] > counts["payload_bytes_sent"]) == (asks == {"client_max_window_bits": 8})
    assert len(agreed) == SESSIONS


def test_websockets_that_decline_get_plain_messages(tmp_path):
    with websockets_server(compression=None) as (port, _):
        counts = run_against(port, OFFERS["no contexts"], tmp_path)
        assert counts["bytes_received"] > counts["payload_bytes_received"]
