"""A grammar of sentences about drawn companies; each is true, false, stale, or beyond judging."""

from dataclasses import dataclass
from fractions import Fraction

TRUE, FALSE, STALE, BEYOND = "confirmed", "contradicted", "stale_vintage", "cannot_judge"

METRICS = {
    "Revenues": ("revenue", "sales", "total revenue", "Revenue"),
    "NetIncomeLoss": ("net income", "net profit", "net earnings"),
    "ResearchAndDevelopmentExpense": ("R&D", "research and development expense"),
    "Assets": ("total assets", "assets"),
}
SCALES = ((12, "trillion", "T"), (9, "billion", "B"), (6, "million", "M"))
YEARS = (2020, 2021, 2022)


@dataclass(frozen=True)
class Drawn:
    """A company whose figures are known; ``earlier`` are values that were restated since."""

    cik: int
    ticker: str
    names: tuple
    currency: str
    signs: tuple
    figures: dict
    earlier: dict


def draw_companies(random):
    """Four companies in four currencies; each has restated last year's net income."""
    kinds = (
        ("USD", ("${}", "US${}", "{} dollars", "USD {}"), "ARDT", ("Ardent Tools", "Ardent Tools Inc.", "ARDT")),
        ("EUR", ("€{}", "{} euros", "EUR {}"), "BRNO", ("Brno Werke", "Brno Werke AG", "BRNO")),
        ("GBP", ("£{}", "{} pounds", "GBP {}"), "CRWL", ("Crowle Mills", "Crowle Mills plc", "CRWL")),
        ("JPY", ("¥{}", "{} yen", "JPY {}"), "DENK", ("Denka Works", "Denka Works Ltd", "DENK")),
    )
    companies = []
    for number, (currency, signs, ticker, names) in enumerate(kinds):
        figures = {}
        for tag, size in zip(METRICS, (400, 90, 30, 900), strict=True):
            value = random.randint(size * 500, size * 1500) * 10**6
            for year in YEARS:
                figures[tag, year] = value
                value = value * random.randint(85, 125) // 100
        earlier = {("NetIncomeLoss", 2021): figures["NetIncomeLoss", 2021] * 3 // 4}
        companies.append(Drawn(700 + number, ticker, names, currency, signs, figures, earlier))
    return companies


class Writer:
    """Writes one sentence after another."""

    def __init__(self, random, companies):
        self.random, self.companies = random, companies

    def write(self):
        """Return a sentence, and what is true of it."""
        kinds = (
            [self.level] * 3
            + [self.compared, self.denied, self.ranged, self.grown, self.grown_to, self.risen, self.two_years]
            + [self.two_metrics, self.years_compared, self.metrics_compared, self.respectively, self.stale]
            + [self.other_currency, self.beyond, self.about]
        )
        self.company = self.random.choice(self.companies)
        self.name = self.random.choice(self.company.names)
        self.year = self.random.choice(YEARS[1:])
        self.tag = self.random.choice(list(METRICS))
        return self.random.choice(kinds)()

    # Parts.

    def pick(self, *choices):
        return self.random.choice(choices)

    def metric(self, tag=None):
        return self.random.choice(METRICS[tag or self.tag])

    def value(self, tag=None, year=None):
        return self.company.figures[tag or self.tag, year or self.year]

    def when(self, year=None):
        year = year or self.year
        return self.pick(
            f"in {year}", f"for fiscal {year}", f"in fiscal year {year}", f"for FY{year}", f"during {year}"
        )

    def subject(self, tag=None, year=None):
        """Whose what, with or without when: (text, what is left to say of when)."""
        year = year or self.year
        metric = self.metric(tag)
        return self.pick(
            (f"{self.name}'s {metric}", " " + self.when(year)),
            (f"{self.name}'s {metric} {self.when(year)}", ""),
            (f"{self.name}'s {year} {metric}", ""),
            (f"In {year}, {self.name}'s {metric}", ""),
            (f"The {metric} of {self.name}", " " + self.when(year)),
        )

    def amount(self, value, *, currency=None):
        """A number in money with its precision: (text, what it stands for, half of its last digit)."""
        scales = [scale for scale in SCALES if abs(value) >= 10 ** scale[0]]
        exponent, word, letter = self.random.choice(scales[:2])
        digits = self.random.choice((0, 1, 2, 3) if abs(value) >= 10 ** (exponent + 1) else (1, 2, 3))
        stated = round(Fraction(value, 10**exponent), digits)
        number = f"{float(stated):,.{digits}f}"
        sign = self.random.choice((currency or self.company).signs)
        letters = f"{number}{letter}" if "{} " not in sign else f"{number} {word}"
        text = sign.format(self.pick(f"{number} {word}", letters))
        return text, stated * 10**exponent, Fraction(10**exponent, 2 * 10**digits)

    def percentage(self, share, digits):
        number = f"{float(round(share, digits)):.{digits}f}"
        return self.pick(f"{number}%", f"{number} %", f"{number} percent"), round(share, digits)

    def off(self, value):
        """Near the truth, and not it."""
        return value * self.random.choice((70, 80, 90, 110, 120, 130)) // 100

    def truth(self, holds):
        """Whether a predicate holds of the figures as they are now, or else as they once were."""
        now = holds(self.value)
        if now is None:
            return BEYOND
        return TRUE if now else STALE if self.held_once(holds) else FALSE

    def held_once(self, holds):
        """Whether it held when the last year was not yet reported."""

        def earlier(tag=None, year=None):
            key = (tag or self.tag, year or self.year)
            if key[1] == YEARS[-1]:
                raise LookupError(key)
            return self.company.earlier.get(key, self.company.figures[key])

        try:
            return bool(holds(earlier))
        except LookupError:
            return False

    # Sentences.

    def level(self):
        text, rest = self.subject()
        stated = self.pick(self.value(), self.off(self.value()))
        number, meant, half = self.amount(stated)
        verb = self.pick("was", "were", "came to", "amounted to", "totaled")
        return f"{text} {verb} {number}{rest}.", self.truth(lambda value: abs(value() - meant) <= half)

    def compared(self):
        text, rest = self.subject()
        number, meant, _ = self.amount(self.off(self.value()))
        word, holds = self.pick(
            ("exceeded", lambda value: value() > meant),
            ("was more than", lambda value: value() > meant),
            ("was at least", lambda value: value() >= meant),
            ("surpassed", lambda value: value() > meant),
            ("was less than", lambda value: value() < meant),
            ("was below", lambda value: value() < meant),
            ("was at most", lambda value: value() <= meant),
            ("fell short of", lambda value: value() < meant),
        )
        return f"{text} {word} {number}{rest}.", self.truth(holds)

    def denied(self):
        text, rest = self.subject()
        number, meant, half = self.amount(self.pick(self.value(), self.off(self.value())))
        word, holds = self.pick(
            ("was not", lambda value: abs(value() - meant) > half),
            ("wasn't", lambda value: abs(value() - meant) > half),
            ("did not exceed", lambda value: value() <= meant),
            ("didn't exceed", lambda value: value() <= meant),
            ("was not more than", lambda value: value() <= meant),
            ("was not less than", lambda value: value() >= meant),
        )
        return f"{text} {word} {number}{rest}", self.truth(holds)

    def ranged(self):
        text, rest = self.subject()
        low, high = sorted(self.value() * self.random.choice((60, 80, 95, 105, 120, 140)) // 100 for _ in "ab")
        first, low, _ = self.amount(low)
        last, high, _ = self.amount(high)
        word = self.pick(f"between {first} and {last}", f"from {first} to {last}")
        if low > high:
            return self.level()
        return f"{text} was {word}{rest}", self.truth(lambda value: low <= value() <= high)

    def change(self, value=None):
        value = value or self.value
        now, before = value(), value(year=self.year - 1)
        return Fraction((now - before) * 100, before)

    def grown(self):
        text, rest = self.subject()
        share, digits = self.change(), self.random.choice((0, 1))
        number, meant = self.percentage(abs(share) + self.pick(0, 0, 5, 11), digits)
        word, up = self.pick(
            ("grew", 1), ("rose", 1), ("increased by", 1), ("fell", -1), ("declined by", -1), ("was up", 1)
        )
        tail = self.pick("", "", " year over year", f" from {self.year - 1}")
        denied = not word.startswith(("was", "in", "de")) and self.pick(True, False, False)
        base = {"grew": "grow", "rose": "rise", "fell": "fall"}

        def holds(value):
            return (abs(up * self.change(value) - meant) <= Fraction(1, 2 * 10**digits)) != denied

        said = f"did not {base[word]}" if denied else word
        return f"{text} {said} {number}{tail}{rest}.", self.truth(holds)

    def grown_to(self):
        text, rest = self.subject()
        share = self.change()
        number, meant = self.percentage(abs(share), 1)
        total, stated, half = self.amount(self.pick(self.value(), self.off(self.value())))
        word, up = self.pick(("grew", 1), ("rose", 1), ("fell", -1), ("dropped", -1))

        def holds(value):
            return abs(up * self.change(value) - meant) <= Fraction(1, 20) and abs(value() - stated) <= half

        return f"{text} {word} {number} to {total}{rest}", self.truth(holds)

    def risen(self):
        first, before, half_before = self.amount(self.pick(self.value(year=self.year - 1), self.off(self.value())))
        last, now, half = self.amount(self.value())
        word, up = self.pick(("rose", 1), ("increased", 1), ("fell", -1))

        def holds(value):
            return (
                abs(value(year=self.year - 1) - before) <= half_before
                and abs(value() - now) <= half
                and up * (value() - value(year=self.year - 1)) > 0
            )

        text = f"{self.name}'s {self.metric()}"
        return f"{text} {word} from {first} in {self.year - 1} to {last} in {self.year}.", self.truth(holds)

    def two_years(self):
        first, before, half_before = self.amount(self.pick(self.value(year=self.year - 1), self.off(self.value())))
        last, now, half = self.amount(self.value())

        def holds(value):
            return abs(value(year=self.year - 1) - before) <= half_before and abs(value() - now) <= half

        text = f"{self.name}'s {self.metric()}"
        return f"{text} was {first} in {self.year - 1} and {last} in {self.year}", self.truth(holds)

    def other_tag(self):
        return self.random.choice([tag for tag in METRICS if tag != self.tag])

    def two_metrics(self):
        other = self.other_tag()
        first, meant, half = self.amount(self.value())
        last, meant_other, half_other = self.amount(self.pick(self.value(other), self.off(self.value(other))))

        def holds(value):
            return abs(value() - meant) <= half and abs(value(other) - meant_other) <= half_other

        start = self.pick("", f"In {self.year}, ")
        rest = "" if start else f" {self.when()}"
        link = self.pick(" and ", ", and ", ", while ")
        return (
            f"{start}{self.name}'s {self.metric()} was {first}{link}{self.metric(other)} was {last}{rest}.",
            self.truth(holds),
        )

    def respectively(self):
        other = self.other_tag()
        first, meant, half = self.amount(self.value())
        last, meant_other, half_other = self.amount(self.pick(self.value(other), self.off(self.value(other))))

        def holds(value):
            return abs(value() - meant) <= half and abs(value(other) - meant_other) <= half_other

        names = f"{self.metric()} and {self.metric(other)}"
        return f"{self.name}'s {names} were {first} and {last} {self.when()}, respectively", self.truth(holds)

    def years_compared(self):
        word, up = self.pick(("higher", 1), ("lower", -1), ("greater", 1))

        def holds(value):
            return up * (value() - value(year=self.year - 1)) > 0

        text = f"{self.name}'s {self.metric()} in {self.year}"
        return f"{text} was {word} than in {self.year - 1}", self.truth(holds)

    def metrics_compared(self):
        other = self.other_tag()
        word, up = self.pick(("exceeded", 1), ("was higher than", 1), ("was below", -1), ("did not exceed", 0))

        def holds(value):
            gap = value() - value(other)
            return gap <= 0 if up == 0 else up * gap > 0

        return f"{self.name}'s {self.metric()} {word} its {self.metric(other)} {self.when()}", self.truth(holds)

    def stale(self):
        (tag, year), earlier = next(iter(self.company.earlier.items()))
        self.tag, self.year = tag, year
        number, meant, half = self.amount(earlier)
        text = f"{self.name}'s {self.metric()} was {number} {self.when()}"
        return text, self.truth(lambda value: abs(value() - meant) <= half)

    def other_currency(self):
        other = self.random.choice([each for each in self.companies if each.currency != self.company.currency])
        text, rest = self.subject()
        number, _, _ = self.amount(self.value(), currency=other)
        word = self.pick("was", "exceeded", "was not", "was at most")
        return f"{text} {word} {number}{rest}", BEYOND

    def about(self):
        text, rest = self.subject()
        near = self.pick(True, False)
        number, meant, half = self.amount(self.value() * (104 if near else 190) // 100)
        word = self.pick("about", "approximately", "roughly", "nearly")

        def holds(value):
            gap = abs(value() - meant)
            return True if gap <= half else None if gap <= meant / 10 else False

        return f"{text} was {word} {number}{rest}", self.truth(holds)

    def beyond(self):
        """Words that no figure answers: parts of the company, moods, adjustments, guesses, other people's numbers."""
        number, _, _ = self.amount(self.value())
        name, metric, when = self.name, self.metric(), self.when()
        share, _ = self.percentage(abs(self.change()), 1)
        return (
            self.pick(
                f"{name}'s services {metric} was {number} {when}",
                f"{name}'s adjusted {metric} was {number} {when}",
                f"{name}'s {metric} will be {number} {when}",
                f"{name} expects {metric} of {number} {when}",
                f"{name}'s {metric} was {number} {when}, excluding Europe",
                f"{name}'s {metric} was {number} in the calendar year {self.year}",
                f"Without {name}, {metric} was {number} {when}",
                f"{name}'s {metric} was {number} less than in {self.year - 1}",
                f"{name}'s {metric} was hardly {number} {when}",
                f"{name}'s {metric} more than doubled {when}",
                f"{name}'s {metric} grew {share} at constant currency {when}",
                f"{name}'s {metric} growth slowed to {share} {when}",
                f"{name}'s {metric} was never {number} {when}",
                f"{name}'s {metric} was {share} of all {when}",
                f"{name}'s {metric} per employee was {number} {when}",
                f"Analysts thought {name}'s {metric} was {number} {when}",
                f"Neither {name}'s {metric} nor its costs were {number} {when}",
                f"{name}'s quarterly {metric} was {number} {when}",
                f"If {name}'s {metric} was {number} {when}, it grew",
                f"{name}'s {metric} was {number} or more {when}",
                f"{name}'s {metric} was {number} lower {when}",
                f"Was {name}'s {metric} {number} {when}?",
            ),
            BEYOND,
        )
