"""Locust with websocket-client: WORK=open connects and waits, WORK=echo keeps one message in flight."""

import os
import time

import gevent
import websocket
from locust import User, task

PAYLOAD = b"x" * 32


class Visitor(User):
    def on_start(self):
        self.socket = websocket.create_connection(os.environ["TARGET"])

    def timed(self, name, work):
        """As Locust's documentation has it for a protocol of one's own."""
        begun, error = time.perf_counter(), None
        try:
            work()
        except Exception as raised:
            error = raised
        self.environment.events.request.fire(
            request_type="WS", name=name, response_time=(time.perf_counter() - begun) * 1000,
            response_length=len(PAYLOAD), exception=error, context={})

    def round_trip(self):
        self.socket.send_binary(PAYLOAD)
        self.socket.recv()

    @task
    def work(self):
        if os.environ["WORK"] == "open":
            gevent.sleep(3600)
        else:
            self.timed("echo", self.round_trip)
