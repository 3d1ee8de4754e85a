"""Lanes: the groups of one lane run one after another, the lanes side by side."""

import threading


class Blocked(Exception):
    """A group that was needed did not succeed; the text names it."""


def check(lanes, needs):
    """Raises ValueError where the lanes cannot be run to their end.

    `lanes`: {lane: [group]}; `needs`: {group: names of the groups that must have ended well}.
    """
    groups = [group for lane in lanes.values() for group in lane]
    if len(groups) != len(set(groups)):
        raise ValueError("a group is in two lanes")
    for group in groups:
        for need in needs.get(group, ()):
            if need not in groups:
                raise ValueError(f"{group} needs {need}, which is in no lane")
    waiting, done = {name: list(lane) for name, lane in lanes.items()}, set()
    while any(waiting.values()):
        ready = [lane for lane in waiting.values() if lane and done.issuperset(needs.get(lane[0], ()))]
        if not ready:
            stuck = sorted(lane[0] for lane in waiting.values() if lane)
            raise ValueError(f"these groups wait for each other: {', '.join(stuck)}")
        for lane in ready:
            done.add(lane.pop(0))


def run(lanes, needs, run_group, block_group):
    """Runs all groups and returns when the last has ended.

    `run_group(name)` runs a group and says whether it succeeded (for those that need it);
    `block_group(name, need)` is called in its place where `need` did not succeed. Both are called
    from the thread of the group's lane. What a call raises ends its lane and is raised at the end.
    """
    check(lanes, needs)
    changed = threading.Condition()
    succeeded = {}  # group -> whether it did
    raised = []

    def failed_need(name):
        """Waits until all that `name` needs has ended; gives the first that failed."""
        with changed:
            changed.wait_for(lambda: all(need in succeeded for need in needs.get(name, ())))
            return next((need for need in needs.get(name, ()) if not succeeded[need]), None)

    def run_lane(groups):
        for name in groups:
            is_good = False
            try:
                need = failed_need(name)
                if need:
                    block_group(name, need)
                else:
                    is_good = bool(run_group(name))
            except BaseException as error:  # noqa: B902  the other lanes must not wait for ever
                raised.append(error)
            with changed:
                succeeded[name] = is_good
                changed.notify_all()

    threads = [threading.Thread(target=run_lane, args=(groups,)) for groups in lanes.values()]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if raised:
        raise raised[0]
