"""A scripted client of the Debug Adapter Protocol."""

import json
import socket


class DapClient:
    """Sends requests, and keeps the events that arrive meanwhile."""

    def __init__(self, port, patience=100):
        self._socket = socket.create_connection(("127.0.0.1", port), timeout=patience)
        self._file = self._socket.makefile("rb")
        self._seq = 0
        self.events = []
        self._responses = {}

    def close(self):
        self._file.close()
        self._socket.close()

    def send(self, command, **arguments):
        """Sends a request; its number."""
        self._seq += 1
        message = {"seq": self._seq, "type": "request", "command": command, "arguments": arguments}
        body = json.dumps(message).encode()
        self._socket.sendall(b"Content-Length: %d\r\n\r\n" % len(body) + body)
        return self._seq

    def response(self, seq):
        """The response to the request of that number."""
        while seq not in self._responses:
            self._read()
        return self._responses.pop(seq)

    def ask(self, command, **arguments):
        """The body of the response to a request that must succeed."""
        answer = self.response(self.send(command, **arguments))
        assert answer["success"], answer
        return answer.get("body", {})

    def event(self, name, is_it=lambda body: True):
        """The body of the next event of this name, also if it has arrived already."""
        while True:
            for index, message in enumerate(self.events):
                if message["event"] == name and is_it(message.get("body", {})):
                    return self.events.pop(index).get("body", {})
            self._read()

    def attach(self, configure=lambda client: None, **arguments):
        """Initializes the session; `configure` sets breakpoints in it."""
        capabilities = self.ask("initialize", adapterID="test", linesStartAt1=True, pathFormat="path")
        attached = self.send("attach", **arguments)
        while not any(event["event"] == "initialized" for event in self.events):
            self._read()
            refusal = self._responses.get(attached, {"success": True})
            assert refusal["success"], refusal
        self.event("initialized")
        configure(self)
        self.ask("configurationDone")
        answer = self.response(attached)
        assert answer["success"], answer
        return capabilities

    def frames(self, thread):
        """The frames of a thread, innermost first."""
        return self.ask("stackTrace", threadId=thread)["stackFrames"]

    def variables(self, frame, scope):
        """{name: value} of a scope of a frame."""
        (found,) = [each for each in self.ask("scopes", frameId=frame)["scopes"] if each["name"] == scope]
        listed = self.ask("variables", variablesReference=found["variablesReference"])["variables"]
        return {each["name"]: each["value"] for each in listed}

    def _read(self):
        length = 0
        while (line := self._file.readline()) != b"\r\n":
            assert line, "the server has closed the connection"
            length = int(line.split(b":")[1])
        message = json.loads(self._file.read(length))
        if message["type"] == "event":
            self.events.append(message)
        elif message["type"] == "response":
            self._responses[message["request_seq"]] = message
