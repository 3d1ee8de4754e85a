"""Sets how many engines a cluster may have."""

from __future__ import annotations

import json

from polyxeus.client import pxcluster

__all__ = ["scale"]


def _count(name, value):
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise TypeError(f"{name} must be a number of engines, not {value!r:.80}")
    return str(value)


def scale(command, minimum, maximum, idle):
    """Runs `pxcluster scale` and returns its answer as a dict.

    command           "scale" and the options that name the cluster
    minimum, maximum  numbers of engines; if both are None, the call only returns the state
    idle              the idle time in seconds, or None
    """
    options = []
    if minimum is not None or maximum is not None:
        options = [_count("minimum", minimum), _count("maximum", maximum)]
        if minimum > maximum:
            raise ValueError(f"the minimum, {minimum}, is larger than the maximum, {maximum}")
    if idle is not None:
        if isinstance(idle, bool) or not isinstance(idle, (int, float)) or not 0 <= idle <= 1e9:
            raise TypeError(f"idle must be a number of seconds, not {idle!r:.80}")
        if not options:
            raise TypeError("idle= needs minimum and maximum: rc.scale(0, 8, idle=60)")
        options.append(f"--idle={idle:f}s")
    return json.loads(pxcluster.run([*command, *options, "--json"]))
