"""The server itself, asked without fingerpost: what the other tests of this folder stand on."""

from tests.otp_server.conftest import FEED


def test_it_serves_the_feed_with_its_streets(tampere):
    """The feed's FEED, and an address-less position from which somebody can walk."""
    told = tampere.ask(
        "{ feeds { feedId } nearest(lat: 61.4978, lon: 23.761, maxDistance: 300, first: 1) "
        "{ edges { node { distance } } } }"
    )

    assert told["data"]["feeds"] == [{"feedId": FEED}]
    assert 0 <= told["data"]["nearest"]["edges"][0]["node"]["distance"] <= 300


def test_it_comes_back_on_its_port_after_it_was_killed(tampere):
    """So that whoever asks it need not be told where it is now."""
    before = tampere.url
    tampere.kill()
    assert not tampere.is_running
    tampere.start()

    assert (tampere.url, "data" in tampere.ask("{ feeds { feedId } }")) == (before, True)
