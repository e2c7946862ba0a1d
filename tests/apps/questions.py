"""Questions that the demo networks can answer."""

KAMPPI_TO_ESPOO = {"origin": {"type": "label", "value": "Kamppi"}, "destination": {"type": "label", "value": "Espoo"}}
AMBIGUOUS = {"origin": {"type": "label", "value": "kamp"}, "destination": {"type": "label", "value": "Espoo"}}
KAMPPI = "DEMO-HELSINKI:KAMPPI"


def call_of(name, arguments, **more):
    meta = {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
        "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
    }
    return {"name": name, "arguments": arguments, "_meta": meta, **more}
