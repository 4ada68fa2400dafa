"""Results: text of the command line, data of Python, and tables."""

from __future__ import annotations

import html as _html
import json as _json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas
    import polars
    import pyarrow

    from . import _wakeplace


class _Table:
    """Runs as a table: one row per run. Columns are what a run was made by (``platform``,
    ``workload``, ``policy``, ``seed``, ``duration_ns``, settings and hashes as text) and then every
    metric with its unit at the end of its name, as float64; null where it was not measured."""

    _native: Any

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self._native.__arrow_c_stream__(requested_schema)

    def to_arrow(self) -> pyarrow.Table:
        """A ``pyarrow.Table``, without a copy."""
        import pyarrow

        return pyarrow.table(self)

    def to_polars(self) -> polars.DataFrame:
        """A ``polars.DataFrame``, through Arrow."""
        import polars

        return polars.DataFrame(self)

    def to_pandas(self) -> pandas.DataFrame:
        """A ``pandas.DataFrame``, through pyarrow; this one copies."""
        return self.to_arrow().to_pandas()


class Result(_Table):
    """What `sim`, `compare` and `study` give.

    ``result["runs"]`` and other keys are those of the JSON (docs/result.schema.json).
    """

    def __init__(self, native: _wakeplace.Result) -> None:
        self._native = native
        self._data: dict[str, Any] | None = None

    def json(self) -> str:
        """The bytes that the command line writes with ``--format json``."""
        return self._native.text("json")

    def text(self, format: str = "human") -> str:
        """As the command line writes it with ``--format``: human, json, csv or md."""
        return self._native.text(format)

    def html(self) -> str:
        """A page for a browser, as ``--export-html`` writes it."""
        return self._native.html()

    @property
    def data(self) -> dict[str, Any]:
        """The JSON as a dict."""
        if self._data is None:
            self._data = _json.loads(self.json())
        return self._data

    @property
    def command(self) -> str | None:
        """The command that gives the same bytes with ``--format json``; None where a platform or
        workload is a dict."""
        parts = [self.data, *self.data.get("comparisons", ()), *self.data.get("studies", ())]
        return next((part["command"] for part in parts if "command" in part), None)

    @property
    def stuck(self) -> bool:
        """A run got stuck: what it measured is no ground for a judgement."""
        return self._native.stuck

    def __getitem__(self, key: str) -> Any:
        return self.data[key]

    def __str__(self) -> str:
        return self.text()

    def __repr__(self) -> str:
        return f"<wakeplace.Result: {self.command or 'of a dict'}>"

    def _repr_html_(self) -> str:
        return f"<pre>{_html.escape(self.text())}</pre>"


class SweepResult(_Table):
    """What `sweep` gives: a table of points, and all runs in the store."""

    def __init__(self, native: _wakeplace.Runs) -> None:
        self._native = native

    def json(self, metric: str | list[str] | tuple[str, ...] = ()) -> str:
        """The bytes that ``wakeplace sweep --format json`` writes: a row per point, with means and
        half widths of their 95 % intervals over the seeds. ``metric`` chooses metrics."""
        return self.text("json", metric)

    def text(
        self, format: str = "human", metric: str | list[str] | tuple[str, ...] = ()
    ) -> str:
        """The points as the command line writes them with ``--format``."""
        return self._native.text(format, [metric] if isinstance(metric, str) else list(metric))

    @property
    def cells(self) -> int:
        """Cells in all: points by seeds."""
        return self._native.counts[0]

    @property
    def found(self) -> int:
        """Cells that were in the store before."""
        return self._native.counts[1]

    @property
    def made(self) -> int:
        """Cells that this call ran."""
        return self._native.counts[2]

    @property
    def failed(self) -> int:
        """Of those, the ones that got stuck or could not be run; their rows say why (``error``)."""
        return self._native.counts[3]

    def __str__(self) -> str:
        return self.text()

    def __repr__(self) -> str:
        return f"<wakeplace.SweepResult: {self.cells} cells>"

    def _repr_html_(self) -> str:
        return f"<pre>{_html.escape(self.text())}</pre>"


class Answer:
    """What `explain` gives; ``answer["cpu"]`` and other keys are those of the JSON."""

    def __init__(self, text: str) -> None:
        self._text = text
        self.data: dict[str, Any] = _json.loads(text)

    def json(self) -> str:
        """The bytes that ``wakeplace explain --format json`` writes."""
        return self._text

    def __getitem__(self, key: str) -> Any:
        return self.data[key]

    def __repr__(self) -> str:
        wakeup = self["wakeup"]
        return (
            f"<wakeplace.Answer: {wakeup['kind']} {wakeup['number']} of {wakeup['task']['name']}: "
            f"CPU {self['cpu']} ({self['reason']})>"
        )
