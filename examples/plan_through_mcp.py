"""Plan a trip as an agent does: start the MCP server, list its tools, call one, and read the answer.

    python examples/plan_through_mcp.py [FROM TO]

Works offline and without a key. Without FINGERPOST_HOME, data is stored in a temporary folder.
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
    """Plan one trip, print it, and return the exit status."""
    server = StdioServerParameters(
        command=str(Path(sys.executable).with_name("fingerpost")),
        args=["serve"],
        env={**os.environ, "FINGERPOST_HOME": home},
    )
    async with Client(stdio_client(server)) as client:
        tools = await client.list_tools()
        print(f"The server offers {len(tools.tools)} tools: {', '.join(tool.name for tool in tools.tools)}.")
        print("Calling plan_trip. The first answers may take a few seconds, because the engine is being compiled.\n")
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
    """Print the itineraries of an answer."""
    asked = datetime.fromisoformat(plan["requested"]["time"])
    print(f"{plan['origin']['name']} to {plan['destination']['name']}, {asked:%A %d %B %Y}, from {asked:%H:%M}")
    for number, itinerary in enumerate(plan["itineraries"], 1):
        changes = itinerary["numberOfTransfers"]
        change_text = f"{changes} {'change' if changes == 1 else 'changes'}"
        minutes = round(itinerary["totalDuration"] / 60)
        print(f"\n{number}. {minutes} min, {change_text}, {itinerary['walkingDistance']} m on foot")
        for leg in itinerary["legs"]:
            print(f"   {clock(leg['departureTime'])}  {describe_leg(leg)}")
        last = itinerary["legs"][-1]
        print(f"   {clock(last['arrivalTime'])}  {last['to']['name']}")
    print()
    for sentence in [*(warning["message"] for warning in plan.get("warnings", [])), *plan["meta"].get("notes", [])]:
        print(f"! {sentence}")


def describe_leg(leg: dict) -> str:
    """Describe a leg in one line."""
    if leg["mode"] == "WALK":
        return f"walk {leg['distance']} m to {leg['to']['name']}"
    late = f", {leg['delaySeconds'] // 60} min late" if leg["status"] == "delayed" else ""
    gone = ", CANCELLED" if leg["status"] == "cancelled" else ""
    return f"{leg['mode']} {leg['line']} towards {leg['headsign']}, to {leg['to']['name']}{late}{gone}"


def clock(instant: str) -> str:
    """Format the local time of day."""
    return datetime.fromisoformat(instant).strftime("%H:%M")


if __name__ == "__main__":
    ends = sys.argv[1:3] if len(sys.argv) > 2 else ["Kamppi", "Espoo"]
    with tempfile.TemporaryDirectory() as temporary:
        sys.exit(asyncio.run(main(*ends, os.environ.get("FINGERPOST_HOME") or temporary)))
