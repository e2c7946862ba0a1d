"""The baseline: no engine, only asyncio and one SQLite file with the same guarantee.

The plan is on disk before the first step, every step is on disk before the next one sees its result,
and steps that end together share a commit (WAL, synchronous FULL).
"""

import asyncio
import json
import sqlite3
import uuid


class Bare:
    def __init__(self, path):
        self._connection = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
        self._connection.execute("PRAGMA journal_mode = WAL")
        self._connection.execute("PRAGMA synchronous = FULL")
        self._connection.execute("CREATE TABLE run (id TEXT PRIMARY KEY, plan TEXT, state TEXT)")
        self._connection.execute("CREATE TABLE step (run TEXT, id INTEGER, output TEXT, PRIMARY KEY (run, id))")
        self._buffer = []
        self._flushing = None

    async def run(self, edges):
        """Run no-op steps; ``edges`` lists the steps that each one waits for. Return the sum of all outputs."""
        run_id = str(uuid.uuid4())
        await asyncio.to_thread(
            self._write, [("INSERT INTO run VALUES (?, ?, 'running')", (run_id, json.dumps(edges)))]
        )
        tasks = {}

        async def go(step):
            for before in edges[step]:
                await tasks[before]
            await self._record(run_id, step, json.dumps(step))
            return step

        for step in edges:
            tasks[step] = asyncio.create_task(go(step))
        total = sum([await task for task in tasks.values()])
        await asyncio.to_thread(self._write, [("UPDATE run SET state = 'completed' WHERE id = ?", (run_id,))])
        return total

    def close(self):
        self._connection.close()

    async def _record(self, run_id, step, output):
        done = asyncio.get_running_loop().create_future()
        self._buffer.append((("INSERT INTO step VALUES (?, ?, ?)", (run_id, step, output)), done))
        if self._flushing is None:
            self._flushing = asyncio.create_task(self._flush())
        await done

    async def _flush(self):
        while self._buffer:
            batch, self._buffer = self._buffer, []
            await asyncio.to_thread(self._write, [row for row, _done in batch])
            for _row, done in batch:
                done.set_result(None)
        self._flushing = None

    def _write(self, rows):
        self._connection.execute("BEGIN IMMEDIATE")
        for statement, values in rows:
            self._connection.execute(statement, values)
        self._connection.execute("COMMIT")
