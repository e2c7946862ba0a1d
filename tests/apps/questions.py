"""Questions that the demo networks can answer."""

KAMPPI_TO_ESPOO = {"origin": {"type": "label", "value": "Kamppi"}, "destination": {"type": "label", "value": "Espoo"}}
AMBIGUOUS = {"origin": {"type": "label", "value": "kamp"}, "destination": {"type": "label", "value": "Espoo"}}
KAMPPI = "DEMO-HELSINKI:KAMPPI"
