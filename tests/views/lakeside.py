"""A town with two stops and with a lake and streets between them, prepared as a network with an extract."""

from fingerpost.apps.settings import read_settings
from fingerpost.apps.wiring import build
from tests.feeds import feed_from_drawing, write_feed

# The stops lie a kilometre apart on the 60.17th parallel.
DRAWING = "line A | Alpha 08:30 | Beta 08:40"
LAKE = [(60.171, 24.945), (60.171, 24.95), (60.174, 24.95), (60.174, 24.945)]
STREET = [(60.17, 24.938), (60.17, 24.94), (60.17, 24.958), (60.17, 24.96)]
QUESTION = {
    "origin": {"type": "label", "value": "Alpha"},
    "destination": {"type": "label", "value": "Beta"},
    "when": {"type": "depart", "time": "2026-03-10T08:00:00+02:00"},
    "limit": 1,
}


def write_extract(path):
    nodes = [
        f'<node id="{number}" version="1" lat="{lat}" lon="{lon}"/>'
        for number, (lat, lon) in enumerate([*LAKE, *STREET], 1)
    ]
    ways = [([1, 2, 3, 4, 1], "natural", "water"), ([5, 6, 7, 8], "highway", "residential")]
    for number, (refs, key, value) in enumerate(ways, 1):
        inner = "".join(f'<nd ref="{ref}"/>' for ref in refs)
        nodes.append(f'<way id="{number}" version="1">{inner}<tag k="{key}" v="{value}"/></way>')
    path.write_text("\n".join(['<osm version="0.6">', *nodes, "</osm>"]), encoding="utf-8")
    return path


def add_lakeside(folder, invoke):
    feed = write_feed(folder / "feed.zip", feed_from_drawing(DRAWING))
    ended = invoke("network", "add", "LAKE", str(feed), "--streets", str(write_extract(folder / "lake.osm")))
    assert ended.returncode == 0, ended.stderr
    return build(read_settings())
