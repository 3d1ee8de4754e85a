"""Runs random MPI programs on four ranks, stops them, and looks whether MPI is well afterwards."""

import contextlib
import os
import random
import re
import shutil
import tempfile
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from unittest import mock

import deadlines
import mpi_cells
from mpi_programs import KEPT, RANKS, gang_program, random_program

# How a run went, the worst last.
RIGHT, REFUSED, WRONG, HUNG = VERDICTS = ("right", "refused", "wrong", "hung")
NOTHING, INTERRUPT, TWICE, RAISE, RAISE_ALONE = WAYS = (
    "nothing is stopped", "an interrupt comes", "two interrupts come", "a rank raises, an interrupt comes",
    "a rank raises, nobody interrupts",
)  # fmt: skip
CLIENTS = ("own", "ipyparallel")
MPIS = ("openmpi", "mpich")
INTERRUPTED = ("Interrupted", "KeyboardInterrupt")
PATIENCE = 3.0  # seconds in which a cell must have ended
GRACE = 2.0  # seconds that a rank waits for one that has raised, as POLYXEUS_MPI_GRACE says
START = 60.0  # seconds for what no stop has to do with: a cluster, a first cell


@dataclass
class Outcome:
    """What became of a seed. `story`: what happened when, for who reads of a failure."""

    seed: int
    language: str
    client: str
    way: str
    verdict: str = RIGHT
    story: list = field(default_factory=list)
    text: str = ""  # the cell of the program

    def report(self):
        head = f"seed {self.seed}, language {self.language}, client {self.client}, {self.way}: {self.verdict}"
        return "\n".join([head, *(f"  {line}" for line in self.story)])


class Cells:
    """One cell on all ranks: for each language the results of the ranks that speak it."""

    def __init__(self, results):
        self._results = results  # [(ranks, AsyncResult)]

    def __len__(self):
        return sum(len(ranks) for ranks, _ in self._results)

    def wait(self, timeout):
        """Whether all ranks have ended within `timeout` seconds."""
        deadline = time.monotonic() + timeout
        for _, result in self._results:
            result.wait(max(0.0, deadline - time.monotonic()))
        return all(result.ready() for _, result in self._results)

    def printed(self):
        """Of each rank, what it has printed so far."""
        return [text for _, result in self._results for text in result.stdout]

    def n_done(self):
        return sum(result.progress for _, result in self._results)

    def outcomes(self):
        """rank -> the error as (name, text), None where the cell ended well. Of ended cells."""
        found = {}
        for ranks, result in self._results:
            for rank, each in zip(ranks, result.get(return_exceptions=True)):
                is_error = isinstance(each, BaseException)
                found[rank] = _error(each) if is_error else None
        return found


def _error(error):
    return getattr(error, "ename", type(error).__name__), getattr(error, "evalue", str(error))


class Session:
    """A cluster of four ranks under mpiexec, and a client of it; it lives until close().

    language: of the engines as `pxcluster --language` takes it: python, cpp, python:2,cpp:2.
    client: own, or ipyparallel for an unmodified ipyparallel.Client. mpi: one of MPIS.
    """

    def __init__(self, language, client="own", mpi=MPIS[0]):
        import polyxeus

        self.language = language
        self.mpi = mpi
        self.languages = _by_rank(language)
        self.n_programs = 0
        plan = {"language": language} if ":" in language else {"language": language, "n": RANKS}
        self._cluster = polyxeus.Cluster(engines="mpi", profile="fuzz", **plan)
        try:
            with _mpiexec_of(mpi):
                self._own = self._cluster.start_and_connect_sync()
            self._own.wait_for_engines(RANKS, timeout=START)
            self.rc = self._own if client == "own" else self._other_client()
            self._other = None if client == "own" else self.rc
            self.set_up()
        except BaseException:
            self._cluster.stop_cluster_sync()
            raise

    def _other_client(self):
        import ipyparallel

        rc = ipyparallel.Client(profile="fuzz", cluster_id=self._cluster.cluster_id, timeout=START)
        rc.wait_for_engines(RANKS, timeout=START, interactive=False)
        return rc

    def close(self):
        if self._other:
            self._other.close()
        self._own.close()
        self._cluster.stop_cluster_sync()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def set_up(self):
        cells = self.execute(mpi_cells.setup_cell)
        if not cells.wait(START):
            raise RuntimeError(f"the setup cell has not ended within {START:g} s")
        failed = {rank: error for rank, error in cells.outcomes().items() if error}
        if failed:
            raise RuntimeError(f"the setup cell failed: {failed}")

    def execute(self, cell_of, among=range(RANKS)):
        """Sends cell_of(language) to the ranks of each language; Cells."""
        results = []
        for language in dict.fromkeys(self.languages[rank] for rank in among):
            ranks = [rank for rank in among if self.languages[rank] == language]
            view = self.rc[ranks]
            results.append((ranks, view.execute(cell_of(language), silent=False, block=False)))
        return Cells(results)

    def next_program(self):
        """The number of the next program: its values are in no earlier message."""
        self.n_programs += 1
        return self.n_programs

    def interrupt(self, ranks=None):
        """Interrupts all ranks or these; what it gives is done() when all engines have answered that."""
        return self.rc.send_signal("SIGINT", targets=ranks, block=False)


@contextlib.contextmanager
def _mpiexec_of(mpi):
    """PATH finds the mpiexec of that MPI, and an mpi4py that was built for several takes that one. `mpiexec`
    is Open MPI's already."""
    if mpi == MPIS[0]:
        yield
        return
    program = shutil.which(f"mpiexec.{mpi}")
    if program is None:
        raise FileNotFoundError(f"there is no mpiexec.{mpi} on PATH")
    with tempfile.TemporaryDirectory(prefix="px-mpiexec-") as folder:
        found = Path(folder) / "mpiexec"  # MPICH's looks for its other programs where it itself is
        found.write_text(f'#!/bin/sh\nexec {program} "$@"\n')
        found.chmod(0o755)
        path = os.pathsep.join([folder, os.environ["PATH"]])
        with mock.patch.dict(os.environ, PATH=path, MPI4PY_MPIABI=mpi):
            yield


def _by_rank(language):
    if ":" not in language:
        return [language] * RANKS
    parts = [part.split(":") for part in language.split(",")]
    return [name for name, count in parts for _ in range(int(count))]


def run_seed(session, seed, client, patience=PATIENCE, way=None):
    """Runs the program of a seed on the session: its Outcome. After a verdict that is not `right`
    nobody knows in what state the session is. way: one of WAYS; the seed's own by default."""
    chance = random.Random(f"run {seed}")
    way_of_seed = chance.choice(WAYS)
    way = way or way_of_seed
    is_python = set(session.languages) == {mpi_cells.PYTHON}
    program = random_program(seed, with_objects=is_python)
    give_up = None
    if way in (RAISE, RAISE_ALONE):
        rank = chance.choice([rank for rank in range(RANKS) if program.operations[rank]])
        give_up = rank, chance.randrange(len(program.operations[rank])), chance.randint(1, 3)
    run = _Run(session, Outcome(seed, session.language, client, way), chance, patience)
    run.stop_program(program, give_up)
    return run.outcome


def run_gangs(session, seed, client, patience=PATIENCE, rounds=3):
    """Stops the programs of one gang again and again, while another gang runs a program: an Outcome. The other
    gang notices nothing, and the stopped one goes on at once."""
    chance = random.Random(f"gangs {seed}")
    outcome = Outcome(seed, session.language, client, "one of two gangs is stopped")
    _Run(session, outcome, chance, patience).stop_gang(rounds, *chance.sample(KEPT["gang"], 2))
    return outcome


class _Run:
    def __init__(self, session, outcome, chance, patience):
        self.session = session
        self.outcome = outcome
        self.chance = chance
        self.patience = patience

    def stop_program(self, program, give_up):
        number = self.session.next_program()
        passes = 2 if self.outcome.way == NOTHING else 0
        texts = {language: mpi_cells.program_cell(program, number, language, passes, give_up)
                 for language in set(self.session.languages)}  # fmt: skip
        self.outcome.text = "\n".join(texts[language] for language in sorted(texts))
        cells = self.session.execute(texts.get)
        if self.outcome.way == NOTHING:
            if self._have_ended("the program", cells, max(self.patience, 10)):
                self._expect_right("the program", cells)
        elif self._stop(cells, give_up):
            self._judge_stopped(cells, give_up)
        if self.outcome.verdict != RIGHT:
            return
        self._known("the known program")
        if self.outcome.way != NOTHING and self.outcome.verdict == RIGHT:
            self._leftovers()

    def stop_gang(self, rounds, stopped, working):
        steady = self._run_gang("steady", working)
        for round_ in range(rounds):
            if self.outcome.verdict != RIGHT or not self._stop_gang(round_, stopped):
                break
            after = self._run_gang(f"after {round_}", stopped, passes=2)
            if self._have_ended(f"the program after stop {round_}", after, max(self.patience, 10)):
                self._expect_right(f"the program after stop {round_}", after)
        if steady.n_done():
            self._worsen(WRONG, f"the program of the other gang ended: {steady.outcomes()}")
            return
        interrupt = self.session.interrupt(list(working))
        if self._have_ended("the program of the other gang", steady, self.patience):
            self._judge_stopped(steady, None)
        deadlines.wait_until(interrupt.done, "the engines answer the interrupt", START)
        if self.outcome.verdict == RIGHT:
            self._known("the known program")

    def _run_gang(self, name, ranks, passes=0):
        program = gang_program(f"{self.outcome.seed} {name}", "gang", ranks,
                               with_objects=set(self.session.languages) == {mpi_cells.PYTHON})  # fmt: skip
        number = self.session.next_program()
        texts = {language: mpi_cells.program_cell(program, number, language, passes)
                 for language in set(self.session.languages)}  # fmt: skip
        self.outcome.text += f"\n# {name}\n" + "\n".join(texts[language] for language in sorted(texts))
        return self.session.execute(texts.get, ranks)

    def _stop_gang(self, round_, ranks):
        cells = self._run_gang(f"round {round_}", ranks)
        if not self._comes_to("both ranks run the program", cells,
                              lambda: cells.n_done() or all("begun" in text for text in cells.printed())):  # fmt: skip
            return False
        pause = self.chance.uniform(0, 0.2)
        time.sleep(pause)  # the random moment
        interrupted = self.chance.choice([list(ranks), [self.chance.choice(ranks)]])
        self._say(f"interrupt ranks {interrupted} after {pause:.3f} s")
        interrupt = self.session.interrupt(interrupted)
        have_ended = self._have_ended("the stopped program", cells, GRACE + self.patience)
        deadlines.wait_until(interrupt.done, "the engines answer the interrupt", START)
        if have_ended:
            self._judge_stopped(cells, None)
        return have_ended

    def _stop(self, cells, give_up):
        """Stops what runs for ever, at a random moment; whether all ranks have ended."""
        if give_up:
            if not self._comes_to(f"rank {give_up[0]} raises", cells, cells.n_done):
                return False
            if self.outcome.way == RAISE_ALONE:
                return self._have_ended("the program", cells, RANKS * GRACE + self.patience)
        elif not self._comes_to("all ranks run the program", cells,
                                lambda: cells.n_done() or all("begun" in text for text in cells.printed())):  # fmt: skip
            return False
        interrupts = []
        for _ in range(2 if self.outcome.way == TWICE else 1):
            pause = self.chance.uniform(0, 0.05 if give_up else 0.2)
            time.sleep(pause)  # the random moment
            self._say(f"interrupt after {pause:.3f} s")
            interrupts.append(self.session.interrupt())
        have_ended = self._have_ended("the stopped program", cells, self.patience)
        for each in interrupts:  # none may come to a later cell
            deadlines.wait_until(each.done, "the engines answer the interrupt", START)
        return have_ended

    def _comes_to(self, what, cells, is_there):
        """Whether a program that runs gets so far."""
        try:
            deadlines.wait_until(is_there, what, max(START / 3, self.patience), 0.005)
            return True
        except AssertionError as late:
            self._worsen(HUNG, str(late))
            self._find_cause(cells)
            return False

    def _have_ended(self, what, cells, patience):
        begun = time.monotonic()
        if cells.wait(patience):
            self._say(f"{what} ended after {time.monotonic() - begun:.2f} s")
            return True
        self._worsen(HUNG, f"{what}: {len(cells) - cells.n_done()} ranks run after {patience:g} s")
        self._find_cause(cells)
        return False

    def _find_cause(self, cells):
        """Ranks that wait for one that was given something wrong do not hang."""
        self.session.interrupt()
        if not cells.wait(self.patience):
            return
        for rank, error in cells.outcomes().items():
            if error:
                self._say(f"rank {rank}, after an interrupt: {error[0]}: {error[1]}")
                if error[0] not in INTERRUPTED and is_wrong(error):
                    self.outcome.verdict = WRONG

    def _judge_stopped(self, cells, give_up):
        for rank, error in cells.outcomes().items():
            if error is None:
                self._worsen(WRONG, f"rank {rank}: a program that has no end ended ok")
            elif "by force" in error[1]:
                self._refused(rank, error)
            elif error[0] in INTERRUPTED or give_up and give_up[0] == rank and mpi_cells.RAISED in error[1]:
                self._say(f"rank {rank}: {error[0]}: {error[1]}")
            elif is_wrong(error):
                self._worsen(WRONG, f"rank {rank}: {error[0]}: {error[1]}")
            else:  # as the rank that it waited for has ended
                self._say(f"rank {rank}: {error[0]}: {error[1]}")

    def _expect_right(self, what, cells):
        for rank, error in cells.outcomes().items():
            if error:
                self._worsen(WRONG, f"{what}: rank {rank}: {error[0]}: {error[1]}")

    def _known(self, what):
        number = self.session.next_program()
        cells = self.session.execute(lambda language: mpi_cells.known_cell(number, language))
        if self._have_ended(what, cells, self.patience):
            for rank, error in cells.outcomes().items():
                if error and (is_wrong(error) or self.outcome.way == NOTHING):
                    self._worsen(WRONG, f"{what}: rank {rank}: {error[0]}: {error[1]}")
                elif error:
                    self._refused(rank, error)

    def _leftovers(self):
        """Requests that the stop left behind: they are done, or refused, and harm nothing."""
        cells = self.session.execute(mpi_cells.leftover_cell)
        if not self._have_ended("waiting for requests of the stopped program", cells, self.patience):
            return
        for rank, error in cells.outcomes().items():
            if error and is_wrong(error):
                self._worsen(WRONG, f"requests of the stopped program: rank {rank}: {error[0]}: {error[1]}")
            elif error:
                self._say(f"requests of the stopped program: rank {rank}: {error[0]}: {error[1]}")
        self._known("the known program after that")

    def _refused(self, rank, error):
        self._worsen(REFUSED, f"rank {rank} refuses: {error[0]}: {error[1]}")

    def _worsen(self, verdict, words):
        self.outcome.verdict = max(self.outcome.verdict, verdict, key=VERDICTS.index)
        self._say(words)

    def _say(self, words):
        self.outcome.story.append(words)


def is_wrong(error):
    """Whether an error tells that MPI gave something wrong, or that the engine is damaged, and is
    not the one sentence of a refusal."""
    name, text = error
    text = text.strip()
    return (name in ("Crashed", "EngineError", "AssertionError", "NameError") or not text or "\n" in text
            or bool(re.search(r"WRONG|MPI_ERR_|free\(\)|corrupt", text)))  # fmt: skip


class Runner:
    """Runs seeds one after the other; replaces the cluster when it is of no use any more."""

    def __init__(self, language, client, patience=PATIENCE, way=None, mpi=MPIS[0]):
        self.language, self.client, self.patience, self.way = language, client, patience, way
        self.mpi = mpi
        self._session = None

    def run(self, seed):
        if self._session is None:
            self._session = Session(self.language, self.client, self.mpi)
        try:
            outcome = run_seed(self._session, seed, self.client, self.patience, self.way)
        except Exception as error:  # an engine has died since the program before
            outcome = Outcome(seed, self.language, self.client, "?", WRONG, [str(error)])
        if outcome.verdict != RIGHT:
            self.close()
        return outcome

    def close(self):
        if self._session:
            self._session.close()
            self._session = None

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


def summary(outcomes):
    counts = Counter(outcome.verdict for outcome in outcomes)
    return f"{len(outcomes)} seeds: " + ", ".join(f"{counts[each]} {each}" for each in VERDICTS)
