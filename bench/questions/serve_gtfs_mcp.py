"""Start gtfs-mcp on one feed, with its clock at the questions' instant; GTFS_MCP is the path of its dist/index.js."""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from feed_server import serve

CLOCK = """
const Real = Date, fixed = Real.parse(process.env.QUESTIONS_NOW);
globalThis.Date = class extends Real {
  constructor(...values) { if (values.length) super(...values); else super(fixed); }
  static now() { return fixed; }
};
"""
feed, realtime = serve(Path(sys.argv[1]), Path(sys.argv[2]))
with tempfile.TemporaryDirectory() as folder:
    sources = {"trip_updates": [realtime], "vehicle_positions": [], "alerts": [realtime]}
    town = {"id": "town", "name": "Town", "schedule_url": feed, "timezone": "Europe/Helsinki"}
    systems = [{**town, "realtime": sources, "auth": None}]
    Path(folder, "systems.json").write_text(json.dumps({"systems": systems, "data_dir": folder}), encoding="utf-8")
    Path(folder, "clock.mjs").write_text(CLOCK, encoding="utf-8")
    environment = os.environ | {"GTFS_MCP_CONFIG": f"{folder}/systems.json", "QUESTIONS_NOW": sys.argv[3]}
    command = ["node", "--import", f"{folder}/clock.mjs", os.environ["GTFS_MCP"]]
    sys.exit(subprocess.run(command, env=environment, check=False).returncode)
