"""rc.jobs() and rc.get_result(label=...): what a client that has gone had submitted."""

import pytest
from deadlines import wait_until


@pytest.fixture
def gate(rc, tmp_path):
    """Opens the gate for which the cell of submit() waits."""
    rc[:].push({"gate": str(tmp_path / "gate")}, block=True)
    yield (tmp_path / "gate").touch


def submit(running, label):
    """A client that is closed while its cell runs; gives its session."""
    with running.connect_client_sync() as client:
        client.wait_for_engines(4, timeout=60)
        code = (
            "import os, time\nwhile not os.path.exists(gate):\n    time.sleep(0.01)\n"
            "print('the output')\n40 + 2"
        )
        client[:].execute(code, silent=False, label=label)
        client[:].apply_async(len, "four").wait_for_send()
        return client._connection.session_id


def test_another_client_sees_what_is_unfinished_and_gets_its_results(running, rc, gate):
    session = submit(running, "my label")
    wait_until(lambda: len(rc.jobs(session=session)) == 2, "the controller has both requests", 20)
    jobs = rc.jobs(session=session[:12])
    cell, call = sorted(jobs, key=lambda job: job["submitted"])
    assert (cell["label"], cell["kind"], cell["session"]) == ("my label", "execute", session)
    assert (cell["engines"], cell["text"]) == ([0, 1, 2, 3], "import os, time")
    assert cell["running"] + cell["waiting"] == len(cell["msg_ids"]) == 4
    assert (call["kind"], call["text"], call["waiting"]) == ("call", "len()", 4)
    assert "my label" in str(jobs)
    assert [job["msg_ids"] for job in rc.jobs(label="my label", session=session)] == [
        cell["msg_ids"]
    ]
    gate()
    result = rc.get_result(label="my label", session=session)
    assert [reply.execute_result["data"]["text/plain"] for reply in result.get(60)] == ["42"] * 4
    assert result.stdout == ["the output\n"] * 4
    assert rc.get_result(session=session).get(60)[4:] == [4] * 4
    assert list(rc.jobs(session=session)) == []
    assert {job["kind"] for job in rc.jobs(all=True, session=session)} == {"execute", "call"}
    with pytest.warns(DeprecationWarning, match=r"the old name of rc.jobs\(\)"):
        assert list(rc.unfinished(session=session)) == []
    assert str(rc.jobs(session=session)) == "no jobs"


def test_what_nobody_has_submitted_is_an_error(rc):
    with pytest.raises(KeyError, match="no record of a request with the label 'nobody'"):
        rc.get_result(label="nobody")
    with pytest.raises(TypeError, match="not both"):
        rc.get_result(0, label="nobody")
    with pytest.raises(TypeError, match="a session must be text"):
        rc.jobs(session=3)
