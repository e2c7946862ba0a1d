"""Run the plans of ``plans.py`` on DBOS and LangGraph, in a separate environment.

Each input line names an engine and a shape; each output line has the milliseconds of one run and the sum of all
outputs.
"""

import asyncio
import operator
import sys
import tempfile
import time
import uuid
from pathlib import Path
from typing import Annotated, TypedDict

WIDTH = 50
# The steps of each plan, and the steps that each one waits for.
SHAPES = {
    "chain": {step: [step - 1] if step > 1 else [] for step in range(1, WIDTH + 1)},
    "fan": {**{step: [] for step in range(1, WIDTH + 1)}, 0: list(range(1, WIDTH + 1))},
}
FOLDER = Path(tempfile.mkdtemp(prefix="fingerpost-rivals-"))


def new_dbos():
    from dbos import DBOS, DBOSConfig

    DBOS(config=DBOSConfig(name="bench", system_database_url=f"sqlite:///{FOLDER}/dbos.sqlite", log_level="ERROR"))

    @DBOS.step()
    async def no_op(step: int) -> int:
        return step

    @DBOS.workflow()
    async def chain() -> int:
        return sum([await no_op(step) for step in SHAPES["chain"]])

    @DBOS.workflow()
    async def fan() -> int:
        slots = [DBOS.reserve_step() for _ in range(WIDTH)]
        found = await asyncio.gather(
            *[slot.run_async({"name": f"step-{step}"}, no_op, step) for step, slot in enumerate(slots, 1)]
        )
        return sum(found) + await no_op(0)

    DBOS.launch()
    return {"chain": chain, "fan": fan}


class State(TypedDict):
    total: Annotated[int, operator.add]


def new_langgraph(edges, saver):
    from langgraph.graph import END, START, StateGraph

    def node(step):
        async def no_op(_state):
            return {"total": step}

        return no_op

    graph = StateGraph(State)
    for step in edges:
        graph.add_node(f"s{step}", node(step))
    for step, before in edges.items():
        for begin in [f"s{other}" for other in before] or [START]:
            graph.add_edge(begin, f"s{step}")
    graph.add_edge(f"s{[*edges][-1]}", END)
    return graph.compile(checkpointer=saver)


async def main():
    from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver

    workflows = new_dbos()
    async with AsyncSqliteSaver.from_conn_string(f"{FOLDER}/langgraph.sqlite") as saver:
        await saver.setup()
        graphs = {shape: new_langgraph(edges, saver) for shape, edges in SHAPES.items()}
        print("ready", flush=True)
        while line := await asyncio.get_running_loop().run_in_executor(None, sys.stdin.readline):
            engine, shape = line.split()
            config = {"configurable": {"thread_id": str(uuid.uuid4())}, "recursion_limit": WIDTH + 5}
            begun = time.perf_counter()
            if engine == "dbos":
                total = await workflows[shape]()
            else:
                total = (await graphs[shape].ainvoke({"total": 0}, config, durability="sync"))["total"]
            print(f"{(time.perf_counter() - begun) * 1e3} {total}", flush=True)
    from dbos import DBOS

    DBOS.destroy()


if __name__ == "__main__":
    asyncio.run(main())
