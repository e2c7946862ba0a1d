"""The responses of the web page's server, without a browser: headers, files, and who may call."""

import re
from hashlib import sha256

import httpx2
import pytest

from fingerpost.apps.views.page import Site
from tests.apps.clients import calling
from tests.apps.conftest import write_town
from tests.apps.processes import COMMAND, serving

HOST = "http://127.0.0.1:8000"
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
    "img-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)


async def test_the_page_can_reach_only_its_own_server(application):
    async with calling(application, site=Site()) as client:
        document = await client.get("/?from=Kamppi&to=Espoo")

    assert document.headers["content-security-policy"] == POLICY
    assert document.headers["x-content-type-options"] == "nosniff"


async def test_every_module_that_a_module_imports_is_served(application):
    async with calling(application, site=Site()) as client:
        document = (await client.get("/")).text
        waiting = re.findall(r'(?:src|href)="(/assets/[^"]+)"', document)
        seen = {}
        while waiting:
            path = waiting.pop()
            if path in seen:
                continue
            found = await client.get(path)
            seen[path] = (found.status_code, found.headers["content-type"].partition(";")[0])
            folder = path.rpartition("/")[0]
            for name in re.findall(r"""(?:from|import\()\s*"(\.{1,2}/[\w./]+)""", found.text):
                base = folder.rpartition("/")[0] if name.startswith("../") else folder
                waiting.append(f"{base}/{name.lstrip('./')}")

    assert {status for status, _ in seen.values()} == {200}
    assert {"/assets/trip.js", "/assets/board.js", "/assets/web/main.js"} <= seen.keys()
    types = {path.rpartition(".")[2]: media_type for path, (_, media_type) in seen.items()}
    assert types == {"js": "text/javascript", "css": "text/css", "svg": "image/svg+xml"}


@pytest.mark.parametrize("path", ["/assets/", "/assets/web", "/assets/../page.py", "/assets/%2e%2e/page.py"])
async def test_only_the_pages_files_are_served(application, path):
    async with calling(application, site=Site()) as client:
        assert (await client.get(path)).status_code == 404


async def test_a_file_that_has_not_changed_is_not_sent_again(application):
    async with calling(application, site=Site()) as client:
        first = await client.get("/assets/trip.js")
        again = await client.get("/assets/trip.js", headers={"if-none-match": first.headers["etag"]})
        changed = await client.get("/assets/trip.js", headers={"if-none-match": '"other"'})

    assert (first.status_code, again.status_code, changed.status_code) == (200, 304, 200)
    assert (first.headers["cache-control"], again.content) == ("no-cache", b"")
    # Not by time and size: reproducible packages give the files of all versions one time.
    assert first.headers["etag"] == f'"{sha256(first.content).hexdigest()}"'


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({}, 200),
        ({"origin": HOST}, 200),
        ({"origin": "http://evil.example"}, 403),
        ({"origin": "null"}, 403),
        ({"host": "evil.example"}, 421),
        ({"content-type": "text/plain"}, 400),
        ({"content-type": "application/x-www-form-urlencoded"}, 400),
    ],
    ids=str,
)
async def test_no_other_site_can_call_tools_through_a_visitors_browser(application, headers, status):
    """DNS rebinding comes with a foreign host, forgery with a foreign origin or with what a form can send."""
    body = b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"get_user_variables","arguments":{}}}'
    sent = {"content-type": "application/json", "accept": "application/json", **headers}
    async with calling(application, site=Site()) as client:
        answer = await client.post("/mcp", content=body, headers=sent)

    assert answer.status_code == status


def test_one_command_adds_a_feed_serves_the_page_and_prints_its_address(tmp_path):
    command = [*COMMAND, "web", "--port", "0", "--feed", str(write_town(tmp_path))]
    with serving(*command, FINGERPOST_HOME=str(tmp_path)) as server:
        server.wait_for("press Ctrl-C to stop")
        [line] = [each for each in server.lines if "press Ctrl-C to stop" in each]
        document = httpx2.get(f"{server.url}/").text
        health = httpx2.get(f"{server.url}/health").json()

    assert (tmp_path / "networks" / "CITY.toml").is_file()
    assert line.startswith(f"fingerpost is running at {server.url}/;")
    assert "<title>fingerpost</title>" in document
    assert health == {"status": "ok"}
    assert server.process.returncode == 0
