"""Start queenscoach on one feed, with its clock at the questions' instant; it fetches its files over HTTP."""

import os
import sys
import threading
import time
from datetime import datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

FEED, REALTIME, NOW = sys.argv[1:]
# A GTFS-Realtime message without entities.
EMPTY = b"\x0a\x05\x0a\x032.0"


class Files(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        path = Path(FEED if self.path == "/feed.zip" else REALTIME)
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
os.environ |= {f"QUEENSCOACH_{name}_URL": f"{url}/{name}" for name in ("VEHICLE_POSITIONS", "TRIP_UPDATES", "ALERTS")}
os.environ["QUEENSCOACH_STATIC_GTFS_URL"] = f"{url}/feed.zip"
instant = datetime.fromisoformat(NOW).timestamp()
time.time = lambda: instant  # type: ignore[method-assign]
sys.argv = ["queenscoach"]

# It takes its clock when it is imported.
from queenscoach.main import main  # type: ignore[import-not-found]  # noqa: E402

sys.exit(main())
