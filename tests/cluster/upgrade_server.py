"""A server that keeps what it is asked: the heads of all upgrade requests."""

import base64
import contextlib
import hashlib
import re
import socket
import threading


class UpgradeServer:
    """Answers each upgrade with 101, choosing `protocol`, and each close frame with `goodbye`."""

    def __init__(self, protocol=None, goodbye=lambda: b"\x88\x02\x03\xe8"):
        self.protocol = protocol
        self.goodbye = goodbye
        self.heads = []
        self.listener = socket.create_server(("127.0.0.1", 0), backlog=1024)
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            try:
                connection, _ = self.listener.accept()
            except OSError:
                return
            threading.Thread(target=self.serve, args=(connection,), daemon=True).start()

    def serve(self, connection):
        with connection, contextlib.suppress(ConnectionResetError):
            head = connection.recv(65536).decode()  # a request is one segment
            self.heads.append(head)
            key = re.search(r"Sec-WebSocket-Key: (\S+)", head)[1]
            accept = base64.b64encode(hashlib.sha1((key + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11").encode()).digest())
            chosen = f"Sec-WebSocket-Protocol: {self.protocol}\r\n" if self.protocol else ""
            connection.sendall(("HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                                f"Sec-WebSocket-Accept: {accept.decode()}\r\n{chosen}\r\n").encode())
            if connection.recv(4096):
                connection.sendall(self.goodbye())

    def fields(self):
        """The headers of each request, by name."""
        return [dict(line.split(": ", 1) for line in head.split("\r\n")[1:-2]) for head in self.heads]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.listener.close()
