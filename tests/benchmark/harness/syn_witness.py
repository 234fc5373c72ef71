"""When each connection was begun, by the kernel's own stamp on its SYN: a witness that neither client nor server knows.

Owner: one figure; a thread of its own drains the socket. Always: one stamp a SYN,
taken as loopback hands it from sender to receiver, in the sender's own call of connect.
"""

import ctypes
import socket
import struct
import threading

SO_TIMESTAMPNS, SO_ATTACH_FILTER, SO_RCVBUFFORCE = 35, 26, 33
ETH_P_IP, PACKET_STATISTICS, SOL_PACKET = 0x0800, 6, 263
TIMESPEC = struct.Struct("qq")


def _filter(port):
    """Classic BPF over an IPv4 header: TCP, SYN without ACK, to this port."""
    program = [
        (0x30, 0, 0, 9), (0x15, 0, 7, 6),         # protocol TCP
        (0xB1, 0, 0, 0),                          # X = length of the IP header
        (0x50, 0, 0, 13), (0x54, 0, 0, 0x12), (0x15, 0, 3, 0x02),
        (0x48, 0, 0, 2), (0x15, 0, 1, port),
        (0x06, 0, 0, 1), (0x06, 0, 0, 0),         # a byte of it is enough; nothing
    ]
    return b"".join(struct.pack("HBBI", *line) for line in program), len(program)


class SynWitness:
    def __init__(self, port):
        self.stamps_ns, self.lost, self._ended = [], 0, threading.Event()
        self._socket = socket.socket(socket.AF_PACKET, socket.SOCK_DGRAM, socket.htons(ETH_P_IP))
        code, lines = _filter(port)
        self._code = ctypes.create_string_buffer(code)
        self._socket.setsockopt(socket.SOL_SOCKET, SO_ATTACH_FILTER,
                                struct.pack("HL", lines, ctypes.addressof(self._code)))
        self._socket.setsockopt(socket.SOL_SOCKET, SO_TIMESTAMPNS, 1)
        try:
            self._socket.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, 32 << 20)
        except PermissionError:  # root of a user namespace only: what is lost is told
            self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 32 << 20)
        self._socket.bind(("lo", ETH_P_IP))
        self._socket.settimeout(0.2)
        self._thread = threading.Thread(target=self._drain)

    def _drain(self):
        while True:
            try:
                for level, kind, data in self._socket.recvmsg(1, 64)[1]:
                    if (level, kind) == (socket.SOL_SOCKET, SO_TIMESTAMPNS):
                        seconds, nanoseconds = TIMESPEC.unpack(data)
                        self.stamps_ns.append(seconds * 1_000_000_000 + nanoseconds)
            except TimeoutError:
                if self._ended.is_set():
                    return

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *_):
        self._ended.set()
        self._thread.join()
        self.lost = struct.unpack("II", self._socket.getsockopt(SOL_PACKET, PACKET_STATISTICS, 8))[1]
        self._socket.close()
