"""The source of networks behind MOTIS servers, Transitous among them."""

from functools import partial

from fingerpost.transit.remote.kit.source import ServerKind, ServerSource
from fingerpost.transit.remote.motis.learning import learn_profile
from fingerpost.transit.remote.motis.network import MotisNetwork
from fingerpost.transit.remote.motis.server import MotisServer

MOTIS = ServerKind(
    name="motis",
    new_server=lambda fetch, record, limits: MotisServer(fetch, record, limits=limits),
    learn=learn_profile,
    open_network=MotisNetwork,
    url_option="motis",
)
MotisSource = partial(ServerSource, MOTIS)
