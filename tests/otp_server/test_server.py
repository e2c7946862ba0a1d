"""The server itself, asked without fingerpost: what the other tests of this folder stand on."""

from tests.otp_server.running import FEED


def test_it_serves_the_feed_with_its_streets(real):
    """The feed's FEED, and a position in the middle of the city with a stop around the corner."""
    told = real.server.ask(
        "{ feeds { feedId } nearest(lat: 61.4978, lon: 23.761, maxDistance: 300, first: 1) "
        "{ edges { node { distance } } } }"
    )

    assert told["data"]["feeds"] == [{"feedId": FEED}]
    assert 0 <= told["data"]["nearest"]["edges"][0]["node"]["distance"] <= 300
