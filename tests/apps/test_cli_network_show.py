"""``network show`` prints the report that was kept."""

from fingerpost.testing.feeds import feed_from_drawing, write_feed

FEED = feed_from_drawing("line A | Alpha 08:00 | Beta 08:10") | {
    "transfers.txt": "from_stop_id,to_stop_id,transfer_type\nALPHA,NOWHERE,0\n"
}


def test_show_tells_what_add_told(tmp_path, invoke):
    """The record, then the import's report: counts, and every finding with table, line and column."""
    added = invoke("network", "add", "Town", str(write_feed(tmp_path / "town.zip", FEED)))
    shown = invoke("network", "show", "town")

    assert (added.returncode, shown.returncode) == (0, 0)
    record, first, rest = shown.stdout.partition("Added ")
    assert (first, rest.partition("\n")[2]) == ("Added ", added.stdout)
    assert "transfers.txt, line 2, to_stop_id" in rest
    assert f'feeds = ["{tmp_path / "town.zip"}"]' in record


def test_show_of_an_unknown_network(invoke):
    shown = invoke("network", "show", "nowhere")

    assert (shown.returncode, shown.stdout) == (2, "")
    assert "There is no network NOWHERE. Added networks: none." in shown.stderr
