"""The base class of every tool (plan-step contract, rule F1)."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any

from fingerpost.contract.response import failure_response, success_response


class Tool(ABC):
    """Something that answers by query type and parameters, in the standard response.

    Attributes:
        name: the tool's name, which is also the ``output_key`` of its responses.
    """

    name: str

    @abstractmethod
    async def execute(self, query_type: str, parameters: Mapping[str, Any]) -> dict[str, Any]:
        """Return the standard response; a failure is a response too."""

    def format_success_response(
        self,
        query_type: str,
        parameters: Mapping[str, Any],
        results: Sequence[Any],
        additional_data: Mapping[str, Any] | None = None,
    ) -> dict[str, Any]:
        """Return a standard response with ``success`` true; ``additional_data`` stands at the top.

        Raises:
            BrokenContract: additional data would replace a standard field.
        """
        return success_response(self.name, query_type, parameters, results, additional_data)

    def format_error_response(
        self,
        query_type: str,
        parameters: Mapping[str, Any],
        error_message: str,
        error_type: str = "error",
        additional_data: Mapping[str, Any] | None = None,
    ) -> dict[str, Any]:
        """Return a standard response with ``success`` false; ``error_type`` is ``error`` or ``warning``.

        Raises:
            BrokenContract: another error type, or additional data that would replace a standard field.
        """
        return failure_response(self.name, query_type, parameters, error_message, error_type, additional_data)
