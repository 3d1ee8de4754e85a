"""Cells that are stopped at random moments."""

import dataclasses
import random

SEED = 20261122
FOREVER, SHORT = 3600, 0.005  # seconds


@dataclasses.dataclass
class RandomStop:
    name: str
    code: str
    seconds: float  # for which the cell runs if nobody stops it
    delay: float  # seconds after which it is stopped
    told: str  # of this stop, for messages


def random_stops(calls, rounds, longest_delay):
    """`rounds` stops of `calls`: {name: code with {} in place of the seconds}. The same each time."""
    chance = random.Random(SEED)
    for number in range(rounds):
        name, seconds = chance.choice(list(calls)), chance.choice([SHORT, FOREVER])
        delay = chance.uniform(0, longest_delay)
        told = f"seed {SEED}, round {number}: {name}, {seconds} s, stopped after {delay:.4f} s"
        yield RandomStop(name, calls[name].format(seconds), seconds, delay, told)
