"""A WebSocket server that can be told to misbehave, one epoll loop in a thread of the test, with exact counts.

    with RoughServer() as server:
        ...                       # clients connect to ws://127.0.0.1:{server.port}/
        server.end_all(reset=True)

What a text message asks for: `flood` (as many small messages on this connection as it takes, until `calm` comes),
`deaf N` (nothing more is read from it for N seconds), `pings N` (deaf, and it gets as many pings as it takes). Any
other message of less than 1000 bytes comes back.
"""

import base64
import hashlib
import select
import socket
import struct
import threading
import time

GUID = b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
FLOOD = (b"\x82\x08" + b"flooding") * 6553  # 64 KiB of messages of 8 bytes
PINGS = b"\x89\x04ping" * 10_000
RESET = struct.pack("ii", 1, 0)


def frame(opcode, payload):
    assert len(payload) < 65536
    head = bytes([0x80 | opcode, len(payload)]) if len(payload) < 126 else struct.pack("!BBH", 0x80 | opcode, 126,
                                                                                       len(payload))
    return head + payload


class Peer:
    def __init__(self, sock):
        self.socket = sock
        self.path = None  # until the handshake is done
        self.inbox = bytearray()
        self.outbox = bytearray()
        self.flood = None  # what is sent again and again
        self.deaf_until = 0.0
        self.messages = 0


class RoughServer:
    def __init__(self, backlog=4096, accepts_per_s=None, receive_bytes=None):
        self.listener = socket.socket()
        self.listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if receive_bytes:  # inherited by what is accepted
            self.listener.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_bytes)
        self.listener.bind(("127.0.0.1", 0))
        self.listener.listen(backlog)
        self.listener.setblocking(False)
        self.port = self.listener.getsockname()[1]
        self.accepts_per_s = accepts_per_s
        self.accepted = self.opened = self.ended = 0
        self.messages_in = self.messages_out = self.pings_out = self.pongs_in = 0
        self.closes_at_once = False  # with 1008, behind the 101
        self.reset_after = None  # messages of a connection after which it is reset
        self._peers = {}
        self._orders = []
        self._lock = threading.Lock()
        self._over = False
        self._poll = select.epoll()
        self._poll.register(self.listener, select.EPOLLIN if accepts_per_s is None else 0)
        self._thread = threading.Thread(target=self._run, daemon=True)

    @property
    def open(self):
        return len(self._peers)

    def end_all(self, reset=False, close_frame=False):
        """Ends every connection at once; returns when it is done."""
        done = threading.Event()
        with self._lock:
            self._orders.append((reset, close_frame, done))
        assert done.wait(30)

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *_):
        self._over = True
        self._thread.join()
        for peer in self._peers.values():
            peer.socket.close()
        self.listener.close()
        self._poll.close()

    def _run(self):
        next_accept = time.monotonic()
        while not self._over:
            for descriptor, events in self._poll.poll(0.01, 4096):
                if descriptor == self.listener.fileno():
                    self._accept(1000)
                elif descriptor in self._peers:
                    self._serve(self._peers[descriptor], events)
            now = time.monotonic()
            while self.accepts_per_s and next_accept <= now:
                self._accept(1)
                next_accept += 1 / self.accepts_per_s
            for peer in [p for p in self._peers.values() if p.deaf_until and p.deaf_until <= now]:
                peer.deaf_until, peer.flood = 0.0, None
                self._go_on(peer)
            with self._lock:
                orders, self._orders = self._orders, []
            for reset, close_frame, done in orders:
                for peer in list(self._peers.values()):
                    if close_frame:
                        peer.socket.send(frame(8, struct.pack("!H", 1001)))
                    self._end(peer, reset)
                done.set()

    def _accept(self, count):
        for _ in range(count):
            try:
                sock, _ = self.listener.accept()
            except BlockingIOError:
                return
            self.accepted += 1
            sock.setblocking(False)
            self._peers[sock.fileno()] = Peer(sock)
            self._poll.register(sock, select.EPOLLIN)

    def _watch(self, peer):
        wanted = 0 if peer.deaf_until else select.EPOLLIN
        if peer.outbox or peer.flood:
            wanted |= select.EPOLLOUT
        self._poll.modify(peer.socket, wanted)

    def _end(self, peer, reset=False):
        del self._peers[peer.socket.fileno()]
        self.ended += peer.path is not None
        if reset:
            peer.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET)
        peer.socket.close()

    def _serve(self, peer, events):
        try:
            if events & select.EPOLLIN and not peer.deaf_until:
                received = peer.socket.recv(1 << 18)
                if not received:
                    return self._end(peer)
                peer.inbox += received
            elif events & (select.EPOLLHUP | select.EPOLLERR):
                return self._end(peer)
            self._go_on(peer)
        except (ConnectionError, TimeoutError):
            self._end(peer)

    def _go_on(self, peer):
        if self._take_apart(peer):
            self._send(peer)

    def _send(self, peer):
        try:
            if peer.outbox:
                del peer.outbox[:peer.socket.send(peer.outbox)]
            if peer.flood and not peer.outbox:
                peer.outbox += peer.flood  # whole messages, so that they can be counted
                self.messages_out += len(FLOOD) // 10 if peer.flood is FLOOD else 0
                self.pings_out += len(PINGS) // 6 if peer.flood is PINGS else 0
        except BlockingIOError:
            pass
        self._watch(peer)

    def _take_apart(self, peer):
        """False if the connection has ended over it."""
        if peer.path is None:
            head, end, rest = bytes(peer.inbox).partition(b"\r\n\r\n")
            if not end:
                return True
            peer.path = head.split(b" ")[1].decode()
            [key] = [line[18:].strip() for line in head.split(b"\r\n")
                     if line.lower().startswith(b"sec-websocket-key:")]
            accept = base64.b64encode(hashlib.sha1(key + GUID).digest())
            peer.outbox += (b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                            b"Sec-WebSocket-Accept: " + accept + b"\r\n\r\n")
            peer.inbox = bytearray(rest)
            self.opened += 1
            if self.closes_at_once:
                peer.outbox += frame(8, struct.pack("!H", 1008))
        while not peer.deaf_until and len(peer.inbox) >= 6:
            opcode, length, head = peer.inbox[0] & 15, peer.inbox[1] & 127, 2
            if length == 126:
                if len(peer.inbox) < 8:
                    return True
                length, head = struct.unpack_from("!H", peer.inbox, 2)[0], 4
            assert length < 127 or head == 4, "no client here sends more"
            if len(peer.inbox) < head + 4 + length:
                return True
            mask = peer.inbox[head:head + 4]
            payload = bytes(peer.inbox[head + 4:head + 4 + length])
            del peer.inbox[:head + 4 + length]
            if length < 1000:  # what is longer is only counted
                payload = bytes(byte ^ mask[i % 4] for i, byte in enumerate(payload))
            if not self._message(peer, opcode, payload):
                return False
        return True

    def _message(self, peer, opcode, payload):
        if opcode == 8:
            try:
                peer.socket.send(frame(8, payload[:2]))
            except BlockingIOError:
                pass
            self._end(peer)
            return False
        self.pongs_in += opcode == 10
        if opcode not in (1, 2):
            return True
        self.messages_in += 1
        peer.messages += 1
        if self.reset_after == peer.messages:
            self._end(peer, reset=True)
            return False
        if payload == b"flood":
            peer.flood = FLOOD
        elif payload == b"calm":
            peer.flood = None
        elif payload.startswith((b"deaf ", b"pings ")):
            word, seconds = payload.split()
            peer.flood = PINGS if word == b"pings" else None
            peer.deaf_until = time.monotonic() + float(seconds)
        elif len(payload) < 1000:
            self.messages_out += 1
            peer.outbox += frame(opcode, payload)
        return True
