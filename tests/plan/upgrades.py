"""Layouts of tables across versions, for the tests of each place that has some."""

FORBIDDEN = ("DROP", "RENAME", "DELETE", "UPDATE")


def upgrading(monkeypatch, module):
    """Return a function that makes this program a newer one, whose layout adds statements; without any, the old one."""
    first = module.LAYOUTS

    def add(*statements):
        monkeypatch.setattr(module, "LAYOUTS", (*first, statements) if statements else first)

    return add


def list_what_does_not_only_add(module):
    """Return statements of later layouts that drop, rename or demand something."""
    later = [statement.upper() for layout in module.LAYOUTS[1:] for statement in layout]
    return [
        each
        for each in later
        if any(word in each for word in FORBIDDEN)
        or ("ADD COLUMN" in each and "NOT NULL" in each and "DEFAULT" not in each)
    ]
