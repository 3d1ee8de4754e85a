"""What arrives is what was sent, although both sides change it at once: a short run of check_transfers.py."""

import pytest
import transfers


@pytest.fixture(scope="module")
def beds(folder):
    with transfers.beds(["near", "bytes", "tcp"]) as beds:
        yield {bed.name: bed for bed in beds}


@pytest.mark.parametrize("way", transfers.WAYS, ids=lambda way: way.__name__)
@pytest.mark.parametrize("bed", ["near", "bytes", "tcp"])
def test_what_arrives_is_what_was_sent(beds, bed, way):
    draw = transfers.Draw(1, large=0.02)
    rights = [right for _ in range(2) for right in way(beds[bed], draw)]
    assert rights and all(rights)
