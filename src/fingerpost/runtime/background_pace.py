"""A name that the plan package still imports."""


class _NoPace:
    async def begin(self) -> None:
        """Wait for nothing."""


PACE = _NoPace()
