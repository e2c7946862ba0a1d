"""How far an import has come is told while it goes on."""

from fingerpost.testing.feeds import feed_from_drawing, write_feed
from fingerpost.transit.engine.gtfs.importer import FeedSource, import_feeds
from tests.gtfs.importing import ONE_LINE


def test_progress(tmp_path):
    """Each feed goes from nothing to the bytes of its tables, never back; linking the stops comes last."""
    feed = feed_from_drawing(ONE_LINE)
    sources = [FeedSource(write_feed(tmp_path / f"{name}.zip", feed | {"README": "x" * 99})) for name in "ab"]
    told = []
    import_feeds("net", sources, progress=lambda what, done, whole: told.append((what, done, whole)))

    steps = list(dict.fromkeys(what for what, _, _ in told))
    size = sum(map(len, feed.values()))
    assert steps == ["NET-A", "NET-B", "linking stops"]
    for step, whole in zip(steps, (size, size, 1), strict=True):
        done = [at for what, at, _ in told if what == step]
        assert (done[0], done[-1], done) == (0, whole, sorted(done))
        assert {most for what, _, most in told if what == step} == {whole}
