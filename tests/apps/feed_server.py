"""A local server for feeds, with validators like those of a real server."""

import hashlib
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


@contextmanager
def serving_http(handler):
    """Serve requests with a handler class in a thread; yield the server."""
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()


class FeedServer:
    def __init__(self):
        self.contents = {}
        self.asked = []
        self.port = 0

    @property
    def url(self):
        return f"http://127.0.0.1:{self.port}"


@contextmanager
def serving_feeds():
    feeds = FeedServer()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            path, _, query = self.path.partition("?")
            content = feeds.contents.get(path)
            tag = content and f'"{hashlib.sha256(content).hexdigest()}"'
            status = 404 if content is None else 304 if self.headers.get("If-None-Match") == tag else 200
            feeds.asked.append((path, query, status))
            body = content if status == 200 else b""
            self.send_response(status)
            self.send_header("Content-Length", str(len(body)))
            if tag:
                self.send_header("ETag", tag)
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format, *args):  # noqa: A002  (the base class names it)
            """Stay silent."""

    with serving_http(Handler) as server:
        feeds.port = server.server_port
        yield feeds
