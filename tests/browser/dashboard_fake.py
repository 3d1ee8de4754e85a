"""A controller that does not exist, for tests of its dashboard: serves the page that was built, and made-up snapshots of
as many engines as a test wants. What engines and clients say has markup in it."""

import json
import math
import os
import random
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

TOKEN = "the-token-of-the-tests"
PAGE = Path(os.environ.get("POLYXEUS_DASHBOARD") or Path(sys.prefix) / "share" / "polyxeus" / "dashboard")
MARKUP = "<img src=x onerror=\"document.title='hacked'\">"
CSP = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'"
TYPES = {".html": "text/html", ".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml"}
RANKS, ENGINES_OF_HOST = 8, 64


class FakeCluster:
    """Snapshots as controller/sight/snapshot_json.hpp describes them."""

    def __init__(self, engines):
        self.engines, self.number, self.started = engines, 0, time.time() - 3600
        self.finished = 0
        self.dice = random.Random(1)

    def engine(self, number):
        world, rank = divmod(number, RANKS)
        engine = {"id": number, "host": f"node{number // ENGINES_OF_HOST}", "rank": rank, "world": f"world {world}",
                  "pid": 10000 + number, "language": "python", "age": 3600.0, "measured_ago": 1.0, "state": "idle",
                  "state_seconds": self.dice.uniform(0, 60), "finished_total": 2 * self.number + number,
                  "process": {"memory": (80 + number % 50) << 20, "cpu": 12.5, "threads": 9}}  # fmt: skip
        if number % 97 == 96:
            engine["state"] = "silent"
        elif world % 4 == 0:  # the others wait for the last rank
            engine |= {"state": "busy", "runs": "step(grid)", "runs_for": 4.5}
            if rank != RANKS - 1:
                engine["mpi"] = {"call": "MPI_Allreduce", "seconds": 4.2, "group": "0", "size": RANKS}
        elif world % 4 == 1:
            engine |= {"state": "busy", "runs": f"solve(A, b) {MARKUP}", "runs_for": 1.5, "cpu_share": 0.9}
            if rank == 1:
                engine["mpi"] = {"call": "MPI_Recv", "seconds": 5.5, "peer": 0, "tag": 9}
        if number == 3:
            engine |= {"failed_total": 1, "last_error": f"ZeroDivisionError: division by zero {MARKUP}"}
        if number == 9:
            engine["is_drained"] = True
        return engine

    def task(self, now, number):
        ended = now - self.dice.random()
        started = ended - self.dice.uniform(0.05, 0.9)
        return {"msg_id": f"{self.number}_{number}", "engine": self.dice.randrange(self.engines), "kind": "task",
                "label": "load" if number % 5 == 0 else MARKUP if number % 50 == 1 else "solve",
                "is_ok": number % 100 != 7, "submitted": started - 1, "started": started, "ended": ended}  # fmt: skip

    def next(self):
        self.number += 1
        now = time.time()
        engines = [self.engine(number) for number in range(self.engines)]
        rate = int(300 + 200 * math.sin(self.number / 10))
        self.finished += rate
        hosts = {}
        for engine in engines:
            host = hosts.setdefault(engine["host"], {
                "name": engine["host"], "engines": 0, "busy": 0, "engine_memory": 0, "engine_cpu": 0.0,
                "memory": 16 << 30, "free_memory": 6 << 30, "cores": 64, "load": 12.5})  # fmt: skip
            host["engines"] += 1
            host["busy"] += engine["state"] == "busy"
            host["engine_memory"] += engine["process"]["memory"]
            host["engine_cpu"] += engine.get("cpu_share", 0)
        durations = {"count": self.finished, "sum": 0.5 * self.finished, "counts": [],
                     "quantiles": {"0.5": 0.45, "0.9": 0.8, "0.99": 0.9}}  # fmt: skip
        parts = [{"engine": 3, "state": "error", "seconds": 0.1, "error": f"ZeroDivisionError {MARKUP}"}
                 if number == 3 else {"engine": number, "state": "ok", "seconds": 0.1, "output": "0.5\n<b>bold</b>"}
                 for number in range(RANKS)]  # fmt: skip
        return {
            "number": self.number, "time": now, "interval": 1.0, "engine_count": self.engines, "engines": engines,
            "controller": {"version": "0.1.0", "host": "login1", "pid": 1, "started": self.started,
                           "memory": 60 << 20, "cpu": 9.0, "threads": 7, "descriptors": 99, "cpu_share": 0.04,
                           "bad_messages_total": 0, "lost_records_total": 0, "in_bytes_total": 0, "out_bytes_total": 0},
            "work": {"queued": 123, "running": 77, "direct": 3, "submitted_total": self.finished + 200,
                     "finished_total": self.finished, "failed_total": self.finished // 100, "assigned_total": 0,
                     "retried_total": 4, "submitted_rate": rate + 10, "finished_rate": rate},
            "hosts": list(hosts.values()),
            "clients": [{"session": "a1b2c3", "name": "ann", "unfinished": 12, "submitted_total": 900, "last_seen": 0.4},
                        {"session": "d4e5f6", "name": f"bob {MARKUP}", "last_seen": 80.0}],
            "finished": [self.task(now, number) for number in range(rate)], "finished_left_out": 0,
            "cells": [{"id": "1", "session": "a1b2c3", "source": f"x = 1 / (rank - 3)\nprint('{MARKUP}')",
                       "submitted": self.started, "engines": RANKS, "failed": 1, "parts": parts}],
            "events": [{"number": 1, "time": self.started, "kind": "started", "text": "the controller has started"},
                       {"number": 2, "time": self.started, "kind": "joined", "engine": 0, "host": "node0",
                        "text": "it joined"},
                       {"number": 3, "time": now - 20, "kind": "died", "engine": 5, "host": "node0",
                        "text": f"because {MARKUP}"}],
            "durations_total": durations, "queueing_total": durations,
        }  # fmt: skip


def stacks_of(number):
    """What an engine says of its calls: 2 hangs in C code, 3 runs Python, 5 is idle, 6 does not answer, 7 is of ipyparallel,
    and the others wait in MPI_Barrier, each in another place inside."""
    cell = {"kind": "python", "function": "<module>", "file": "<ipython-input-1>", "line": 4}
    engine = {"kind": "python", "function": "execute", "file": "/x/polyxeus/engine/shell.py", "line": 7}
    barrier = {"kind": "native", "function": "PMPI_Barrier", "file": "/usr/lib/libmpi.so.40"}
    unnamed = {"kind": "native", "file": "/x/MPI.so", "offset": 16 * (number + 1)}
    inside = {"kind": "native", "function": f"progress_{number}", "file": "libopen-pal.so"}
    running = {"what": "comm.Barrier()", "seconds": 40 + number}
    place = {"mpi": {"call": "MPI_Barrier", "seconds": number}}
    frames = [inside, barrier, unnamed, cell, engine]
    if number == 2:
        spin = {"kind": "native", "function": f"spin {MARKUP}", "file": "/home/ann/libspin.so"}
        place, frames = {"holds_lock": True}, [spin, dict(cell, line=9), engine]
    if number == 3:
        place, frames = {}, [dict(cell, function="ask", file="/home/ann/a.py", line=3), cell, engine]
    odd = {5: {"place": {}, "stacks": {"threads": []}}, 6: {}, 7: {"why": "it cannot report stacks"}}
    if number in odd:
        return {"engine": number} | odd[number]
    pool = [{"kind": "native", "function": "blas_thread", "file": "libblas.so"}]
    threads = [{"main": True, "frames": frames}, {"frames": pool}, {"frames": pool}]
    return {"engine": number, "running": running, "place": place, "stacks": {"hidden": 7, "threads": threads}}


class FakeController(ThreadingHTTPServer):
    """`orders`: what users of the page have asked for, as (name, body). `address`: what a browser opens."""

    daemon_threads = True

    def __init__(self, engines):
        super().__init__(("127.0.0.1", 0), FakeHandler)
        self.cluster, self.orders, self.is_over = FakeCluster(engines), [], threading.Event()
        self.lock = threading.Lock()
        self.address = f"http://127.0.0.1:{self.server_port}/"
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def event(self):
        with self.lock:
            return b"data: " + json.dumps(self.cluster.next()).encode() + b"\n\n"

    def close(self):
        self.is_over.set()
        self.shutdown()
        self.server_close()


class FakeHandler(BaseHTTPRequestHandler):
    def do_GET(self):
        name = self.path.partition("?")[0].strip("/") or "index.html"
        if name == "stream":
            return self.stream()
        if "/" in name or not (PAGE / name).is_file():
            return self.answer(404, "text/plain", b"there is no such page")
        return self.answer(200, TYPES.get((PAGE / name).suffix, "text/plain"), (PAGE / name).read_bytes())

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if self.headers.get("X-Polyxeus-Token") != TOKEN:
            return self.answer(401, "application/json", b'{"status": "error", "why": "the token is wrong"}')
        if body["engines"] == [5]:
            return self.answer(404, "application/json", b'{"status": "error", "why": "there is no engine 5"}')
        name = self.path.rpartition("/")[2]
        self.server.orders.append((name, body))
        if name == "restart":
            return self.answer(501, "application/json", b'{"why": "run `pxcluster restart`"}')
        engines = {"engines": [stacks_of(number) for number in body["engines"]]} if name == "stacks" else {}
        return self.answer(200, "application/json", json.dumps({"status": "ok"} | engines).encode())

    def stream(self):
        if self.headers.get("X-Polyxeus-Token") != TOKEN:
            return self.answer(401, "text/plain", b"the token is missing or wrong")
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Content-Security-Policy", CSP)
        self.end_headers()
        try:
            while not self.server.is_over.is_set():
                self.wfile.write(self.server.event())
                self.server.is_over.wait(1)
        except OSError:
            pass  # the viewer has gone
        return None

    def answer(self, status, kind, body):
        self.send_response(status)
        self.send_header("Content-Type", kind + "; charset=utf-8")
        self.send_header("Content-Security-Policy", CSP)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass
