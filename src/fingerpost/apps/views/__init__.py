"""Views: pages that draw a tool's answer inside an agent's host, as plain HTML, CSS and JavaScript."""
