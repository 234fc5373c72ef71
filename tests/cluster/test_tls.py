# ctest: timeout=120 asan
"""wss:// from the command to the last line: certificates that the plan names, two independent servers, and the runs of
which the reader must be warned."""

import subprocess

import pytest

from connect_proxy import ConnectProxy
from onrush_cluster import assert_accounts_balance, failures, run_embedded, write_plan
from onrush_testing import start_target

PLAN = """
name: secure
target: wss://127.0.0.1:{port}/echo
connection: {{tls: {tls}}}
scenarios:
  talker:
    script:
      - connect
      - repeat:
          times: 3
          do: [request: {{text: "${{user}} ${{sequence}}", reply: {{text: "${{user}} ${{sequence}}"}}}}]
      - close
      - connect
      - request: {{bytes: 100_000}}
      - listen: {{}}
stages:
  - {{name: up, users: 20, rate: 200/s, for: 1s}}
  - {{name: down, users: 0, rate: 200/s}}
thresholds:
  - tls_time p99 < 5s
"""


def openssl(folder, *words):
    subprocess.run(["openssl", *words], cwd=folder, check=True, capture_output=True, timeout=30)


@pytest.fixture(scope="module")
def certificates(tmp_path_factory):
    """ca.pem, and signed by it server.pem with server.key and client.pem with client.key."""
    folder = tmp_path_factory.mktemp("certificates")
    key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"]
    openssl(folder, "req", "-x509", *key, "-keyout", "ca.key", "-out", "ca.pem", "-subj", "/CN=ca", "-days", "2")
    for name in ("server", "client"):
        openssl(folder, "req", *key, "-keyout", f"{name}.key", "-out", f"{name}.csr", "-subj", f"/CN={name}")
        (folder / "extensions").write_text("subjectAltName = IP:127.0.0.1\n")
        openssl(folder, "x509", "-req", "-in", f"{name}.csr", "-CA", "ca.pem", "-CAkey", "ca.key",
                "-out", f"{name}.pem", "-days", "1", "-extfile", "extensions")
    return folder


def start_secure(name, certificates, *options):
    files = [certificates / "server.pem", certificates / "server.key"]
    words = ["--tls", *files] if name == "beast" else ["--tls-cert", files[0], "--tls-key", files[1]]
    return start_target(name, *(str(word) for word in [*words, *options]))


def run(folder, certificates, port, tls):
    """The plan lies beside the certificates, for it names them without a folder."""
    plan = write_plan(certificates, PLAN.format(port=port, tls=tls), f"{folder.name}.yaml")
    return run_embedded(folder, plan, "--agents", 2)


@pytest.mark.parametrize("name", ["beast", "ws-node"])
def test_users_talk_over_tls_with_a_server_that_the_plans_ca_has_signed(tmp_path, certificates, name):
    with start_secure(name, certificates) as target:
        process, found = run(tmp_path, certificates, target.port, "{ca: ca.pem, resume: true}")
    assert process.process.returncode == 0, process.said() + process.printed()
    assert_accounts_balance(found)
    assert found["counts"]["opened"] == 40
    assert found["counts"]["lost"] == found["counts"]["failed"] == 0, found["failures"]
    assert found["counts"]["requests"] == 80
    assert found["times"]["tls_time"]["count"] == 40
    assert found["times"]["tls_resumed_time"]["count"] == 20  # each user's second connection
    assert not [warning for warning in found["warnings"] if "certificate" in warning], found["warnings"]
    assert "not verified" not in process.printed()


@pytest.mark.parametrize("name", ["beast", "ws-node"])
def test_a_server_that_asks_for_a_certificate_gets_the_plans(tmp_path, certificates, name):
    with start_secure(name, certificates, "--client-ca", certificates / "ca.pem") as target:
        process, found = run(tmp_path, certificates, target.port,
                             "{ca: ca.pem, certificate: client.pem, key: client.key}")
        assert process.process.returncode == 0, process.said() + process.printed()
        assert found["counts"]["opened"] == 40
        (tmp_path / "without").mkdir()
        process, found = run(tmp_path / "without", certificates, target.port, "{ca: ca.pem}")
    assert process.process.returncode == 99
    assert found["counts"]["opened"] == 0
    assert {kind for _, kind, _ in failures(found)} == {"tls_alert"}, found["failures"]


def identify(certificates, count):
    """A feed of so many devices, each with a certificate of its own that the CA has signed."""
    for i in range(1, count + 1):
        openssl(certificates, "req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
                "-keyout", f"device-{i}.key", "-out", "device.csr", "-subj", f"/CN=device-{i}")
        openssl(certificates, "x509", "-req", "-in", "device.csr", "-CA", "ca.pem", "-CAkey", "ca.key",
                "-out", f"device-{i}.pem", "-days", "1")
    (certificates / "devices.csv").write_text("name\n" + "".join(f"device-{i}\n" for i in range(1, count + 1)))
    return 'certificate: "${data.devices.name}.pem", key: "${data.devices.name}.key"'


def test_each_user_shows_the_certificate_of_its_row_on_whichever_agent(tmp_path, certificates):
    identity = identify(certificates, 20)

    def start(folder, port):
        folder.mkdir()
        text = PLAN.format(port=port, tls="{ca: ca.pem, resume: true, %s}" % identity)
        text = text.replace("connection:", "data: {devices: {csv: devices.csv, take: once}}\nconnection:")
        return run_embedded(folder, write_plan(certificates, text, f"{folder.name}.yaml"), "--agents", 2)

    with start_secure("beast", certificates, "--client-ca", certificates / "ca.pem") as target:
        process, found = start(tmp_path / "devices", target.port)
        assert process.process.returncode == 0, process.said() + process.printed()
        assert_accounts_balance(found)
        assert found["counts"]["opened"] == 40 and found["counts"]["failed"] == 0, found["failures"]
        assert found["times"]["tls_resumed_time"]["count"] == 20
        # The last is nobody's that the server knows.
        openssl(certificates, "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
                "-keyout", "device-20.key", "-out", "device-20.pem", "-subj", "/CN=stranger", "-days", "1")
        process, found = start(tmp_path / "stranger", target.port)
    assert found["counts"]["failed"] == 1
    assert {kind for _, kind, _ in failures(found)} == {"tls_alert"}, found["failures"]
    (certificates / "device-7.pem").write_text("not a certificate")
    process, _ = start(tmp_path / "bad", 1)
    assert process.process.returncode == 2
    assert "row 7 of 'devices.csv', line 8: 'device-7.pem' holds no certificate" in process.said() + process.printed()


def test_a_run_that_verified_nothing_says_so_to_its_last_line(tmp_path, certificates):
    with start_secure("beast", certificates) as target:
        process, found = run(tmp_path, certificates, target.port, "{verify: false}")
    assert process.process.returncode == 0
    assert found["counts"]["opened"] == 40
    assert [warning for warning in found["warnings"] if "no certificate was verified" in warning], found["warnings"]
    assert "certificates not verified" in process.printed().strip().splitlines()[-1]


def test_a_server_that_nobody_has_signed_for_is_not_talked_to(tmp_path, certificates):
    with start_secure("beast", certificates) as target:
        process, found = run(tmp_path, certificates, target.port, "{}")
    assert process.process.returncode == 99
    assert failures(found) == {("tls", "incomplete_chain", 20): 20}
    assert "name its CA in connection.tls.ca" in process.printed()


def test_ciphers_that_nobody_knows_are_refused_before_the_first_connection(tmp_path, certificates):
    process, _ = run(tmp_path, certificates, 1, "{ciphers: NO-SUCH-SUITE}")
    assert process.process.returncode == 2, process.said() + process.printed()
    assert "names 'NO-SUCH-SUITE', which OpenSSL does not know" in process.said()


def test_wss_goes_through_the_tunnel_of_a_proxy(certificates, tmp_path):
    with start_secure("beast", certificates) as target, ConnectProxy() as proxy:
        text = PLAN.format(port=target.port, tls="{ca: ca.pem}")
        text = text.replace("connection: {tls", f'connection: {{proxy: "http://127.0.0.1:{proxy.port}", tls')
        process, found = run_embedded(tmp_path, write_plan(certificates, text, "proxied.yaml"), "--agents", 2)
        assert process.process.returncode == 0, process.said() + str(found)
        assert_accounts_balance(found)
        assert found["counts"]["opened"] == 40 and found["times"]["tls_time"]["count"] == 40
        assert proxy.asked == [f"127.0.0.1:{target.port}"] * 40
