"""torch.distributed with ranks on two hosts: a stop ends the calls, and the next one is right."""

import re
from pathlib import Path

import pytest
from host_cluster import HostCluster

TORCH = Path(__file__).resolve().parents[2] / "build/torch"
BEGIN = """
import time, torch, torch.distributed as dist
dist.init_process_group()
rank = dist.get_rank()
"""
STOP_LATER = """
import signal, threading
threading.Timer(2, lambda: signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)).start()
"""
SUM = "x = torch.ones(1) * rank; dist.all_reduce(x); print(x.item())"


@pytest.fixture(scope="module")
def cluster(make_bed):
    if not (TORCH / "installed").exists():
        pytest.fail("PyTorch of PyPI is not there: .venv/bin/python scripts/torch_packages.py installs it", pytrace=False)
    cluster = HostCluster(make_bed(2))
    cluster.start("--engines=mpi", "--hosts=host1:2,host2:2", f"--engine-env=export PYTHONPATH={TORCH}")
    cluster.px(BEGIN)
    yield cluster
    cluster.run("stop", check=False)


def words_of(done):
    return done.stdout + done.stderr


@pytest.mark.parametrize("call", ["dist.all_reduce(torch.ones(1 << 18))", "dist.barrier()",
                                  "dist.all_gather([torch.zeros(1)] * 4, torch.ones(1))"])
def test_a_rank_that_raises_ends_the_calls_of_ranks_of_both_hosts(cluster, call):
    done = cluster.run("px", f"if rank == 2: raise ValueError('no data')\n{call}", check=False)
    assert re.search("cannot (begin|end): rank 2 raised ValueError: no data", words_of(done))
    assert cluster.px(SUM) == ["6.0"] * 4


@pytest.mark.parametrize("fault", ["time.sleep(60)", "pass", "exec('while True: pass')"])
def test_a_stop_names_the_missing_rank_of_the_other_host(cluster, fault):
    code = f"if rank == 2: {fault}\nelse: dist.all_reduce(torch.ones(1 << 18))"
    done = cluster.run("px", STOP_LATER + code, check=False)
    assert "all_reduce" in words_of(done) and "rank 2 had not reached" in words_of(done)
    assert cluster.px(SUM) == ["6.0"] * 4


def test_a_message_to_the_other_host_that_does_not_come_is_ended(cluster):
    done = cluster.run("px", STOP_LATER + "dist.recv(torch.ones(3), 3) if rank == 0 else time.sleep(60)", check=False)
    assert "recv from rank 3" in words_of(done)
    assert cluster.px(SUM) == ["6.0"] * 4
