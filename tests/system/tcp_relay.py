"""A man in the middle of TCP connections: it keeps what the near side says, and can add to it."""

import contextlib
import socket
import threading


class TcpRelay:
    """Stands between clients and one port of this host. `port` is where it listens."""

    def __init__(self, port):
        self.target = port
        self.streams = []  # what the near side of each connection has said
        self.pairs = []  # (near, far) socket of each connection
        self.is_hung_up = threading.Event()  # the far side has ended a connection
        self.swallows = False  # what is said by either side is lost
        self.swallowed = threading.Event()
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            try:
                near, _ = self.listener.accept()
            except OSError:
                return
            far = socket.create_connection(("127.0.0.1", self.target))
            self.pairs.append((near, far))
            stream = bytearray()
            self.streams.append(stream)
            for pump in (self.pump_there, self.pump_back):
                threading.Thread(target=pump, args=(near, far, stream), daemon=True).start()

    def pump_there(self, near, far, stream):
        try:
            while data := near.recv(65536):
                stream += data
                self.say(far, data)
            far.shutdown(socket.SHUT_WR)
        except OSError:
            pass  # one of the two has hung up

    def pump_back(self, near, far, _stream):
        try:
            while data := far.recv(65536):
                self.say(near, data)
        except OSError:
            pass  # a reset ends the connection as well
        self.is_hung_up.set()
        with contextlib.suppress(OSError):  # it has ended already
            near.shutdown(socket.SHUT_RDWR)

    def say(self, to, data):
        if self.swallows:
            self.swallowed.set()
        else:
            to.sendall(data)

    def break_connections(self):
        """Ends those that stand; new ones go through, and nothing is swallowed any more."""
        self.swallows = False
        for end in (end for pair in self.pairs for end in pair):
            with contextlib.suppress(OSError):  # it has ended already
                end.shutdown(socket.SHUT_RDWR)
        self.pairs.clear()

    def inject(self, data):
        """Says `data` to the far side of the first connection, as if the near side had said it."""
        self.pairs[0][1].sendall(data)

    def close(self):
        for each in [self.listener, *(end for pair in self.pairs for end in pair)]:
            each.close()
