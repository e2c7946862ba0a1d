"""The address of a server as ``fingerpost network add`` stores it."""

import pytest

from fingerpost.errors import ParameterError
from fingerpost.transit.remote.motis.transitous import MOTIS
from fingerpost.transit.remote.opentripplanner.digitransit import OTP


@pytest.mark.parametrize(
    ("option", "typed", "url"),
    [
        (MOTIS, "http://localhost:8080", "http://localhost:8080"),
        (MOTIS, " http://localhost:8080/ ", "http://localhost:8080"),
        (MOTIS, "https://motis.example/api/v1", "https://motis.example"),
        (MOTIS, "https://motis.example/region/api/", "https://motis.example/region"),
        (MOTIS, "https://motis.example/api?k=${MY_KEY}", "https://motis.example?k=${MY_KEY}"),
        (MOTIS, "https://motis.example/apiary", "https://motis.example/apiary"),
        (OTP, "http://localhost:8080/", "http://localhost:8080/otp/gtfs/v1"),
        (OTP, " https://otp.example/otp/ ", "https://otp.example/otp/gtfs/v1"),
        (OTP, "https://otp.example/routers/x/index/graphql", "https://otp.example/routers/x/index/graphql"),
        (OTP, "https://otp.example?k=${MY_KEY}", "https://otp.example/otp/gtfs/v1?k=${MY_KEY}"),
    ],
)
def test_an_address_is_the_servers_own(option, typed, url):
    assert option.fill(typed) == {"url": url}


@pytest.mark.parametrize("option", [MOTIS, OTP], ids=lambda option: option.name)
@pytest.mark.parametrize("typed", ["a.example", "ftp://a.example", "https://a.example?apikey=abcdef"])
def test_an_address_that_cannot_be_used_is_refused(option, typed):
    with pytest.raises(ParameterError):
        option.fill(typed)
