"""A listening socket whose every connection is served by a thread of its own, until the `with` block ends."""

import socket
import threading


class ThreadedServer:
    """Subclasses say in `_serve(sock)` what becomes of a connection; it ends by itself, or soon after `_over` is
    set."""

    def __init__(self, address="127.0.0.1", port=0):
        family = socket.AF_INET6 if ":" in address else socket.AF_INET
        self.listener = socket.create_server((address, port), family=family, backlog=1024)
        self.listener.settimeout(0.05)
        self.port = self.listener.getsockname()[1]
        self._over = threading.Event()
        self._threads = [threading.Thread(target=self._accept)]

    def __enter__(self):
        self._threads[0].start()
        return self

    def __exit__(self, *_):
        self._over.set()
        for thread in self._threads:
            thread.join()
        self.listener.close()

    def _accept(self):
        while not self._over.is_set():
            try:
                sock, _ = self.listener.accept()
            except TimeoutError:
                continue
            self._threads.append(threading.Thread(target=self._serve, args=(sock,)))
            self._threads[-1].start()
