"""Serve a world's feed and realtime message over HTTP, for servers that read no files."""

import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

# A GTFS-Realtime message without entities, for worlds that have none.
EMPTY = b"\x0a\x05\x0a\x032.0"


def serve(feed: Path, realtime: Path) -> tuple[str, str]:
    """Start a server in a thread, and return the URLs of the feed and of the message."""

    class Files(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            path = feed if self.path == "/feed.zip" else realtime
            data = path.read_bytes() if path.exists() else EMPTY
            self.send_response(200)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *_: object) -> None:
            """Write no log."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Files)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    url = f"http://127.0.0.1:{server.server_port}"
    return f"{url}/feed.zip", f"{url}/realtime.pb"
