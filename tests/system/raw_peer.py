"""A peer that speaks on the wire by hand, and badly if asked to."""

import hashlib
import hmac
import json
import socket
import uuid
from datetime import datetime, timezone

import zmq

DELIMITER = b"<IDS|MSG>"
BUNDLE = b"<PX|BUNDLE>"


def bundled(frames):
    """The short ones at the beginning of a message as one frame (docs/protocol.md, "Bundles")."""
    count = next((i for i, frame in enumerate(frames) if len(frame) > 8192), len(frames))
    short = b"".join(len(frame).to_bytes(4, "little") + frame for frame in frames[:count])
    return [BUNDLE + short, *frames[count:]]


def opened(frames):
    """A message that came as a bundle, as it was."""
    left = frames[0].removeprefix(BUNDLE)
    short = []
    while left:
        end = 4 + int.from_bytes(left[:4], "little")
        short.append(left[4:end])
        left = left[end:]
    return short + frames[1:]


class RawPeer:
    """ZeroMQ and TCP connections to the ports of one controller, signed with any key."""

    def __init__(self, connection, key=None):
        self.connection = connection
        self.key = (connection["key"] if key is None else key).encode()
        self.session = uuid.uuid4().hex
        self.context = zmq.Context()
        self.count = 0

    def close(self):
        self.context.destroy(linger=0)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def address(self, channel, interface=None):
        port = self.connection[channel]
        port = port[0] if isinstance(port, list) else port
        return f"{interface or self.connection['interface']}:{port}"

    def socket(self, kind):
        """A socket that has the keys of encryption that the connection asks for."""
        made = self.context.socket(kind)
        made.linger = 0
        server_key = self.connection.get("curve_serverkey")
        if server_key:
            made.curve_publickey, made.curve_secretkey = zmq.curve_keypair()
            made.curve_serverkey = server_key.encode()
        return made

    def dealer(self, channel, identity=None):
        connected = self.socket(zmq.DEALER)
        if identity:
            connected.identity = identity
        connected.connect(self.address(channel))
        return connected

    def header(self, kind):
        self.count += 1
        return {
            "msg_id": f"{self.session}_{self.count}",
            "msg_type": kind,
            "username": "tester",
            "session": self.session,
            "date": datetime.now(timezone.utc).isoformat().replace("+00:00", "Z"),
            "version": "5.4",
        }

    def sign(self, parts):
        digest = hmac.new(self.key, digestmod=hashlib.sha256)
        for part in parts:
            digest.update(part)
        return digest.hexdigest().encode()

    def message(self, kind, content=None, metadata=None, buffers=(), signature=None, header=None):
        """All frames of a message, from the delimiter on."""
        parts = [
            json.dumps(part).encode()
            for part in (header or self.header(kind), {}, metadata or {}, content or {})
        ]
        return [DELIMITER, signature or self.sign(parts), *parts, *buffers]

    def ask(self, kind, content=None, timeout=10.0):
        """The content of the hub's reply, or None where there is none in time."""
        dealer = self.dealer("registration")
        try:
            dealer.send_multipart(self.message(kind, content))
            if not dealer.poll(int(timeout * 1000)):
                return None
            frames = dealer.recv_multipart()
            return json.loads(frames[frames.index(DELIMITER) + 5])
        finally:
            dealer.close()

    def send_bytes(self, channel, data):
        """Writes `data` to the TCP port itself, without ZeroMQ."""
        tcp = self.connection.get("tcp", self.connection)["interface"]
        host, port = self.address(channel, tcp).removeprefix("tcp://").rsplit(":", 1)
        with socket.create_connection((host, int(port)), timeout=10) as connected:
            try:
                connected.sendall(data)
            except OSError:
                pass  # refusing to read on is a fine answer


def channels(connection):
    """The names of all ports of a connection file."""
    return [name for name, value in connection.items() if isinstance(value, (int, list))]
