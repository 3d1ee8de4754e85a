"""Counts the calls of this process's process groups, ends the calls at a stop, and reconnects the groups afterwards."""

import datetime
import functools
import hashlib
import json
import os
import re
import select
import signal
import socket
import sys
import threading
import time

from polyxeus.engine import interrupts
from polyxeus.engine.process_groups import frameworks, gloo_sockets, roll_call, traces
from polyxeus.engine.process_groups.epochs import DIED, INTERRUPTED, RAISED, Cause
from polyxeus.engine.process_groups.meetings import Meeting, Refusal
from polyxeus.engine.process_groups.world import Group, World
from polyxeus.trace import recording

_HOOK = 0x7078  # the number under which polyxeus's hook is registered at a group
_INTERVAL = 0.05  # seconds between two checks of the store while a request runs
_RENEWAL = datetime.timedelta(seconds=30)
_PATIENCE = 10  # the number of seconds for which a stop waits for data that is being transferred
_MOST_TEXT = 300
_NETWORK_ERRORS = ("gloo/transport", "Connection closed by peer", "Connection reset by peer", "NCCL error")
_TIME_ERRORS = ("Timed out waiting", "timed out", "Timeout")


def _grace():
    """Returns the number of seconds that ranks wait for a rank that has failed. The same number is used for MPI
    calls."""
    try:
        return max(0.0, float(os.environ.get("POLYXEUS_MPI_GRACE", "2")))
    except ValueError:
        return 2.0


def _prepare_tracebacks():
    """Imports the modules that the first traceback needs. If these modules were imported only when
    a rank fails, the import would delay all ranks of the cell by half a second."""
    from IPython import get_ipython

    try:
        raise RuntimeError
    except RuntimeError:
        shell = get_ipython()
        if shell is not None:
            shell.InteractiveTB.structured_traceback(*sys.exc_info())


class Groups:
    """The process groups of this engine. This object is made when torch.distributed is imported.
    The main thread and autograd's threads call its methods."""

    def __init__(self, module, signals):
        self._c10d = module
        self._signals = signals
        self._world = None
        self._lock = threading.RLock()  # held while groups are reconnected
        self._seen_epoch = 0  # the epoch in which the frameworks' objects were last used
        self._meeting = None  # the Meeting in which this rank waits
        self._handler = None  # the handler of SIGINT while SIGINT is ignored
        self._wrap("_new_process_group_helper", self._new_group)
        self._wrap("_process_group_name", self._name_group)
        self._wrap("destroy_process_group", self._destroy)
        self._wrap("_store_based_barrier", self._meet)
        rendezvous = sys.modules["torch.distributed.rendezvous"]
        rendezvous.TCPStore = functools.partial(self._open_store, rendezvous.TCPStore)

    def _wrap(self, name, replacement):
        original = getattr(self._c10d, name)
        setattr(self._c10d, name, functools.wraps(original)(functools.partial(replacement, original)))
        public = sys.modules["torch.distributed"]
        if getattr(public, name, None) is original:
            setattr(public, name, getattr(self._c10d, name))

    # ------------------------------------------------------------ making and ending groups

    def _new_group(self, original, size, rank, ranks, backend, store, name, *args, **named):
        world = self._world
        is_default = len(ranks) == 0
        members = list(ranks) or list(range(max(size, 0)))
        has_store = str(backend) not in ("mpi", "fake")
        me = rank if is_default else self._c10d._get_default_group().rank()
        if not has_store or world is None and not is_default:
            return original(size, rank, ranks, backend, store, name, *args, **named)
        if is_default:
            store = self._store_of_attempt(store)
        if me not in members:
            return original(size, rank, ranks, backend, store, name, *args, **named)
        before = gloo_sockets.listening_ports()
        key = f"polyxeus/here/{0 if is_default else world.epochs.current}/{name}"
        store.set(f"{key}/{me}", "here")
        meeting = Meeting(store, key, members, "init_process_group" if is_default else "new_group")
        try:
            pg, prefix_store = self._together(meeting, lambda: original(
                size, rank, ranks, backend, store, name, *args, **named))
        except BaseException:
            if is_default:
                store.add("polyxeus/failed", 1)
            raise
        if is_default:
            world = self._world = World(store, me, size)
            self._forget_signals()
            world.begin_request()
            self._seen_epoch = world.epochs.current
            for work in (self._watch_store, self._watch_signals):
                threading.Thread(target=work, args=(world,), daemon=True, name="px-torch").start()
            _prepare_tracebacks()
        # if this engine replaces a rank that has ended, the group is connected at its first call
        group = Group(pg, name, members, -1 if named.get("enable_reconfigure") else world.epochs.current)
        group.own_ports = gloo_sockets.listening_ports() - before
        world.groups[name] = group
        world.publish_ports(group)
        pg.register_pre_hook(_HOOK, functools.partial(self._before, world, group))
        return pg, prefix_store

    def _store_of_attempt(self, store):
        """Returns a part of the store that was not used by earlier, stopped attempts to make the default group."""
        failed = 0
        while store.add("polyxeus/failed", 0):
            failed += 1
            store = self._c10d.PrefixStore(f"polyxeus/attempt/{failed}", store)
        return store

    def _open_store(self, original, host_name, port, *args, **named):
        """Opens a TCPStore. A signal can end the wait for the server of the store or for the other ranks."""
        limit = named.get("timeout") or self._c10d.default_pg_timeout
        deadline = time.monotonic() + limit.total_seconds()
        while not named.get("is_master", True):
            try:
                socket.create_connection((host_name, port), timeout=1).close()
                break
            except OSError as problem:
                if time.monotonic() > deadline:
                    raise RuntimeError(f"rank 0 does not listen at {host_name}, port {port}: {problem}") from None
                time.sleep(0.02)
        return original(host_name=host_name, port=port, *args, wait_for_workers=False, **named)

    def _name_group(self, original, *args, **named):
        """Lets torch choose the name of a new group. torch makes this name from the number of groups
        that were made so far. After a stop this number may differ between the ranks, because they
        may have been stopped at different places in the code. The ranks therefore first agree on
        one number."""
        world = self._world
        if not self._c10d.is_initialized():
            self._c10d._world.group_count = 0  # a stopped attempt may have increased the count
        elif world is not None and not named.get("use_hashed_name", False):
            for group in list(world.groups.values()):
                if len(group.ranks) == world.size and group.epoch != world.epochs.current:
                    self._admit(world, group, "new_group")
                    break
        return original(*args, **named)

    def _destroy(self, original, group=None):
        world = self._world
        name = None if group is None or world is None else self._c10d._world.pg_names.get(group)
        try:
            return original(group)
        finally:
            if world is not None and (group is None or not self._c10d.is_initialized()):
                world.is_closed = True
                world.has_request.set()  # so that the threads of this world end
                self._world = None
            elif world is not None:
                world.groups.pop(name, None)

    # ------------------------------------------------------------ meetings in the store, which signals end

    def _together(self, meeting, act):
        """Calls `act()` and returns its result. Either all ranks of the meeting call `act()`, or
        none of the ranks calls it, because the ranks wait for one another in `act()`.

        If an exception stops a rank after the ranks have decided to call `act()`, this rank calls
        `act()`, too, before it raises the exception again.
        """
        has_acted = False
        try:
            self._wait(meeting)
            if meeting.decide("go") == "go":
                has_acted = True
                return act()
        except BaseException as problem:
            if not has_acted and meeting.decide("no") == "go":
                act()
            if self._world is not None and not self._world.epochs.is_over():
                cause = getattr(problem, "cause", None) or _cause_of(problem, self._world.rank)
                self._world.end(self._world.epochs.current, cause)
            raise
        if self._world is not None:
            self._world.learn()
        cause = None if self._world is None else self._world.epochs.cause()
        raise RuntimeError(f"{meeting.name} cannot begin: {cause or 'another rank was stopped'}; the next cell can call it")

    def _wait(self, meeting, limit=None):
        """Waits until all ranks of the meeting have joined it."""
        self._meeting = meeting
        looked = meeting.began
        pause = 0.0002
        while not meeting.is_complete():
            world, now = self._world, time.monotonic()
            if world is not None and world.epochs.is_over():
                raise Refusal(meeting.name, world.epochs.cause())
            if limit is not None and now > meeting.began + limit:
                raise RuntimeError(f"{meeting.name} cannot begin: {roll_call.name_ranks(meeting.missing())} did not "
                                   f"reach it within {limit:g} s")
            if world is not None and now > looked + 0.2:
                looked = now
                cause = world.who_rests(meeting.missing()) if now > meeting.began + _grace() else None
                if cause is not None:
                    raise Refusal(meeting.name, cause)
                dead = world.find_dead()
                if dead in meeting.ranks:
                    raise RuntimeError(f"{meeting.name} cannot begin: rank {dead} has died: start it again and call "
                                       "polyxeus.torch.init(view), or restart the engines")
            time.sleep(pause)
            pause = min(pause * 1.5, 0.02)
        self._meeting = None

    def _meet(self, original, rank, store, group_name, rendezvous_count, timeout, *args, **named):
        """Replaces torch's barrier in the store: waits for the other ranks in a loop that signals can end."""
        key = f"polyxeus/barrier/{group_name}"
        count = store.add(key, 1)
        store.set(f"{key}/{count - 1}", "here")
        self._wait(Meeting(store, key, range(rendezvous_count), "the process group's barrier"),
                   timeout.total_seconds())

    # ------------------------------------------------------------ calls

    def _before(self, world, group, arguments):
        """A hook that torch calls before each call of the group: reconnects the group if necessary,
        and counts the call."""
        began = recording.begin()
        if group.epoch != world.epochs.current or world.epochs.is_over():
            self._admit(world, group, roll_call.name_of(arguments.name.name))
        group.note(arguments)
        if began is not None or group.traced is not None:
            traces.before(_HOOK, group, arguments, began)

    def _admit(self, world, group, name):
        """Reconnects the group if necessary. Raises RuntimeError if the call cannot begin."""
        if world.is_lost:
            raise RuntimeError(f"{name} cannot begin: rank 0, which holds the store of the process groups, has "
                               "died: restart the engines, or call polyxeus.torch.init(view)")
        _refuse_if_over(world, name)
        if group.replaced:
            raise RuntimeError(f"{name} cannot begin: {roll_call.name_ranks(group.replaced)} of this process group "
                               "was started again: make the group again")
        with self._lock:
            if group.epoch != world.epochs.current:
                self._renew(world, group, name)
        _refuse_if_over(world, name)

    def _renew(self, world, group, name):
        """Reconnects the members of the group; the group remains the same object."""
        epoch, pg, me = world.epochs.current, group.pg(), world.rank
        key = f"polyxeus/renewal/{epoch}/{group.name}"
        try:
            said = {"handle": pg.get_reconfigure_handle(), "groups": self._c10d._world.group_count}
        except RuntimeError as problem:
            raise RuntimeError(f"{name} cannot begin: the process group was ended by a stop, and torch cannot "
                               f"reconnect it ({str(problem).splitlines()[0]}): make it again, with a TCPStore") from None
        world.store.set(f"{key}/{me}", json.dumps(said))
        meeting = Meeting(world.store, key, group.ranks, name)
        self._together(meeting, lambda: self._connect(world, group, key, epoch))

    def _connect(self, world, group, key, epoch):
        answers = [json.loads(world.store.get(f"{key}/{rank}")) for rank in group.ranks]
        if len(group.ranks) == world.size:
            self._c10d._world.group_count = max(each["groups"] for each in answers)
        options = self._c10d.ReconfigureOptions()
        options.uuid = int.from_bytes(hashlib.blake2b(key.encode(), digest_size=7).digest(), "big")
        options.handles = [each["handle"] for each in answers]
        options.timeout = _RENEWAL
        before = gloo_sockets.listening_ports()
        group.pg().reconfigure(options).wait()
        group.own_ports |= gloo_sockets.listening_ports() - before
        group.epoch, group.count, group.last = epoch, 0, None
        world.publish_ports(group)

    def replace_ranks(self, ranks):
        if self._world is None:
            return
        default = self._c10d._get_default_group().group_name
        for group in list(self._world.groups.values()):
            if group.name != default:
                group.replaced = sorted({*group.replaced, *(set(ranks) & set(group.ranks))})

    # ------------------------------------------------------------ requests

    def begin_request(self):
        world = self._world
        if world is None:
            return
        self._meeting = None
        self._forget_signals()
        world.begin_request()
        if self._seen_epoch != world.epochs.current:
            self._seen_epoch = world.epochs.current
            frameworks.forget_what_was_under_way()

    def end_request(self, error):
        world = self._world
        if world is None:
            return
        if error is not None and not world.epochs.is_over():
            world.end(world.epochs.current, _cause_of(error, world.rank))
        elif not world.is_lost:
            world.tell_counts(world.epochs.current, is_over=False)
        if world.epochs.is_over() and world.is_connected_in(world.epochs.of_request):
            ports = world.ports()  # also ends work that is not done
            deadline = time.monotonic() + 1
            while not gloo_sockets.are_quiet(*ports) and time.monotonic() < deadline:
                pass
            world.shut_down(ports)
        world.has_request.clear()
        with world.end_lock:  # so that connections of the next request are not shut down
            world.epochs.end_request()
        if self._handler is not None:
            signal.signal(signal.SIGINT, self._handler)
            self._handler = None

    def explain(self, error, entries):
        world, meeting = self._world, self._meeting
        if meeting is not None and isinstance(error, KeyboardInterrupt):
            absent = meeting.missing()
            error.args = (roll_call.interrupted_at(meeting.name, absent),)
            return [each for each in entries if not _is_of_torch(_code(each))] or entries
        if world is None or world.epochs.of_request is None or not entries:
            return entries
        if not _is_of_torch(_code(entries[-1])) and not _is_of_network(error) and not _is_of_network(error.__context__):
            return entries
        group, call = _latest(world)
        text = None if call is None else self._explanation(world, group, call, error)
        if text is None:
            return entries
        error.args = (text,)
        error.__context__ = error.__cause__ = None
        return [each for each in entries if not _is_of_torch(_code(each))] or entries

    def _explanation(self, world, group, call, error):
        """Returns the text that replaces the text of the error; None if the error keeps its
        text."""
        epoch = world.epochs.of_request
        is_stop = isinstance(error, KeyboardInterrupt)
        if not is_stop and (not isinstance(error, RuntimeError) or " cannot begin: " in str(error)):
            return None
        if not world.learn():
            dead = world.wait_for_dead() if _is_of_network(error) else None
            if is_stop:
                world.end(epoch, Cause(INTERRUPTED, world.rank))
            elif dead is not None:
                world.end(epoch, Cause(DIED, dead))
            elif _is_of_time(error):
                world.end(epoch, Cause(RAISED, world.rank, f"RuntimeError: {roll_call.too_late(call, [], {})}"))
        cause = world.epochs.cause()
        if cause is None:
            return None
        counts = {} if cause.kind == RAISED and cause.rank != world.rank else world.counts(group, epoch)
        if cause.kind == INTERRUPTED and not is_stop and self._handler is None:
            # this rank's own interrupt may arrive now; it must not end the formatting of the error
            self._handler = signal.signal(signal.SIGINT, signal.SIG_IGN)
        if is_stop:
            return roll_call.interrupted_in(call, group.ranks, counts)
        if cause.rank != world.rank or cause.kind == INTERRUPTED:
            return roll_call.cannot_end(call, cause, group.ranks, counts)
        return roll_call.too_late(call, group.ranks, counts) if _is_of_time(error) else None

    def describe(self, frame):
        world, meeting = self._world, self._meeting
        if meeting is not None:
            return {"call": meeting.name, "seconds": time.monotonic() - meeting.began, "is_inside": True,
                    "missing": meeting.missing()}
        group, call = (None, None) if world is None else _latest(world)
        if call is None:
            return None
        told = {"call": call.name, "bytes": call.size, "count": call.count, "group": group.name,
                "seconds": time.monotonic() - call.began, "rank": world.rank, "size": len(group.ranks),
                "is_inside": frame is not None and _is_of_torch(frame.f_code)}
        if call.peer is not None:
            told["peer"] = group.ranks[call.peer]
        return told

    # ------------------------------------------------------------ threads

    def _watch_store(self, world):
        """Ends the calls of this rank when another rank has ended the epoch of these calls."""
        while not world.is_closed:
            world.has_request.wait()
            epoch = world.epochs.of_request
            if epoch is not None and not world.is_closed and world.learn():
                self._end_calls(world, epoch)
            time.sleep(_INTERVAL)

    def _end_calls(self, world, epoch):
        """Shuts the connections down if the request of `epoch` still runs after the grace period
        (see _grace())."""
        cause = world.epochs.causes.get(epoch)
        deadline = time.monotonic() + (0 if cause is None or cause.kind == DIED else _grace())
        while world.epochs.runs_in(epoch) and time.monotonic() < deadline:
            time.sleep(0.02)
        self._shut_down_until_end(world, epoch)

    @staticmethod
    def _shut_down_until_end(world, epoch):
        """Shuts the connections down repeatedly, because the main thread may have begun a call, or made connections,
        just before this method was called.

        While data is being transferred, this method waits for up to 10 s, because gloo reports the
        end of a connection only to calls that wait for the beginning of a message. A call whose
        message is cut off in the middle would wait for the rest of the message until the time limit
        of its group.
        """
        pause = 0.05
        force_at = time.monotonic() + _PATIENCE
        while not world.is_closed and world.epochs.runs_in(epoch):
            ports = world.ports()
            if gloo_sockets.are_quiet(*ports) or time.monotonic() > force_at:
                with world.end_lock:
                    if world.epochs.runs_in(epoch):
                        world.shut_down(ports)
            time.sleep(pause)
            pause = min(pause * 1.5, 1.0)

    def _forget_signals(self):
        """Discards the notices of signals that have arrived so far. Each of these signals either
        has raised a KeyboardInterrupt in the running request already, or belongs to an earlier
        request."""
        interrupts.read_away(self._signals[0])

    def _watch_signals(self, world):
        """Ends the calls of this rank when the user interrupts the rank, because calls that wait in
        gloo ignore the signal."""
        reading, writing = self._signals
        poll = select.poll()
        poll.register(reading, select.POLLIN)
        while not world.is_closed:
            poll.poll(1000)
            if world.epochs.of_request is None:
                time.sleep(0.02)  # the main thread reads the pipe
                continue
            try:
                numbers = os.read(reading, 512)
            except BlockingIOError:
                continue
            epoch = world.epochs.of_request
            if epoch is None:
                os.write(writing, numbers)
            elif signal.SIGINT in numbers:
                if not world.epochs.is_over():
                    world.end(epoch, Cause(INTERRUPTED, world.rank))
                self._shut_down_until_end(world, epoch)


def _refuse_if_over(world, name):
    if world.epochs.is_over():
        raise RuntimeError(f"{name} cannot begin: {world.epochs.cause()}; the next cell can call it")


def _cause_of(error, rank):
    if isinstance(error, KeyboardInterrupt):
        return Cause(INTERRUPTED, rank)
    try:
        text = re.sub(r"^\[/[^]]*\] ", "", str(error))  # removes the source file that gloo names
    except Exception:
        text = ""
    return Cause(RAISED, rank, f"{type(error).__name__}: {text}".split("\n")[0][:_MOST_TEXT])


def _latest(world):
    """Returns the group of the latest call of this rank, and the call; (None, None) before the first call."""
    groups = [each for each in list(world.groups.values()) if each.last is not None]
    if not groups:
        return None, None
    group = max(groups, key=lambda each: each.last.began)
    return group, group.last


def _is_of_network(error):
    """Returns whether the error says that a gloo or nccl connection has ended."""
    return isinstance(error, RuntimeError) and any(each in str(error) for each in _NETWORK_ERRORS)


def _is_of_time(error):
    """Returns whether the error says that a collective call has taken longer than its group allows."""
    return isinstance(error, RuntimeError) and any(each in str(error) for each in _TIME_ERRORS)


def _code(entry):
    """Returns the code of an entry of a traceback."""
    return entry.tb_frame.f_code


def _is_of_torch(code):
    """Returns whether code is in a file of torch or of this package."""
    folder = os.path.join(os.path.dirname(sys.modules["torch"].__file__), "")
    return code.co_filename.startswith((folder, os.path.dirname(__file__)))
