"""Coverage-guided fuzzing of everything that parses foreign bytes: each input is parsed, or refused with a ToolError.

``python bench/fuzz.py PARSER INPUTS CORPUS`` feeds a parser with mutated inputs, and stores those that reach new code
in the corpus. An input that crashes, hangs for a minute or needs 3 GB ends it, and is stored in the current folder.
"""

# ruff: noqa: E402  (imports are instrumented)
import asyncio
import io
import json
import sys
import tempfile
from contextlib import AsyncExitStack, suppress
from pathlib import Path
from types import SimpleNamespace

import atheris

sys.path.insert(0, str(Path(__file__).parents[1]))
KERNELS = [f"fingerpost.transit.{part}.kernel" for part in ("engine.gtfs.csv", "engine.raptor", "osm.streets")]
# numba cannot compile instrumented code.
with atheris.instrument_imports(include=["fingerpost"], exclude=KERNELS):
    from fingerpost.errors import ToolError
    from fingerpost.filings.companyfacts import parse_json, read_facts, read_submissions
    from fingerpost.filings.sections import read_cover_page, read_plain_text, split_sections
    from fingerpost.filings.xbrl import read_instance, read_labels
    from fingerpost.plan.catalogue import Catalogue
    from fingerpost.plan.limits import Limits
    from fingerpost.plan.records import parse_plan
    from fingerpost.plan.validation import validate_plan
    from fingerpost.store.network_records import NetworkRecordStore
    from fingerpost.transit.engine.gtfs.csv.findings import Findings
    from fingerpost.transit.engine.gtfs.csv.table import Table
    from fingerpost.transit.engine.gtfs.importer import FeedSource, import_feeds
    from fingerpost.transit.engine.gtfs.realtime.messages import FeedBytes, find_timestamp
    from fingerpost.transit.engine.gtfs.realtime.reader import read_realtime
    from fingerpost.transit.engine.gtfs.realtime.trip_matching import RealtimeIndex
    from fingerpost.transit.osm.extract_file import ignore_progress, read_objects
from tests.feeds import feed_from_drawing, timetable_from_drawing, write_feed
from tests.gtfs.mutating import DRAWING
from tests.net.local_server import answer
from tests.net.reply_server import serving_replies
from tests.osm_file import osm_text
from tests.plan.drawing import Recorder
from tests.realtime.messages import NOW
from tests.realtime.test_messages import SOUND
from tests.resilience.remote_servers import KINDS, list_questions, new_record, tools_over

FOLDER = Path(tempfile.mkdtemp(prefix="fingerpost-fuzzing-"))
INDEX = RealtimeIndex(timetable_from_drawing("line A | Alpha 08:00 | Beta 08:10"))
CATALOGUE = Catalogue.of([Recorder().tool()])
STEP = {"step_id": 1, "description": "d", "tool": "echo", "parameters": {"n": {"$ref": "k", "path": ["a"]}}}
PLAN = {"goal": "g", "steps": [STEP, {**STEP, "step_id": 2, "dependencies": [1], "done_check": "len(k) > 1"}]}
ASSETS = {"end": "2022-12-31", "val": 5, "accn": "0000000001-23-000001", "fy": 2022, "fp": "FY", "form": "10-K"}
UNITS = {"USD": [{**ASSETS, "filed": "2023-01-31"}]}
FACTS = {"cik": 1, "entityName": "A", "facts": {"us-gaap": {"Assets": {"units": UNITS}}}}
PAGE = b"<html><body><p>FORM 10-K</p><p>Item 1. Business</p><p>We sell.</p><p>Item 7. MD&amp;A</p></body></html>"
XBRL = b"""<xbrl xmlns="http://www.xbrl.org/2003/instance" xmlns:a="http://fasb.org/us-gaap/2022"><context id="c">
<entity><identifier scheme="s">1</identifier></entity><period><instant>2022-12-31</instant></period></context>
<unit id="u"><measure>iso4217:USD</measure></unit><a:Assets contextRef="c" unitRef="u">5</a:Assets></xbrl>"""
TOML = b'source = "motis"\nurl = "https://town.example?k=${KEY}"\nbounds = [1, 2, 3, 4.5]\nrealtime = ["A=https://b"]'


def parse_realtime(data):
    with suppress(ValueError):
        find_timestamp(data)
    read_realtime(INDEX, [FeedBytes(data, NOW)], NOW)


def parse_table(data):
    table = Table("F", "stops.txt", lambda: io.BytesIO(data), Findings(), len(data))
    for _line, _row in table.read_rows("stop_id", "stop_name", "stop_lat"):
        pass


def parse_archive(data):
    path = FOLDER / "feed.zip"
    path.write_bytes(data)
    import_feeds("F", [FeedSource(path)])


def parse_extract(data):
    path = FOLDER / "town.osm"
    path.write_bytes(data)
    for _found in read_objects(path, ["highway"], ["building"], "reading", ignore_progress):
        pass


def parse_plans(data):
    plan = parse_plan(data, Limits())
    validate_plan(plan, CATALOGUE, memory={}, limits=Limits())


def parse_record(data):
    path = FOLDER / "networks" / "TOWN.toml"
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(data)
    NetworkRecordStore(FOLDER).read()


def parse_filings(data):
    for read in (read_facts, read_submissions):
        with suppress(ToolError):
            read(parse_json(data, "f"), "f")


def parse_documents(data):
    for read in (read_instance, read_labels):
        with suppress(ToolError):
            read(data, "f")
    text = read_plain_text(data)
    read_cover_page(text)
    split_sections(text, "10-K")


class Upstreams:
    """Tools over each remote kind; the body of every answer is the input, or the real one with the input in it."""

    def __init__(self):
        self._loop, self._stack = asyncio.new_event_loop(), AsyncExitStack()
        self._tools = self._loop.run_until_complete(self._open())
        self._data = b""

    async def _open(self):
        async def reply(_asked):
            return answer(body=self._data, Content_Type="application/json")

        port, opened = await self._stack.enter_async_context(serving_replies(reply)), []
        for kind in KINDS:
            home = FOLDER / kind
            home.mkdir()
            over = tools_over(home, port, new_record(kind), environ={"TFL_API_KEY": "k"})
            opened.append((kind, (await self._stack.enter_async_context(over))[0]))
        return opened

    def parse(self, data):
        kind, tools = self._tools[data[0] % 3 if data else 0]
        self._data = data[1:]
        questions = [*list_questions(kind, "Stop").values()]
        tool, arguments = questions[len(data) % len(questions)]
        self._loop.run_until_complete(tools[tool].answer(arguments, user=None))


def list_seeds():
    archive = FOLDER / "seed.zip"
    write_feed(archive, feed_from_drawing(DRAWING))
    nodes = [(number, 60 + number / 1000, 25, {}) for number in range(1, 4)]
    extract = osm_text(nodes, [([1, 2, 3], {"highway": "path"})], [([(1, "outer")], {"building": "yes"})])
    asked = SimpleNamespace(target="/plan", body=b'{"query": "query Plan("}')
    bodies = [bytes([n]) + json.dumps(kind.tell(asked, "Stop")).encode() for n, kind in enumerate(KINDS.values()) if n]
    return {
        "realtime": (parse_realtime, [SOUND]),
        "table": (parse_table, [b'stop_id,stop_name,stop_lat\r\nA,"Al ""x"", B",60.1\nB,,-8\n']),
        "archive": (parse_archive, [archive.read_bytes()]),
        "extract": (parse_extract, [extract.encode()]),
        "plan": (parse_plans, [json.dumps(PLAN).encode()]),
        "record": (parse_record, [TOML]),
        "filings": (parse_filings, [json.dumps(FACTS).encode()]),
        "documents": (parse_documents, [PAGE, XBRL]),
        "upstream": (lambda data: UPSTREAMS.parse(data), bodies),
    }


if __name__ == "__main__":
    name, inputs, corpus = sys.argv[1:4]
    parse, seeds = list_seeds()[name]
    if name == "upstream":
        UPSTREAMS = Upstreams()
    Path(corpus).mkdir(parents=True, exist_ok=True)
    for number, seed in enumerate(seeds):
        (Path(corpus) / f"seed{number}").write_bytes(seed)

    def check(data):
        with suppress(ToolError):
            parse(data)

    atheris.Setup([sys.argv[0], f"-runs={inputs}", "-timeout=60", "-rss_limit_mb=3000", "-max_len=4096", corpus], check)
    atheris.Fuzz()
