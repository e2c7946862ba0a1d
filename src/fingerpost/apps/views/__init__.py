"""Views: pages that render a tool's answer inside an agent's host, in plain HTML, CSS and JavaScript."""
