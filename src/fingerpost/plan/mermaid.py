"""Draw a plan as a Mermaid diagram."""

from collections.abc import Mapping

from fingerpost.plan.validation import ValidPlan

_MOST_CHARS = 60
_CLASSES = {
    "completed": "fill:#d9f2d9,stroke:#2e7d32,color:#000",
    "skipped": "fill:#e8e8e8,stroke:#757575,color:#000",
    "failed": "fill:#f9d6d5,stroke:#c62828,color:#000",
    "waiting": "fill:#fff3cd,stroke:#b58900,color:#000",
}


def draw(valid: ValidPlan, states: Mapping[int, str]) -> str:
    """Return a Mermaid flowchart: steps by state, declared and inferred dependencies as arrows."""
    places = {number: index for index, number in enumerate(valid.steps)}
    lines = ["flowchart TD"]
    for number, ready in valid.steps.items():
        who = ready.step.tool or ready.step.agent or "thinking"
        mark = f":::{states[number]}" if states.get(number) in _CLASSES else ""
        lines.append(f'  s{places[number]}["{number}. {_plain(ready.step.description)}<br/>{_plain(who)}"]{mark}')
    for number, ready in valid.steps.items():
        lines += [f"  s{places[before]} --> s{places[number]}" for before in ready.dependencies]
    used = {state for state in states.values() if state in _CLASSES}
    lines += [f"  classDef {state} {style}" for state, style in _CLASSES.items() if state in used]
    return "\n".join(lines)


def _plain(text: str) -> str:
    """Return a label that can neither end its quotes nor bring markup of its own."""
    short = text if len(text) <= _MOST_CHARS else f"{text[:_MOST_CHARS]}…"
    flat = "".join(letter if letter.isprintable() else " " for letter in short)
    return "".join(f"#{ord(letter)};" if letter in '"<>&#;`\\[](){}|' else letter for letter in flat)
