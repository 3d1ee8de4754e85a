"""A user's script whose engines run in batch jobs that are shorter than its work: for job_end_test.py.

outliving_client.py CROSSINGS SAVE_BEFORE FOLDER TASK_SECONDS: runs tasks and direct calls until so many new jobs were
started, and prints "ok" and how much it has done if nothing was lost or run twice.
"""

import sys
import threading
import time
from pathlib import Path

import polyxeus as px


def task(number, folder, seconds):
    import os
    import time

    time.sleep(seconds)
    with open(f"{folder}/ran", "a") as file:
        file.write(f"{number} {os.environ['SLURM_JOB_ID']}\n")
    return number * number


def main(crossings, save_before, folder, seconds):
    rc = px.Client()
    view = rc[:]
    print(rc.job_ends(timeout=30), flush=True)
    ids = rc.ids
    view.execute("import numpy; step = 0; x = numpy.arange(100_000) + mpi_rank", block=True)
    balanced = rc.load_balanced_view()
    is_over = threading.Event()
    results, number = {}, 0

    def work():
        nonlocal number
        while not is_over.is_set():
            pending = [(each, balanced.apply_async(task, each, folder, seconds)) for each in range(number, number + 40)]
            number += 40
            results.update((each, result.get()) for each, result in pending)

    worker = threading.Thread(target=work)
    worker.start()
    while not Path(folder, "ran").exists():  # in the first job
        time.sleep(0.05)
    keeper = rc.outlive_job(["step", "x"], f"{folder}/saved", save_before=save_before)
    print("keeps", flush=True)
    steps = 0
    while keeper.crossings < crossings and not keeper.error and worker.is_alive():
        view.execute("step += 1", block=True)
        steps += 1
    is_over.set()
    worker.join()
    ran = [line.split() for line in Path(folder, "ran").read_text().splitlines()]
    assert keeper.error is None, keeper.error
    assert rc.ids == ids, rc.ids
    assert view["step"] == [steps] * len(ids), (view["step"], steps)
    assert view.apply_sync(lambda: int(x.sum() - len(x) * mpi_rank)) == [4_999_950_000] * len(ids)  # noqa: F821
    assert results == {each: each * each for each in range(number)}
    assert sorted(int(each) for each, _job in ran) == list(range(number))
    jobs = {job for _number, job in ran}
    assert len(jobs) > crossings, jobs
    keeper.stop()
    rc.close()
    print(f"ok: {number} tasks, {steps} steps in {len(jobs)} jobs", flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2], sys.argv[3], float(sys.argv[4]))
