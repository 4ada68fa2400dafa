"""Results: text of the command line, data of Python, and tables.

What must stay: bytes of every form are those of the command line; tables have one row per run, with
the columns of Parquet files of runs; pyarrow, polars, pandas and altair are imported only where
they are used. docs/guide/python.md, "Tables". Tests by part:
`test_compare_gives_the_bytes_of_its_command` (`text`, `command`),
`test_tables_hold_what_the_json_holds` (`to_arrow`, `to_polars`, `to_pandas`, `data`),
`test_charts_are_those_of_the_page` (`charts`, `Result.plot`), `test_points_of_a_sweep_are_drawn`
(`SweepResult.plot`, `_point`), `test_sweep_gives_the_bytes_of_its_command` (`SweepResult`),
`test_explain_gives_the_bytes_of_its_command` (`Answer`),
`test_evaluate_gives_the_bytes_of_its_command` (`Evaluation`), `test_notebooks_see_the_table`
(`_repr_html_`, `html`), `test_dicts_are_files` (`command` of a dict),
`test_a_run_that_is_stuck_is_told` (`stuck`).

Tests: crates/python/tests/test_results.py
"""

from __future__ import annotations

import html as _html
import json as _json
from typing import TYPE_CHECKING, Any

from . import _wakeplace

if TYPE_CHECKING:
    import altair
    import pandas
    import polars
    import pyarrow


#: Of a chart, pixels.
CHART_WIDTH_PX = 560


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

    _native: _wakeplace.Result

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

    def charts(self) -> dict[str, altair.Chart]:
        """The charts of that page, by title; of a chart with a choice one each, as
        ``"title: choice"``. Needs Altair 6."""
        import altair

        charts = {}
        for drawn in _json.loads(self._native.charts()):
            for choice, spec in drawn["specs"].items():
                title = f"{drawn['title']}: {choice}" if choice else drawn["title"]
                # There is no page here whose width a chart could take.
                spec = spec | {"width": CHART_WIDTH_PX, "title": title}
                chart = altair.Chart.from_dict(spec | {"description": drawn["alt"]})
                charts[title] = chart
        return charts

    def plot(self, title: str | None = None) -> altair.Chart:
        """A chart of `charts`: the one of this title, or the first.

        Raises:
            WakeplaceError: There is no such chart; the message names the nearest.
        """
        charts = self.charts()
        wanted = next(iter(charts), "") if title is None else title
        if wanted not in charts:
            raise _wakeplace.unknown("plot", wanted, list(charts), "chart")
        return charts[wanted]

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

    _native: _wakeplace.Runs

    def __init__(self, native: _wakeplace.Runs) -> None:
        self._native = native

    def json(self, metric: str | list[str] | tuple[str, ...] = ()) -> str:
        """The bytes that ``wakeplace sweep --format json`` writes: a row per point, with means,
        half widths of their 95 % intervals over the seeds, and changes from the base; and the runs
        of each point. ``metric`` chooses metrics."""
        return self.text("json", metric)

    def text(
        self, format: str = "human", metric: str | list[str] | tuple[str, ...] = ()
    ) -> str:
        """The points as the command line writes them with ``--format``."""
        return self._native.text(format, [metric] if isinstance(metric, str) else list(metric))

    def plot(
        self, metric: str, x: str | None = None, color: str | None = None
    ) -> altair.LayerChart:
        """A metric's mean of each point with its 95 % interval over the seeds.

        Args:
            metric: A column of `text`; means are those of the table.
            x: What is varied: a key of ``vary``, or ``platform``, ``workload`` or ``policy``. The
                first key of ``vary`` unless given.
            color: Another one; the second unless given.

        Raises:
            WakeplaceError: There is no such metric or key; the message names the nearest.
        """
        import altair

        rows = _json.loads(self.json(metric))["points"]
        columns = list(rows[0])
        # What a point is stands before how many runs it has.
        names = columns[: columns.index("n")]
        several = [name for name in names if len({row[name] for row in rows}) > 1] or names
        x = several[0] if x is None else x
        color = next((name for name in several if name != x), x) if color is None else color
        for name in (x, color):
            if name not in names:
                raise _wakeplace.unknown("plot", name, names, "key")
        values = [_point(row, metric, x, color) for row in rows if row[metric] is not None]
        kind = "Q" if all(isinstance(value["x"], float) for value in values) else "N"
        base = altair.Chart().encode(
            altair.X(f"x:{kind}").title(x).scale(zero=False) if kind == "Q" else
            altair.X("x:N").title(x).sort(None),
            color=altair.Color("color:N").title(color).sort(None),
        )
        mean = altair.Y("mean:Q").title(metric).scale(zero=False)
        rule = base.mark_rule().encode(altair.Y("low:Q").title(metric), altair.Y2("high:Q"))
        points = base.mark_point(filled=True, opacity=1).encode(mean)
        data = altair.InlineData(values=values)
        return altair.LayerChart(data=data, layer=[rule, points], width=CHART_WIDTH_PX)

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


def _point(row: dict[str, Any], metric: str, x: str, color: str) -> dict[str, Any]:
    """A point of a sweep as what is drawn of it."""
    try:
        at = float(row[x])
    except ValueError:
        at = row[x]
    half = row[f"{metric}_ci95"] or 0.0
    mean = row[metric]
    return {"x": at, "color": str(row[color]), "mean": mean, "low": mean - half, "high": mean + half}


class Evaluation:
    """What `evaluate` gives; ``evaluation["parts"]`` and other keys are those of the JSON."""

    def __init__(self, json: str, human: str) -> None:
        self._json = json
        self._human = human
        self.data: dict[str, Any] = _json.loads(json)

    @property
    def score(self) -> float | None:
        """How many times as good as the base; None if the candidate failed: `failures` says how."""
        score: float | None = self.data["score"]
        return score

    def json(self) -> str:
        """The bytes that ``wakeplace evaluate --json`` writes."""
        return self._json

    def text(self) -> str:
        """As the command line writes it for people."""
        return self._human

    @property
    def command(self) -> str | None:
        """The command that gives the same bytes with ``--json``; None where a platform is a
        dict."""
        command: str | None = self.data["command"]
        return command

    def __getitem__(self, key: str) -> Any:
        return self.data[key]

    def __str__(self) -> str:
        return self._human

    def __repr__(self) -> str:
        return f"<wakeplace.Evaluation: {self['candidate']['name']}: {self.score}>"


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
