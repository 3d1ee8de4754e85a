"""When rc.scale() returns. No cluster runs here."""

import pytest
from polyxeus.client import scaling
from polyxeus.client.methods.cluster_commands import ClusterCommands


class Asked(ClusterCommands):
    """A client whose controller knows of the scaling at the third question."""

    questions = 0

    def _cluster_options(self):
        return []

    def _comes_on_demand(self):
        self.questions += 1
        return self.questions >= 3


@pytest.mark.parametrize("arguments, questions", [((0, 4), 3), ((), 0)], ids=["set", "asked for"])
def test_it_returns_when_the_controller_knows_of_it(monkeypatch, arguments, questions):
    monkeypatch.setattr(scaling, "scale", lambda *_: {"maximum": 4})
    client = Asked()
    assert client.scale(*arguments) == {"maximum": 4}
    assert client.questions == questions
