"""A small server on loopback in the place of a collector of OpenTelemetry."""

import contextlib
import http.server
import json
import threading


class Collector(http.server.ThreadingHTTPServer):
    """Keeps what it gets; answers with `status` and `answer`, the latter byte by byte where it drips."""

    def __init__(self, status=200, answer=b"{}", headers=(), drips=False):
        super().__init__(("127.0.0.1", 0), Handler)
        self.status, self.answer, self.headers, self.drips = status, answer, headers, drips
        self.got, self.is_done = [], threading.Event()

    @property
    def url(self):
        return f"http://127.0.0.1:{self.server_port}"


class Handler(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        server = self.server
        body = self.rfile.read(int(self.headers["Content-Length"]))
        server.got.append((self.path, dict(self.headers), json.loads(body)))
        if server.drips:
            server.is_done.wait(60)
        self.send_response(server.status)
        for name, value in server.headers:
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(server.answer)))
        self.end_headers()
        self.wfile.write(server.answer)

    def log_message(self, *_arguments):
        """Says nothing."""


@contextlib.contextmanager
def collector(**options):
    with Collector(**options) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield server
        finally:
            server.is_done.set()
            server.shutdown()
            thread.join()
