"""A mock of an OpenTripPlanner on the loopback address: it answers each kind of question with bytes made beforehand.

It runs in a process of its own, so that its work is no part of the server's.
"""

import asyncio
import json
import sys

BEGIN = 1_773_122_400 - 8 * 3600  # the service day of 10 March 2026, in Helsinki
SHAPE = "".join(["_{rc@_d{r@", *["????_ibE_t`B"] * 20])


def _at(minute: int, delay: str | None = None) -> dict:
    return {
        "scheduledTime": f"2026-03-10T08:{minute:02d}:00+02:00",
        "estimated": None if delay is None else {"delay": delay},
    }


def _end(number: int, *, is_stop: bool = True) -> dict:
    own_id = f"MOCK:{1000 + number}"
    stop = {"gtfsId": own_id, "name": f"Stop {number}", "platformCode": "2", "wheelchairBoarding": "POSSIBLE"}
    return {
        "name": f"Stop {number}",
        "lat": 60.17 + number / 100,
        "lon": 24.94,
        "stop": stop if is_stop else None,
    }


def _leg(number: int, begin: int) -> dict:
    """Return one of five legs: walks and rides in turn."""
    made = {
        "mode": "WALK",
        "transitLeg": False,
        "distance": 200.0,
        "start": _at(begin + 4 * number),
        "end": _at(begin + 4 * number + 4),
        "from": _end(number, is_stop=number > 0),
        "to": _end(number + 1, is_stop=number < 4),
        "legGeometry": {"points": SHAPE},
        "alerts": [],
        "fareProducts": [],
        "route": None,
        "trip": None,
    }
    if number % 2 == 0:
        return made
    product = {"id": "MOCK:AB", "riderCategory": {"isDefault": True}}
    return made | {
        "mode": "BUS",
        "transitLeg": True,
        "realTime": True,
        "realtimeState": "UPDATED",
        "serviceDate": "2026-03-10",
        "headsign": "Tapiola",
        "interlineWithPreviousLeg": False,
        "pickupType": "SCHEDULED",
        "dropoffType": "SCHEDULED",
        "start": _at(begin + 4 * number, "PT1M"),
        "end": _at(begin + 4 * number + 4, "PT1M"),
        "route": {"gtfsId": "MOCK:14", "shortName": "14", "longName": None, "type": 3},
        "trip": {
            "gtfsId": f"MOCK:14-{number}",
            "tripHeadsign": "Tapiola",
            "wheelchairAccessible": "POSSIBLE",
            "arrivalStoptime": {"stop": {"name": "Tapiola"}},
        },
        "fareProducts": [
            {"id": "one", "product": {**product, "price": {"amount": 3.1, "currency": {"code": "EUR", "digits": 2}}}}
        ],
    }


def _plan() -> dict:
    page = {
        "pageInfo": {"endCursor": "A", "hasNextPage": True},
        "routingErrors": [],
        "edges": [{"node": {"legs": [_leg(number, begin) for number in range(5)]}} for begin in (5, 15)],
    }
    return {"live": page, "promised": page}


def _board() -> dict:
    trip = {
        "tripHeadsign": "Tapiola",
        "arrivalStoptime": {"stop": {"name": "Tapiola"}, "stopPositionInPattern": 20},
        "route": {"gtfsId": "MOCK:14", "shortName": "14", "longName": None, "type": 3},
        "alerts": [],
    }
    times = [
        {
            "serviceDay": BEGIN,
            "scheduledDeparture": 8 * 3600 + 60 * number,
            "departureDelay": 30,
            "realtime": True,
            "realtimeState": "UPDATED",
            "pickupType": "SCHEDULED",
            "headsign": "Tapiola",
            "stopPositionInPattern": 3,
            "trip": {"gtfsId": f"MOCK:14-{number}", **trip},
        }
        for number in range(10)
    ]
    return {
        "stops": [{"gtfsId": "MOCK:1000", "platformCode": "2", "alerts": [], "stoptimesWithoutPatterns": times}],
    }


def _stops() -> dict:
    stops = [
        {"gtfsId": f"MOCK:{1000 + number}", "name": f"Stop {number}", "lat": 60.17, "lon": 24.94, "parentStation": None}
        for number in range(STOPS)
    ]
    return {"stops": stops, "stations": []}


STOPS = 20
ANSWERS = {b"query Plan": _plan, b"query Board": _board, b"query StopsById": _stops}


def list_answers() -> dict[bytes, bytes]:
    """Return whole HTTP answers by what stands in their questions."""
    made = {}
    for word, tell in ANSWERS.items():
        body = json.dumps({"data": tell()}, separators=(",", ":")).encode()
        head = f"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
        made[word] = head.encode() + body
    return made


async def main() -> None:
    """Serve until killed; the first line printed is the port."""
    answers = list_answers()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while True:
            try:
                head = await reader.readuntil(b"\r\n\r\n")
            except asyncio.IncompleteReadError:
                break
            length = next(
                int(line.split(b":")[1]) for line in head.split(b"\r\n") if line.lower().startswith(b"content-length:")
            )
            body = await reader.readexactly(length)
            writer.write(next(answer for word, answer in answers.items() if word in body))
            await writer.drain()
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    sys.stdout.write(f"{server.sockets[0].getsockname()[1]}\n")
    sys.stdout.flush()
    await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(main())
