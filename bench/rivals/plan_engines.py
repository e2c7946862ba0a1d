"""Run the same plans on DBOS and LangGraph, in a separate environment.

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
FOLDER = Path(tempfile.mkdtemp(prefix="fingerpost-rivals-"))


def new_dbos():
    from dbos import DBOS, DBOSConfig

    DBOS(config=DBOSConfig(name="bench", system_database_url=f"sqlite:///{FOLDER}/dbos.sqlite", log_level="ERROR"))

    @DBOS.step()
    async def no_op(step: int) -> int:
        return step

    @DBOS.workflow()
    async def chain() -> int:
        total = 0
        for step in range(1, WIDTH + 1):
            total += await no_op(step)
        return total

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


def new_langgraph():
    from langgraph.graph import END, START, StateGraph

    def node(step):
        async def no_op(_state):
            return {"total": step}

        return no_op

    names = [f"s{step}" for step in range(1, WIDTH + 1)]
    edges = {
        "chain": [*zip([START, *names], [*names, END], strict=True)],
        "fan": [*((START, name) for name in names), *((name, "s0") for name in names), ("s0", END)],
    }
    graphs = {}
    for shape, pairs in edges.items():
        graph = graphs[shape] = StateGraph(State)
        for name in names if shape == "chain" else ["s0", *names]:
            graph.add_node(name, node(int(name[1:])))
        for begin, end in pairs:
            graph.add_edge(begin, end)
    return graphs


async def main():
    import aiosqlite
    from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver

    workflows, graphs = new_dbos(), new_langgraph()
    async with aiosqlite.connect(FOLDER / "langgraph.sqlite") as connection:
        saver = AsyncSqliteSaver(connection)
        await saver.setup()
        compiled = {name: graph.compile(checkpointer=saver) for name, graph in graphs.items()}
        print("ready", flush=True)
        loop = asyncio.get_running_loop()
        while line := await loop.run_in_executor(None, sys.stdin.readline):
            engine, shape = line.split()
            config = {"configurable": {"thread_id": str(uuid.uuid4())}, "recursion_limit": WIDTH + 5}
            begun = time.perf_counter()
            if engine == "dbos":
                total = await workflows[shape]()
            else:
                total = (await compiled[shape].ainvoke({"total": 0}, config, durability="sync"))["total"]
            print(f"{(time.perf_counter() - begun) * 1e3} {total}", flush=True)
    from dbos import DBOS

    DBOS.destroy()


if __name__ == "__main__":
    asyncio.run(main())
