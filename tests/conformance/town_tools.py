"""The tools over a network behind a server, from the question to the contract's answer."""

from contextlib import asynccontextmanager

from fingerpost.apps.wiring import list_tools
from fingerpost.net.loop_clients import LoopClients
from fingerpost.store.network_records import NetworkRecordStore
from fingerpost.store.variables import VariableStore
from fingerpost.transit.learned_profile import LearnedProfiles
from fingerpost.transit.networks.composite import AllNetworks
from tests.homes import write_record
from tests.throwaway.conformance import new_client


@asynccontextmanager
async def tools_over(home, record, new_source, port):
    """Add a network that answers at a port, and yield the tools by name; ``new_source`` is given what fetches."""
    async with new_client(port) as client:
        LearnedProfiles(home).put(record, await new_source(client.fetch).learn(record))
    write_record(home, record.name, source=record.source, url=record.url)
    clients = LoopClients(lambda: new_client(port))
    networks = AllNetworks(
        NetworkRecordStore(home),
        lambda: {record.source: new_source(clients.fetch)},
        learned=LearnedProfiles(home),
        clients=clients,
    )
    try:
        yield {tool.name: tool for tool in list_tools(networks, VariableStore(home / "variables.sqlite"))}
    finally:
        await networks.close()
