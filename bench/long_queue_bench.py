"""What a long queue takes of the controller's memory, and how quickly it is done.

    python bench/long_queue_bench.py [--json build/long_queue.json] [--tasks 1000000] [--bytes 200]

One Python engine is busy while as many small calls are submitted by one connection; then it runs them.
The bench ends with an error where one is not done, or not in its turn. The controller has the default
journal and records. Its memory (PSS) is looked at every second. A million tasks take some minutes.
Exit code 0 when the aim is met.
"""

import contextlib
import hashlib
import hmac
import json
import sys
import threading
import time
import uuid
from datetime import datetime, timezone
from pathlib import Path

import polyxeus
import zmq

from clusters import controller_pid, pss_mb, started
from figures import Aim, finish, parser, row, seconds, versions

BENCH = "long_queue_bench"
MOST_MB = 400
PATIENCE_S = 120  # from one answer to the next
DELIMITER = b"<IDS|MSG>"
FIRST_CELL = """
import pathlib, time
while not pathlib.Path({gate!r}).exists():
    time.sleep(0.05)
order = []
"""


class Submitter:
    """A connection for tasks that makes its messages by hand: a million of a Client's results would take
    more memory than the controller."""

    def __init__(self, connection_file):
        self.connection = json.loads(Path(connection_file).read_text())
        self.session = uuid.uuid4().hex
        self.context = zmq.Context()
        self.socket = self.context.socket(zmq.DEALER)
        self.socket.linger = 0
        if server_key := self.connection.get("curve_serverkey"):
            self.socket.curve_publickey, self.socket.curve_secretkey = zmq.curve_keypair()
            self.socket.curve_serverkey = server_key.encode()
        self.socket.connect(f"{self.connection['interface']}:{self.connection['task']}")

    def close(self):
        self.context.destroy(linger=0)

    def submit(self, number, kind, content, padding=0):
        header = {
            "msg_id": f"{self.session}_{number}",
            "msg_type": kind,
            "username": "bench",
            "session": self.session,
            "date": datetime.now(timezone.utc).isoformat().replace("+00:00", "Z"),
            "version": "5.4",
        }
        parts = [json.dumps(part).encode() for part in (header, {}, {}, content)]
        digest = hmac.new(self.connection["key"].encode(), b"".join(parts), hashlib.sha256)
        buffer = b"x" * max(0, padding - len(parts[-1]))
        self.socket.send_multipart([DELIMITER, digest.hexdigest().encode(), *parts, buffer])

    def receive(self):
        """The number of the task that the next answer is for; None where it failed."""
        if not self.socket.poll(PATIENCE_S * 1000):
            raise RuntimeError(f"no answer came for {PATIENCE_S} s")
        frames = self.socket.recv_multipart()
        parts = frames[frames.index(DELIMITER) + 2 :]
        if json.loads(parts[3])["status"] != "ok":
            raise RuntimeError(f"a task failed: {parts[3]!r:.500}")
        return int(json.loads(parts[1])["msg_id"].rpartition("_")[2])


@contextlib.contextmanager
def watched(pid):
    """A list that gets the memory of this process in MB every second."""
    found, is_over = [pss_mb(pid)], threading.Event()

    def watch():
        while not is_over.wait(1):
            found.append(pss_mb(pid))

    watcher = threading.Thread(target=watch)
    watcher.start()
    try:
        yield found
    finally:
        is_over.set()
        watcher.join()


def submit_all(tasks, count, size):
    for number in range(1, count + 1):
        call = {"function": {"reference": "order.append"}, "args": [{"json": number}], "kwargs": {}}
        tasks.submit(number, "call_request", call, size)


def take_all(tasks, count):
    for number in range(count + 1):
        answered = tasks.receive()
        if answered != number:
            raise RuntimeError(f"after {number} answers that of task {answered} came")
        if number % 100_000 == 0:
            print(f"{number} of {count} are done", flush=True)


def main():
    options = parser(__doc__)
    options.add_argument("--tasks", type=int, default=1_000_000)
    options.add_argument("--bytes", type=int, default=200, help="of one task, beside its header")
    options = options.parse_args()
    count = options.tasks
    with started(polyxeus, 1) as (cluster, client, _):
        security = Path(cluster.profile_dir, "security")
        tasks = Submitter(security / f"ipcontroller-{cluster.cluster_id}-client.json")
        gate = Path(cluster.profile_dir, "gate")
        with contextlib.closing(tasks), watched(controller_pid()) as memory:
            empty = memory[0]
            tasks.submit(0, "execute_request", {"code": FIRST_CELL.format(gate=str(gate))})
            submitting = seconds(lambda: submit_all(tasks, count, options.bytes))
            print(f"all are submitted after {submitting:.0f} s", flush=True)
            gate.touch()
            running = seconds(lambda: take_all(tasks, count))
            client[0].execute(f"is_in_order = order == list(range(1, {count + 1}))", block=True)
            if not client[0]["is_in_order"]:
                raise RuntimeError("the engine did not run each task once, in its turn")
    what = f"{count:,} waiting tasks of {options.bytes} bytes"
    rows = [
        row(BENCH, f"controller's memory, {what} (PSS)", "MB", "polyxeus", [max(memory)], None,
            [Aim("<=", MOST_MB, "value")]),
        row(BENCH, "controller's memory before (PSS)", "MB", "polyxeus", [empty]),
        row(BENCH, f"submitting {what}", "/s", "polyxeus", [count / submitting]),
        row(BENCH, f"running {what}", "/s", "polyxeus", [count / running]),
    ]  # fmt: skip
    return finish(rows, options, versions("polyxeus", programs=["pxcontroller"]))


if __name__ == "__main__":
    sys.exit(main())
