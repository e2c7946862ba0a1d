"""Every engine passes every fact of the suite."""

import pytest

from tests.plan.engines import ENGINES
from tests.plan.suite import facts_of_crashes, facts_of_histories, facts_of_lifecycle, facts_of_records

pytestmark = pytest.mark.usefixtures("free_clock")
FACTS = {
    name: fact
    for module in (facts_of_records, facts_of_lifecycle, facts_of_crashes, facts_of_histories)
    for name, fact in vars(module).items()
    if getattr(fact, "__module__", None) == module.__name__ and not name.startswith("_")
}


@pytest.mark.parametrize("engine", ENGINES, ids=lambda engine: engine.name)
@pytest.mark.parametrize("fact", FACTS)
def test_an_engine_guarantees_its_contract(engine, fact, tmp_path):
    check = FACTS[fact]
    check(engine, tmp_path)
