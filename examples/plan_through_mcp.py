"""Plan a trip the way an agent does: start the MCP server, look at its tools, call one, read the answer.

    python examples/plan_through_mcp.py [FROM TO]

Needs no key and no network. Without FINGERPOST_HOME, everything is kept in a temporary folder.
"""

import asyncio
import os
import sys
import tempfile
from datetime import datetime
from pathlib import Path

from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client


async def main(origin: str, destination: str, home: str) -> int:
    """Plan one trip and print it; return the exit status."""
    server = StdioServerParameters(
        command=str(Path(sys.executable).with_name("fingerpost")),
        args=["serve"],
        env={**os.environ, "FINGERPOST_HOME": home},
    )
    async with Client(stdio_client(server)) as client:
        tools = await client.list_tools()
        print(f"The server offers {len(tools.tools)} tools: {', '.join(tool.name for tool in tools.tools)}.")
        print(
            "Asking plan_trip. On a fresh machine the first answers take some seconds, while the engine is compiled.\n"
        )
        question = {
            "origin": {"type": "label", "value": origin},
            "destination": {"type": "label", "value": destination},
        }
        result = await client.call_tool("plan_trip", question)
    if result.is_error:
        print(result.content[0].text, file=sys.stderr)
        return 1
    show(result.structured_content)
    return 0


def show(plan: dict) -> None:
    """Print a plan as a person reads it."""
    asked = datetime.fromisoformat(plan["requested"]["time"])
    print(f"{plan['origin']['name']} to {plan['destination']['name']}, {asked:%A %d %B %Y}, from {asked:%H:%M}")
    for number, itinerary in enumerate(plan["itineraries"], 1):
        changes = itinerary["numberOfTransfers"]
        told_changes = f"{changes} {'change' if changes == 1 else 'changes'}"
        minutes = round(itinerary["totalDuration"] / 60)
        print(f"\n{number}. {minutes} min, {told_changes}, {itinerary['walkingDistance']} m on foot")
        for leg in itinerary["legs"]:
            print(f"   {clock(leg['departureTime'])}  {describe_leg(leg)}")
        last = itinerary["legs"][-1]
        print(f"   {clock(last['arrivalTime'])}  {last['to']['name']}")
    print()
    for said in [*(each["message"] for each in plan.get("warnings", [])), *plan["meta"].get("notes", [])]:
        print(f"! {said}")


def describe_leg(leg: dict) -> str:
    """Return what to do on a leg."""
    if leg["mode"] == "WALK":
        return f"walk {leg['distance']} m to {leg['to']['name']}"
    late = f", {leg['delaySeconds'] // 60} min late" if leg["status"] == "delayed" else ""
    gone = ", CANCELLED" if leg["status"] == "cancelled" else ""
    return f"{leg['mode']} {leg['line']} towards {leg['headsign']}, to {leg['to']['name']}{late}{gone}"


def clock(instant: str) -> str:
    """Return the local time of day."""
    return datetime.fromisoformat(instant).strftime("%H:%M")


if __name__ == "__main__":
    ends = sys.argv[1:3] if len(sys.argv) > 2 else ["Kamppi", "Espoo"]
    with tempfile.TemporaryDirectory() as temporary:
        sys.exit(asyncio.run(main(*ends, os.environ.get("FINGERPOST_HOME") or temporary)))
