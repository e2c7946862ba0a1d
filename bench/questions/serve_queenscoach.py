"""Start queenscoach on one feed, with its clock at the questions' instant; it fetches its files over HTTP."""

import os
import sys
import time
from datetime import datetime
from pathlib import Path

from feed_server import serve

feed, realtime = serve(Path(sys.argv[1]), Path(sys.argv[2]))
os.environ |= {f"QUEENSCOACH_{name}_URL": realtime for name in ("VEHICLE_POSITIONS", "TRIP_UPDATES", "ALERTS")}
os.environ["QUEENSCOACH_STATIC_GTFS_URL"] = feed
instant = datetime.fromisoformat(sys.argv[3]).timestamp()
time.time = lambda: instant  # type: ignore[method-assign]
sys.argv = ["queenscoach"]

# It takes its clock when it is imported.
from queenscoach.main import main  # type: ignore[import-not-found]  # noqa: E402

sys.exit(main())
