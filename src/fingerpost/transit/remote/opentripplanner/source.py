"""The source of networks behind OpenTripPlanner servers, Digitransit's among them."""

from functools import partial

from fingerpost.transit.remote.kit.source import ServerKind, ServerSource
from fingerpost.transit.remote.opentripplanner.learning import learn_profile
from fingerpost.transit.remote.opentripplanner.network import OpenTripPlannerNetwork
from fingerpost.transit.remote.opentripplanner.server import Server

OPENTRIPPLANNER = ServerKind(
    name="opentripplanner",
    new_server=lambda fetch, record, limits: Server(fetch, record, limits=limits),
    learn=learn_profile,
    open_network=OpenTripPlannerNetwork,
    url_option="otp",
)
OpenTripPlannerSource = partial(ServerSource, OPENTRIPPLANNER)
