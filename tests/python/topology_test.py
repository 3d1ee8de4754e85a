"""What `rc.topology()` says of where engines are."""

import os
import socket

from polyxeus.client.topology import ClusterTopology

RANK = {"host": "node1", "rank": 0, "pid": 71, "cores": "0-3,8", "sockets": "0", "numa_nodes": "0-1", "threads": "OMP=2 NUMBA=2"}
NODE2 = {"host": "node2", "rank": 1, "pid": 72, "cores": "0,2,4,...", "gpus": "0", "threads": "OMP=4 MKL=1"}


def test_each_engine_has_its_place_even_while_it_is_busy(rc):
    busy = rc[1].execute("import time; time.sleep(600)", block=False)
    try:
        rows = rc.topology()
    finally:
        rc.interrupt(block=True)
        rc.wait([busy], timeout=20)
    assert [row["engine"] for row in rows] == [0, 1, 2, 3]
    assert rows.hosts == {socket.gethostname(): [0, 1, 2, 3]}
    assert [row["pid"] for row in rows] == rc[:].apply_sync(os.getpid)
    assert [row["cores"] for row in rows] == rc[:].apply_sync(lambda: sorted(os.sched_getaffinity(0)))
    set_there = rc[:].apply_sync(lambda: os.environ.get("OMP_NUM_THREADS"))
    assert [row["threads"].get("OMP_NUM_THREADS") for row in rows] == set_there
    assert len(str(rows).splitlines()) == 5


def test_the_facts_of_engines_become_numbers():
    rows = ClusterTopology({0: RANK, 1: NODE2})
    assert rows[0]["cores"] == [0, 1, 2, 3, 8] and rows[0]["sockets"] == [0] and rows[0]["numa_nodes"] == [0, 1]
    assert rows[0]["threads"] == {"OMP_NUM_THREADS": "2", "NUMBA_NUM_THREADS": "2"} and rows[0]["gpus"] is None
    assert rows[1]["cores"] == [0, 2, 4] and rows[1]["gpus"] == "0"


def test_it_is_printed_as_a_table_host_by_host():
    rows = ClusterTopology({0: RANK, 1: NODE2, 2: {**RANK, "rank": 2, "cores": "4-7"}})
    assert str(rows) == (
        "ENGINE  HOST   RANK  PID  CORES      SOCKET  NUMA  GPU  THREADS\n"
        "0       node1  0     71   0-3,8      0       0,1   -    2\n"
        "2       node1  2     71   4-7        0       0,1   -    2\n"
        "1       node2  1     72   0,2,4,...  -       -     0    OMP=4 MKL=1"
    )
    assert rows.hosts == {"node1": [0, 2], "node2": [1]}
    assert rows._repr_html_().count("<tr>") == 4 and "<td>OMP=4 MKL=1</td>" in rows._repr_html_()


def test_an_engine_of_which_nothing_is_known_is_listed():
    rows = ClusterTopology({3: {}})
    assert rows[0]["cores"] == [] and rows[0]["threads"] == {} and rows.hosts == {None: [3]}
    assert str(rows).splitlines()[1].split() == ["3", *["-"] * 8]
