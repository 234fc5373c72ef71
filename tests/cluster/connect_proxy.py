"""A real HTTP proxy for tunnels (RFC 9110 section 9.3.6), one thread a direction, with counts.

    with ConnectProxy(user="q", password="secret") as proxy:
        ...                       # connection: {proxy: "http://q:secret@127.0.0.1:{proxy.port}"}
"""

import base64
import socket
import threading

from threaded_server import ThreadedServer

NAMES = {"target.test": "127.0.0.1"}  # what only the proxy can look up


class ConnectProxy(ThreadedServer):
    GREETING = b"HTTP/1.1 200 Connection established\r\nVia: 1.1 test\r\n\r\n"

    def __init__(self, user=None, password=None, greeting=GREETING):
        super().__init__()
        self.wanted = user and "Basic " + base64.b64encode(f"{user}:{password}".encode()).decode()
        self.greeting = greeting
        self.asked = []  # "host:port" of each request
        self.refused = 0

    def _serve(self, client):
        with client:
            client.settimeout(10)
            head = b""
            while not head.endswith(b"\r\n\r\n"):
                received = client.recv(65536)
                if not received:
                    return
                head += received
            lines = head.decode().split("\r\n")
            method, authority, version = lines[0].split(" ")
            fields = dict(line.split(": ", 1) for line in lines[1:] if line)
            assert (method, version, fields["Host"]) == ("CONNECT", "HTTP/1.1", authority)
            if fields.get("Proxy-Authorization") != self.wanted:
                self.refused += 1
                # It closes as soon as it has read this.
                client.sendall(b"HTTP/1.1 407 Proxy Authentication Required\r\n"
                               b"Proxy-Authenticate: Basic realm=\"x\"\r\nContent-Length: 9\r\n\r\nwho's it?")
                return
            self.asked.append(authority)
            host, port = authority.rsplit(":", 1)
            try:
                target = socket.create_connection((NAMES.get(host, host.strip("[]")), int(port)), 5)
            except OSError:
                client.sendall(b"HTTP/1.0 502 Bad Gateway\r\n\r\n")
                return
            with target:
                client.sendall(self.greeting)
                back = threading.Thread(target=self._pump, args=(target, client))
                back.start()
                self._pump(client, target)
                back.join()

    def _pump(self, source, sink):
        try:
            while data := source.recv(65536):
                sink.sendall(data)
        except OSError:
            pass
        for sock in (source, sink):
            try:
                sock.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass
