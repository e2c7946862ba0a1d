"""A visitor to the web page: a real browser, and all requests that it sent."""

import json
from contextlib import asynccontextmanager

from fingerpost.apps.mcp.listener import Access, Address
from fingerpost.apps.views.page import Site
from tests.apps.clients import new_local_app, serving_here
from tests.views.hosting import opening

LOOPBACK = Address("127.0.0.1", 0)


class Visit:
    def __init__(self, page, url):
        self.page = page
        self.url = url
        self.requests = []
        self.calls = []
        page.on("request", self._note)

    def _note(self, request):
        self.requests.append(request.url)
        if request.url.endswith("/mcp"):
            self.calls.append(json.loads(request.post_data)["params"])

    def arguments_of(self, tool):
        return [each["arguments"] for each in self.calls if each.get("name") == tool]

    async def open(self, search=""):
        await self.page.goto(f"{self.url}/{search}")
        await self.page.wait_for_selector(".view .title" if search else ".intro li")

    async def type_place(self, field, text):
        await self.page.fill(f"#{field}", text)

    async def type_ends(self, origin, destination):
        await self.type_place("from", origin)
        await self.type_place("to", destination)

    async def enter_ends(self, origin, destination):
        await self.type_ends(origin, destination)
        await self.page.press("#to", "Enter")

    async def pick_place(self, field, text, name):
        await self.page.fill(f"#{field}", text)
        await self.page.click(f"#{field}-options [role=option]:has(span:text-is('{name}'))")

    async def search(self):
        await self.page.click("button[type=submit].main")
        await self.page.wait_for_selector(".view:visible .title")

    async def times(self):
        return await self.page.locator("[role=radio] b").all_inner_texts()


@asynccontextmanager
async def visiting(
    browser, application, search="", *, width=1280, scheme="light", locale="en-GB", address=LOOPBACK, **look
):
    """Open a server's page at a question in a browser, or nothing yet for None; requests go only to the server."""
    async with (
        serving_here(new_local_app(application, at=address, access=Access(is_public=True), site=Site())) as (
            host,
            port,
        ),
        opening(browser, viewport={"width": width, "height": 800}, color_scheme=scheme, locale=locale, **look) as page,
    ):
        url = f"http://{host}:{port}"
        visit = Visit(page, url)
        if search is not None:
            await visit.open(search)
        yield visit
        allowed = (f"{url}/", "data:", "blob:")
        assert [each for each in visit.requests if not each.startswith(allowed)] == []
