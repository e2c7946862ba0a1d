"""Run a command again and again in forked processes, each with one fault at another system call or SQL statement.

At a statement that writes, the process is killed, or the disk fails from then on: SQLite's own writes, and all others.
``python -m tests.faults.crash_points COMMAND FOLDER EVERY`` prints the faults after which a home is neither as before
nor as after the command, or after which the command does not succeed when it is repeated.
"""

import errno
import json
import os
import pkgutil
import re
import resource
import shutil
import signal
import sqlite3
import sys
from collections import Counter
from functools import partial
from importlib import import_module
from pathlib import Path

import fingerpost
from fingerpost.apps.cli import filings_commands
from fingerpost.apps.warm_up import load_kernels
from fingerpost.filings.sync import Edgar
from tests.apps.feed_server import serving_feeds
from tests.feeds import feed_from_drawing, write_feed
from tests.net.test_filings_sync import CIK, SUBMISSIONS, TICKERS, facts
from tests.osm_file import osm_text

TOWN = {"Alpha": (41.0, -8.00), "Beta": (41.0, -8.02), "Gamma": (41.0, -8.04)}
OLD = "line 1 | Alpha 08:00 | Beta 08:10 | Gamma 08:20"
NEW = f"{OLD}\nline 1 | Alpha 07:40 | Beta 07:45 | Gamma 07:50"
PLAN = {"goal": "Wait", "steps": [{"step_id": 1, "description": "May we?", "agent": "human"}]}
ASSETS = {"end": "2022-12-31", "val": 5, "accn": "0000000001-23-000001", "fy": 2022, "fp": "FY", "form": "10-K"}
FACTS = {"us-gaap": {"Assets": {"units": {"USD": [{**ASSETS, "filed": "2023-01-31"}]}}}}
EDGAR = {
    "/files/company_tickers.json": TICKERS,
    f"/submissions/CIK{CIK:010d}.json": SUBMISSIONS,
    f"/api/xbrl/companyfacts/CIK{CIK:010d}.json": facts(2024),
}

TRIP = ("plan", "TOWN:ALPHA", "TOWN:GAMMA", "--at", "2026-03-10T07:30", "--limit", "1")
ADD_OLD = ("network", "add", "TOWN", "{folder}/old.zip")
RUN = ("run", "{folder}/plan.json")
# The process is killed before the run begins.
BEGUN = (*RUN, "--json")
STOP = {"name": "Alpha", "stopId": "a_1", "lat": 41.0, "lon": -8.0, "tz": "Europe/Lisbon", "modes": ["BUS"]}
MOTIS = {"/api/v1/map/initial": {"lat": 41.0, "lon": -8.0}, "/api/v6/map/stops": [STOP]}
# The commands before, the command, and those whose output shows the state.
COMMANDS = {
    "add": ((), ADD_OLD, (TRIP,)),
    "add again": ((ADD_OLD,), ("network", "add", "TOWN", "{folder}/new.zip"), (TRIP,)),
    "add streets": ((ADD_OLD,), (*ADD_OLD, "--streets", "{folder}/town.osm"), (TRIP, ("network", "show", "TOWN"))),
    "add a server": ((), ("network", "add", "TOWN", "--motis", "{server}"), (("network", "show", "TOWN"),)),
    "refresh": ((("network", "add", "TOWN", "{folder}/town.zip"),), ("network", "refresh", "TOWN"), (TRIP,)),
    "remove": ((ADD_OLD,), ("network", "remove", "TOWN"), (TRIP,)),
    "save": ((), ("vars", "set", "home", "41.0,-8.0"), (("vars", "list"),)),
    "delete": ((("vars", "set", "home", "41.0,-8.0"),), ("vars", "delete", "home"), (("vars", "list"),)),
    "load": ((), ("filings", "load", "{folder}/facts.json", "--ticker", "TOWN"), (("filings", "list"),)),
    "sync": ((), ("filings", "sync", "TOWN"), (("filings", "list"),)),
    "run": ((), RUN, (("runs", "list"),)),
    "resume": ((BEGUN,), ("runs", "resume", "{run}"), (("runs", "list"),)),
    "approve": ((RUN,), ("runs", "approve", "{run}", "1"), (("runs", "list"),)),
    "cancel": ((RUN,), ("runs", "cancel", "{run}"), (("runs", "list"),)),
}
CALLS = ("fsync", "replace", "rename", "unlink", "mkdir", "rmdir")
STATEMENT = "statement"
KILLED = 137
# The record is written after the timetable; in between, the new one answers with a warning, and `show` has the old one.
_OLD_RECORD = re.compile(
    r"^(.* was prepared from different [a-z ]+ than its record lists; .*|  extract = .*)\n", re.MULTILINE
)
# A run has another id each time.
_VARYING = re.compile(r"(, changed )?\d{4}-\d\d-\d\dT[\d:+]+|[0-9a-f-]{36}")
FAULTS = {"killed": None, "EIO": errno.EIO, "ENOSPC": errno.ENOSPC}
NO_LIMIT = (resource.RLIM_INFINITY, resource.RLIM_INFINITY)


class Fault:
    """Counts system calls, and fails or ends the process at one of them."""

    def __init__(self, call="", number=0, code=None, killed_by=None):
        self._call, self._number, self._code, self._killed_by = call, number, code, killed_by
        self.counts = Counter()

    def install(self):
        for call in CALLS:
            setattr(os, call, self._wrap(call, getattr(os, call)))
        connect = sqlite3.connect

        def connect_counted(*args, **kwargs):
            connection = connect(*args, **kwargs)
            connection.set_trace_callback(self._count_statement)
            return connection

        sqlite3.connect = connect_counted

    def _count_statement(self, statement):
        if statement.startswith(("SELECT", "PRAGMA", "--")):
            return
        if self._killed_by is not None and self._killed_by in statement:
            os._exit(KILLED)
        self.counts[STATEMENT] += 1
        if (STATEMENT, self.counts[STATEMENT]) == (self._call, self._number):
            if self._code is None:
                os._exit(KILLED)
            resource.setrlimit(resource.RLIMIT_FSIZE, (0, resource.RLIM_INFINITY))

    def _wrap(self, call, original):
        def counted(*args, **kwargs):
            self.counts[call] += 1
            if (call, self.counts[call]) == (self._call, self._number):
                if self._code is None:
                    os._exit(KILLED)
                raise OSError(self._code, os.strerror(self._code))
            return original(*args, **kwargs)

        return counted


def run_forked(arguments, home, fault=None):
    """Return the status, the output and the counted calls of a command that runs in a forked process."""
    counts = home.with_suffix(".counts")
    counts.write_text("{}")
    reader, writer = os.pipe()
    if not (child := os.fork()):
        signal.alarm(300)
        os.dup2(writer, 1)
        os.dup2(writer, 2)
        os._exit(_run(arguments, home, fault or Fault(), counts))
    os.close(writer)
    with os.fdopen(reader) as file:
        output = file.read()
    _, status = os.waitpid(child, 0)
    return os.waitstatus_to_exitcode(status), output, json.loads(counts.read_text())


def _run(arguments, home, fault, counts):
    from fingerpost.apps.cli import main

    os.environ["FINGERPOST_HOME"] = str(home)
    names = {"folder": home.parent, "run": os.environ.get("FAULT_RUN"), "server": os.environ["FAULT_SERVER"]}
    sys.argv = ["fingerpost", *(word.format(**names) for word in arguments)]
    fault.install()
    try:
        main()
        code = 0
    except SystemExit as end:
        code = end.code or 0
    sys.stdout.flush()
    resource.setrlimit(resource.RLIMIT_FSIZE, NO_LIMIT)
    counts.write_text(json.dumps(fault.counts))
    return code


def observe(commands, home):
    seen = [run_forked(command, home)[:2] for command in commands]
    return [(status, {*_OLD_RECORD.sub("", _VARYING.sub("", output)).splitlines()}) for status, output in seen]


def list_files(home):
    """Return the relative paths in a home, without the ids in them."""
    return {re.sub("[0-9a-f-]{32,}", "", str(path.relative_to(home))) for path in home.rglob("*")}


def find_violations(name, folder, every):
    before, command, observing = COMMANDS[name]
    for feed, drawing in (("old", OLD), ("new", NEW), ("town", OLD)):
        write_feed(folder / f"{feed}.zip", feed_from_drawing(drawing, coordinates=TOWN))
    nodes = [(number, 41.0, -8 - number / 1000, {}) for number in range(41)]
    (folder / "town.osm").write_text(osm_text(nodes, [([*range(41)], {"highway": "footway"})]))
    (folder / "facts.json").write_text(json.dumps({"cik": 1, "entityName": "Town", "facts": FACTS}))
    (folder / "plan.json").write_text(json.dumps(PLAN))
    template, home = folder / "template", folder / "home"
    template.mkdir()
    run_id = ""
    for step in before:
        fault = Fault(killed_by="INSERT INTO plan_event") if step is BEGUN else None
        status, output, _ = run_forked(step, template, fault)
        assert status == (KILLED if fault else 0), output
        if fault:
            output = run_forked(("runs", "list"), template)[1]
        os.environ["FAULT_RUN"] = run_id = "".join(re.findall("[0-9a-f-]{36}", output)[:1])
    shutil.copy(folder / "new.zip", folder / "town.zip")
    old = observe(observing, _copy(template, home))
    status, output, counts = run_forked(command, _copy(template, home), Fault())
    new, files = observe(observing, home), list_files(home)
    assert (status, old != new) == (0, True), output
    points = [
        (fault, call, number)
        for fault in FAULTS
        for call in (*CALLS, STATEMENT)
        if (fault, call) != ("ENOSPC", STATEMENT)
        for number in range(1, counts.get(call, 0) + 1)
    ]
    violations = []
    for fault, call, number in points[::every]:
        _copy(template, home)
        status, output, _ = run_forked(command, home, Fault(call, number, FAULTS[fault]))
        state = observe(observing, home)
        # A command may begin or decide a run, and not carry it on.
        is_interrupted = command[0] in ("run", "runs") and " interrupted " in str(state)
        stored = (
            re.findall("([0-9a-f-]{36}) interrupted", run_forked(("runs", "list"), home)[1]) if name == "run" else []
        )
        os.environ["FAULT_RUN"] = (stored or [run_id])[0]
        again, repeated, _ = run_forked(("runs", "resume", "{run}") if stored else command, home)
        problems = [
            *(["a traceback"] if "Traceback" in output + repeated else []),
            *([f"status {status}"] if status not in (0, 1, KILLED) else []),
            *(["the fault is not named"] if status == 1 and not _names(output, fault, call) else []),
            *(["neither old nor new"] if state not in (old, new) and not is_interrupted else []),
            *(["success, but old"] if status == 0 and state != new else []),
            *([f"the repetition ends with {again}"] if again and state != new else []),
            *(["the repetition is not new"] if observe(observing, home) != new else []),
            *(["litter is left"] if not again and list_files(home) - files else []),
        ]
        if problems:
            outputs = {"output": output[-2000:], "repeated": repeated[-2000:]}
            violations.append({"fault": f"{fault} {call} {number}", "problems": problems, **outputs})
    return {"points": counts, "tried": len(points[::every]), "violations": violations}


def _names(output, fault, call):
    return ("disk" if call == STATEMENT else os.strerror(FAULTS[fault])) in output


def _copy(template, home):
    shutil.rmtree(home, ignore_errors=True)
    shutil.copytree(template, home)
    return home


def _import_everything():
    """Import and load compiled code before the forks, so that each of them begins at once."""
    for module in pkgutil.walk_packages(fingerpost.__path__, "fingerpost."):
        if not any(part in module.name for part in ("__main__", "dbos", ".apps.mcp", "postgres", "pytest")):
            import_module(module.name)
    load_kernels()


if __name__ == "__main__":
    _, name, folder, every = sys.argv
    _import_everything()
    with serving_feeds() as edgar:
        edgar.contents = {path: json.dumps(content).encode() for path, content in (EDGAR | MOTIS).items()}
        os.environ["FAULT_SERVER"] = edgar.url
        filings_commands.Edgar = partial(Edgar, data=edgar.url, www=edgar.url)
        os.environ |= {"FINGERPOST_PRIVATE_HOSTS": "127.0.0.1", "FINGERPOST_SEC_CONTACT": "ops@example.org"}
        print(json.dumps(find_violations(name, Path(folder), int(every))))
