"""The last lines of a run: what did not run and why, a table, flaky tests, failures, the totals."""

from dataclasses import dataclass, field

from .cases import FAILED, FLAKY, SKIPPED
from .verdicts import MOST_FLAKY, too_many_are_flaky, totals


@dataclass
class Result:
    """What came of one group. `why_not`: why it did not run. `notes`: more to tell about it."""

    group: str
    cases: list = field(default_factory=list)
    seconds: float = 0.0
    why_not: str = ""
    notes: list = field(default_factory=list)


def counts(cases):
    """The counts of some cases, in words."""
    return "%d passed, %d failed, %d skipped" % totals(cases)


def last_lines(results):
    """-> [line]; the last is `N passed, N failed, N skipped`, right behind the names of what failed."""
    cases = [case for result in results for case in result.cases]
    lines = _not_run(results) + _notes(results) + _table(results)
    flaky = _named(results, FLAKY)
    if flaky:
        lines += [f"== flaky: failed first, passed alone ({len(flaky)}, at most {MOST_FLAKY} may be)", *flaky]
    if too_many_are_flaky(cases):
        lines.append(f"   more than {MOST_FLAKY} tests are flaky: they count as failed")
    failed = _named(results, FAILED)
    if failed:
        lines += ["== failed", *failed]
    return [*lines, counts(cases)]


def exit_code(results):
    """0 where tests ran and none failed."""
    passed, failed, _ = totals([case for result in results for case in result.cases])
    return 0 if passed and not failed else 1


def _not_run(results):
    reasons = {}
    for result in results:
        for case in result.cases:
            if case.outcome == SKIPPED:
                of_reason = reasons.setdefault(case.reason or "no reason given", {})
                of_reason[result.group] = of_reason.get(result.group, 0) + 1
    lines = [
        f"  {sum(groups.values()):4d} skipped in {', '.join(groups)}: {reason}"
        for reason, groups in sorted(reasons.items(), key=lambda item: -sum(item[1].values()))
    ]
    whole = {}
    for result in results:
        if result.why_not:
            whole.setdefault(result.why_not, []).append(result.group)
    lines += [f"   all of {', '.join(groups)}: {reason}" for reason, groups in whole.items()]
    return ["== not run", *lines] if lines else []


def _notes(results):
    notes = [f"   {result.group}: {note}" for result in results for note in result.notes]
    return ["== to do", *notes] if notes else []


def _named(results, outcome):
    return [f"   {result.group}: {case.name}{f'  ({case.reason[:200]})' if case.reason else ''}"
            for result in results for case in result.cases if case.outcome == outcome]  # fmt: skip


def _table(results):
    lines = ["== %-18s %7s %7s %7s %7s %7s" % ("group", "passed", "failed", "skipped", "flaky", "time")]
    for result in results:
        if result.why_not:
            lines.append("   %-18s not run" % result.group)
            continue
        flaky = sum(case.outcome == FLAKY for case in result.cases)
        passed = sum(case.outcome == "passed" for case in result.cases)
        failed = sum(case.outcome == FAILED for case in result.cases)
        skipped = sum(case.outcome == SKIPPED for case in result.cases)
        numbers = (result.group, passed, failed, skipped, flaky, result.seconds)
        lines.append("   %-18s %7d %7d %7d %7d %5.0f s" % numbers)
    return lines
