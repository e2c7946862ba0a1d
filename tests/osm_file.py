"""OpenStreetMap files as XML, which osmium reads like any other."""

from xml.sax.saxutils import quoteattr


def osm_text(nodes, ways=(), relations=()):
    """Return a file of nodes (id, lat, lon, tags), ways (ids of nodes, tags), and relations ([(way, role)], tags).

    Ways and relations are numbered from 1.
    """
    lines = ['<osm version="0.6">']
    for number, lat, lon, tags in nodes:
        lines.append(f'<node id="{number}" version="1" lat="{lat:.9f}" lon="{lon:.9f}">{_tags(tags)}</node>')
    for number, (refs, tags) in enumerate(ways, 1):
        inner = "".join(f'<nd ref="{node}"/>' for node in refs)
        lines.append(f'<way id="{number}" version="1">{inner}{_tags(tags)}</way>')
    for number, (members, tags) in enumerate(relations, 1):
        inner = "".join(f'<member type="way" ref="{way}" role="{role}"/>' for way, role in members)
        lines.append(f'<relation id="{number}" version="1">{inner}{_tags(tags)}</relation>')
    return "\n".join([*lines, "</osm>"])


def _tags(tags):
    return "".join(f"<tag k={quoteattr(key)} v={quoteattr(value)}/>" for key, value in tags.items())
