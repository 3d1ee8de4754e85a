"""The messages that ranks exchange through the store of their process groups, and the connections of the groups."""

import json
import logging
import os
import threading
import time
import weakref

from polyxeus.engine.process_groups import gloo_sockets, roll_call
from polyxeus.engine.process_groups.epochs import DIED, Cause, Epochs
from polyxeus.engine.process_groups.roll_call import TorchCall

_ANSWERS = 0.3  # seconds within which other ranks must report how many calls they have begun

_log = logging.getLogger("polyxeus")


class Group:
    """A process group, and the calls that this rank has begun in the group since the group was made
    or reconnected."""

    def __init__(self, pg, name, ranks, epoch):
        self.pg = weakref.ref(pg)  # weak, because the hook of the group refers to this object
        self.name = name
        self.ranks = ranks  # ranks of the world, in the order of the group
        self.epoch = epoch
        self.count = 0
        self.last = None  # the latest TorchCall
        self.own_ports = set()  # the ports at which gloo listens for the other ranks
        self.traced = None  # {number of a call: known facts about the call}, while a trace is on
        self.replaced = []  # ranks of the world that were restarted and do not have this group

    def note(self, arguments):
        name = roll_call.name_of(arguments.name.name)
        is_pair = not roll_call.is_collective(name)
        if not is_pair:
            self.count += 1
        tensors = arguments.input_tensors or arguments.output_tensors
        peer = arguments.root if is_pair and arguments.root >= 0 else None
        self.last = TorchCall(name, sum(each.nbytes for each in tensors), self.count, time.monotonic(), peer)


class World:
    """The default group of this process, and the groups that were made from it. The ranks exchange
    messages through the store of the default group. epochs.py explains epochs."""

    def __init__(self, store, rank, size):
        self.rank, self.size = rank, size
        self.store = store.clone()
        self.epochs = Epochs()
        self.groups = {}  # by name
        self.is_closed = False
        self.is_lost = False  # rank 0, which has the store, does not answer
        self._has_failed = False  # the latest request of this rank ended an epoch
        self._lock = threading.Lock()
        self.end_lock = threading.Lock()  # held while connections are shut down, so that the request does not end
        self._told = {}  # epoch: the counts that this rank has reported
        self.has_request = threading.Event()  # set while a request runs
        self.store.set(f"polyxeus/process/{rank}", json.dumps([_numbering(), os.getpid()]))

    # ------------------------------------------------------------ the end of an epoch

    def end(self, epoch, cause):
        """Ends `epoch` with this cause. If another rank has ended the epoch earlier, the cause that
        this other rank gave remains."""
        self.tell_counts(epoch)
        self._has_failed = self._has_failed or cause.rank == self.rank
        try:
            known = self.store.compare_set(f"polyxeus/over/{epoch}", "", cause.pack())
            cause = Cause.unpack(known.decode())
        except RuntimeError:
            self._lose_store()
        self.epochs.ended(epoch, cause)

    def learn(self):
        """Reads from the store which epochs have ended.

        Returns whether the epoch of the running request has ended; False if no request is running.
        """
        while True:
            epoch = self.epochs.current  # another thread may change it in the meantime
            packed = self._read(f"over/{epoch}")
            if packed is None:
                return self.epochs.is_over()
            self.tell_counts(epoch)
            self.epochs.ended(epoch, Cause(*packed))

    def begin_request(self):
        self.learn()
        self.epochs.begin_request()
        self.has_request.set()
        if self._has_failed:  # tells the other ranks that this rank runs requests again
            self._has_failed = False
            self._write(f"began/{self.rank}", self.epochs.current)

    def who_rests(self, ranks):
        """Checks whether a rank in `ranks` ended the previous epoch, by an error or an interrupt,
        and has begun no request since then. If so, returns the Cause, which names this rank;
        otherwise returns None. A rank may fail so early in a cell that other ranks begin the same
        cell when the failure is already known. Without this check, these other ranks would wait for
        the failed rank.
        """
        cause = self.epochs.causes.get(self.epochs.current - 1)
        if cause is None or cause.kind == DIED or cause.rank not in ranks:
            return None
        began = self._read(f"began/{cause.rank}")
        return cause if began is None or began < self.epochs.current else None

    # ------------------------------------------------------------ the store

    def _read(self, key):
        """Returns the text that the store has under a key; None if the key does not exist, or the store is lost."""
        key = f"polyxeus/{key}"
        try:
            if not self.is_lost and self.store.check([key]):
                return json.loads(self.store.get(key))
        except RuntimeError:
            self._lose_store()
        return None

    def _write(self, key, value):
        try:
            if not self.is_lost:
                self.store.set(f"polyxeus/{key}", json.dumps(value))
        except RuntimeError:
            self._lose_store()

    def _lose_store(self):
        self.is_lost = True
        self.epochs.ended(self.epochs.current, Cause(DIED, 0))

    # ------------------------------------------------------------ begun calls, and dead ranks

    def tell_counts(self, epoch, is_over=True):
        """Writes to the store how many calls of each group this rank has begun. Called when a
        request ends or the epoch ends.

        is_over  whether the epoch has ended, so that these numbers are final
        """
        counts = {each.name: each.count for each in list(self.groups.values()) if each.epoch == epoch}
        with self._lock:
            if self._told.get(epoch) not in ([counts, True], [counts, is_over]):
                self._told = {epoch: [counts, is_over]}
                self._write(f"counts/{epoch}/{self.rank}", [counts, is_over])

    def counts(self, group, epoch):
        """Returns {rank: number of calls of `group` that this rank has begun}, for the ranks that
        report their number within 0.3 s."""
        found, last = {}, set()
        deadline = time.monotonic() + _ANSWERS
        while not self.is_lost:
            for rank in group.ranks:
                told = None if rank in last else self._read(f"counts/{epoch}/{rank}")
                if told is not None:
                    counts, is_over = told
                    found[rank] = counts.get(group.name, 0)
                    if is_over:  # these numbers are final
                        last.add(rank)
            if len(last) == len(group.ranks) or time.monotonic() > deadline:
                break
            time.sleep(0.01)
        return found

    def find_dead(self):
        """Returns the first rank whose process has ended, among the ranks on this host or in this
        container. If there is none, returns 0 if the store of rank 0 does not answer, else None."""
        for rank in range(self.size):
            told = None if rank == self.rank else self._read(f"process/{rank}")
            if told is not None and told[0] == _numbering() and not _lives(told[1]):
                return rank
        return 0 if self.is_lost else None

    def wait_for_dead(self):
        """Waits for up to 0.3 s until it is known which rank has died, and returns this rank; None
        if no rank has died, or the epoch has ended."""
        deadline = time.monotonic() + _ANSWERS
        while True:
            dead = self.find_dead()
            if dead is not None or time.monotonic() > deadline:
                return dead
            if self.learn():
                return None
            time.sleep(0.02)

    # ------------------------------------------------------------ sockets

    def publish_ports(self, group):
        key = f"polyxeus/ports/{group.name}/{self.rank}"
        self.store.set(key, json.dumps(sorted(group.own_ports)))

    def ports(self):
        """Returns the ports at which gloo listens: (ports of this rank, ports of the other ranks)."""
        own, others = set(), set()
        for group in list(self.groups.values()):
            own |= group.own_ports
            for rank in group.ranks:
                if rank != self.rank:
                    others |= set(self._read(f"ports/{group.name}/{rank}") or ())
        return own, others

    def is_connected_in(self, epoch):
        """Returns whether a group was made or connected in `epoch`."""
        return any(each.epoch == epoch for each in list(self.groups.values()))

    def shut_down(self, ports):
        """Ends the calls in which this rank waits in gloo and nccl.

        ports  the result of ports()
        """
        for group in list(self.groups.values()):
            _abort_nccl(group.pg())
        gloo_sockets.shut_down(*ports)


def _numbering():
    """Returns an id of the pid namespace of this process. If two ranks have the same id, each of
    the two can see the process of the other rank."""
    with open("/proc/sys/kernel/random/boot_id") as file:
        return file.read().strip() + os.readlink("/proc/self/ns/pid")


def _lives(pid):
    try:
        with open(f"/proc/{pid}/stat") as file:
            return file.read().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


def _abort_nccl(pg):
    if pg is None:
        return
    import torch

    for device in getattr(pg, "_device_types", ()):
        if device.type == "cpu":
            continue
        try:
            backend = pg._get_backend(torch.device(device.type))
            if "nccl" in backend.name().lower():
                backend.abort()
        except Exception as failure:
            _log.warning("the %s calls of the process group %s cannot be aborted: %s",
                         device.type, pg.group_name, failure)
