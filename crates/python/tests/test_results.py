"""Goal: the same bytes as the command line, the same words, and tables that hold what JSON holds."""

import inspect
import json
import pathlib
import signal
import threading
import time
import tomllib

import pyarrow
import pyarrow.parquet
import pytest
import wakeplace as wp

POLICIES = ["linux-4.17", "linux-4.17+energy-aware"]


def compared(**more):
    arguments = {
        "platform": "hikey960",
        "workload": "periodic:n=4,duty=5%",
        "policy": POLICIES,
        "seeds": 3,
        "duration": "200ms",
    }
    return wp.compare(**(arguments | more))


@pytest.mark.parametrize(
    "more",
    [
        {},
        {"seeds": [7], "margin": 2.5, "set": {"busy_factor": 8, "model.thermal": True}},
        {"platform": ["hikey960", "juno-r0"], "oracle": True, "seeds": "4..5"},
        {"hotplug": "0s:1=off,100ms:1=on", "policy": [*POLICIES, "linux-7.3:busy_factor=3"]},
    ],
)
def test_compare_gives_the_bytes_of_its_command(cli, more):
    result = compared(**more)
    for form in ("json", "csv", "md", "human"):
        assert result.text(form) == cli(result.command, "--format", form)


def test_sim_gives_the_bytes_of_its_command(cli):
    result = wp.sim("juno-r0", "cyclictest", "linux-7.3", seed=3, duration="50ms")
    assert result.json() == cli(result.command, "--format", "json")
    result = wp.sim("juno-r0", "periodic:n=2,duty=5%", "linux-7.3", seeds=[2, 1], duration="50ms")
    assert result.json() == cli(result.command, "--format", "json")


@pytest.mark.parametrize(
    ("more", "options"),
    [
        ({"wakeup": 3, "why_not": 0}, "--wakeup 3 --why-not 0"),
        ({"at": "50ms", "seed": 2}, "--at 50ms --seed 2"),
        (
            {"task": "periodic", "compare_policy": ["linux-3.8"], "set": {"busy_factor": 8}},
            "--task periodic --compare-policy linux-3.8 --set busy_factor=8",
        ),
    ],
)
def test_explain_gives_the_bytes_of_its_command(cli, more, options):
    answer = wp.explain("hikey960", "periodic:n=4,duty=5%", "linux-7.3", duration="200ms", **more)
    command = "explain --platform hikey960 --workload periodic:n=4,duty=5% --policy linux-7.3"
    assert answer.json() == cli(f"{command} --duration 200ms {options}", "--format", "json")
    assert f"CPU {answer['cpu']}" in repr(answer)


@pytest.mark.parametrize(
    "more",
    [
        {},
        {"goal": ["energy", "wake_latency_us_p50"], "seeds": 1, "set": {"busy_factor": 8}},
        {"platform": ["juno-r0"], "base": "linux-6.12", "duration": "100ms"},
    ],
)
def test_evaluate_gives_the_bytes_of_its_command(cli, more):
    found = wp.evaluate("wakeplace", **more)
    assert found.json() == cli(found.command, "--json")
    assert found.text() == cli(found.command)
    assert found["valid"] and found.score > 0 and str(found.score) in repr(found)


def test_what_cannot_be_evaluated_is_said():
    with pytest.raises(wp.WakeplaceError, match="the candidate `linux-7.3` is the base"):
        wp.evaluate("linux-7.3")
    with pytest.raises(wp.WakeplaceError, match="busy_factor=16` is the base"):
        wp.evaluate("linux-7.3:busy_factor=16")
    with pytest.raises(wp.WakeplaceError, match="did you mean `small`"):
        wp.evaluate("wakeplace", battery="smal")
    with pytest.raises(wp.WakeplaceError, match="did you mean `energy`"):
        wp.evaluate("wakeplace", goal="enrgy")


def test_study_gives_the_bytes_of_its_command(cli):
    name = "energy-aware/energy-hikey960"
    assert name in [study["name"] for study in wp.studies()]
    result = wp.study(name, quick=True, seeds=1, duration="100ms")
    assert result.json() == cli(result.command, "--format", "json")


def test_a_run_that_is_stuck_is_told(tmp_path):
    """Goal: of a task that lets no time pass both `sim` and a study say that a run got stuck."""
    app = tmp_path / "app.json"
    app.write_text('{"tasks": {"good": {"run": 10, "sleep": 990}, "spin": {"run": 0}}}')

    def study(workload):
        file = tmp_path / "study.toml"
        file.write_text(
            'title = "x"\nsource = "a test"\nplatform = "tc2"\nduration = "50ms"\nseeds = 1\n'
            'policies = ["linux-4.17", "linux-7.3"]\n\n[quick]\nseeds = 1\n\n'
            '[[metric]]\nname = "migrations_total"\n\n'
            f'[[case]]\ntoken = "a"\nworkload = "{workload}"\n'
        )
        return wp.study(file)

    assert study(app).stuck
    assert not study("periodic:n=1").stuck
    assert wp.sim("tc2", str(app), "linux-4.17", duration="50ms").stuck
    assert not wp.sim("tc2", "periodic:n=1", "linux-4.17", duration="50ms").stuck


def test_sweep_gives_the_bytes_of_its_command(cli, tmp_path):
    result = wp.sweep(
        "hikey960",
        "periodic:n=4,duty=5%",
        "linux-7.3",
        vary={"busy_factor": "4..32:3", "platform": ["hikey960", "juno-r0"]},
        seeds=2,
        duration="100ms",
    )
    command = (
        "sweep --workload periodic:n=4,duty=5% --policy linux-7.3 --platform hikey960 --seeds 2 "
        "--vary busy_factor=4..32:3 --vary platform=hikey960,juno-r0 --duration 100ms"
    )
    assert result.json() == cli(command, "--format", "json")
    assert (result.cells, result.made, result.failed) == (12, 12, 0)
    exported = tmp_path / "runs.parquet"
    cli(command, "--export", str(exported))
    assert pyarrow.parquet.read_table(exported).to_pylist() == result.to_arrow().to_pylist()


def test_a_sweep_has_the_base_that_is_named(cli):
    arguments = {"vary": {"busy_factor": [4, 8]}, "seeds": 2, "duration": "50ms"}
    result = wp.sweep(
        "hikey960", "periodic:n=2,duty=5%", "linux-7.3", base={"busy_factor": 8}, **arguments
    )
    command = (
        "sweep --platform hikey960 --workload periodic:n=2,duty=5% --policy linux-7.3 --seeds 2 "
        "--vary busy_factor=4,8 --base busy_factor=8 --duration 50ms"
    )
    assert result.json() == cli(command, "--format", "json")
    assert json.loads(result.json())["base"] == {"busy_factor": "8"}
    assert result.text("csv") == cli(command, "--format", "csv")
    with pytest.raises(wp.WakeplaceError, match="no point has `5`"):
        wp.sweep(
            "hikey960", "periodic:n=2", "linux-7.3", base={"busy_factor": 5}, **arguments
        )


def test_a_file_that_varies_is_a_sweep(cli, tmp_path):
    file = tmp_path / "mine.toml"
    file.write_text(
        'title = "x"\nplatform = "hikey960"\nworkload = "periodic:n=2,duty=5%"\n'
        'policies = ["linux-7.3"]\nseeds = 2\nduration = "50ms"\n\n'
        '[vary]\nbusy_factor = "4..32:3"\n'
    )
    result = wp.study(file, seeds=3)
    assert result.json() == cli(["study", "run", str(file), "--seeds", "3"], "--format", "json")


def test_tables_hold_what_the_json_holds():
    result = compared()
    table = result.to_arrow()
    assert table.schema.field("seed").type == pyarrow.uint64()
    expected = [
        (run["policy"], one["seed"], one["event_hash"], one["metrics"]["energy_j"])
        for run in result["runs"]
        for one in run["seed_runs"]
    ]
    columns = ("policy", "seed", "event_hash", "energy_j")
    rows = [tuple(row[name] for name in columns) for row in table.to_pylist()]
    # JSON has as many digits as a double needs.
    assert rows == expected
    assert len(rows) == 6
    assert result.to_polars().rows() == [tuple(row.values()) for row in table.to_pylist()]
    frame = result.to_pandas()
    assert list(frame["energy_j"]) == [row[3] for row in rows]
    assert frame["seed"].dtype == "uint64"


def test_a_stream_may_be_dropped_or_taken_once():
    result = compared(seeds=1)
    result.__arrow_c_stream__()
    assert result.to_arrow() == result.to_arrow()


def test_dicts_are_files(cli, tmp_path):
    tasks = {"tasks": {"a": {"instance": 2, "run": 500, "sleep": 9000}}}
    file = tmp_path / "two.json"
    file.write_text(json.dumps(tasks))
    of_dict = compared(workload=wp.Workload(tasks, name=str(file)))
    of_file = compared(workload=file)
    assert of_dict.command is None
    assert of_dict["runs"] == of_file["runs"]
    assert of_file.json() == cli(of_file.command, "--format", "json")


def test_platforms_of_a_dict():
    text = (pathlib.Path(__file__).parents[3] / "platforms/juno-r0.toml").read_text()
    own = wp.Platform(tomllib.loads(text), name="juno-r0")
    assert own.nr_cpus == wp.Platform("juno-r0").nr_cpus == 6
    assert compared(platform=own)["runs"] == compared(platform="juno-r0")["runs"]


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({"platform": "hikey961"}, "did you mean `hikey960`?"),
        ({"workload": "periodik:n=1"}, "did you mean `periodic`?"),
        ({"policy": ["linux-4.17", "linux-4.18+energy-aware"]}, "did you mean"),
        ({"set": {"busy_facter": 3}}, "did you mean `busy_factor`"),
        ({"hotplug": "0s:99=off"}, "99"),
    ],
)
def test_errors_have_the_words_of_the_command_line(cli, more, said):
    with pytest.raises(wp.WakeplaceError) as raised:
        compared(**more)
    assert isinstance(raised.value, ValueError)
    assert said in str(raised.value)
    given = {"platform": "hikey960", "workload": "periodic:n=4,duty=5%", "policy": POLICIES} | more
    words = ["compare", "--platform", given["platform"], "--workload", given["workload"]]
    for name in given["policy"]:
        words += ["--policy", name]
    for key, value in given.get("set", {}).items():
        words += ["--set", f"{key}={value}"]
    words += ["--hotplug", given["hotplug"]] if "hotplug" in given else []
    assert str(raised.value) in cli(words, ok=False)


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: compared(platfrom="x"), "unknown argument `platfrom`"),
        (lambda: compared(platfrom="x"), "did you mean `platform`?"),
        (lambda: compared(policy=["linux-4.17"]), "compare needs two policies"),
        (lambda: compared(seeds=0), "seeds: there is no seed in it"),
        (lambda: compared(duration="2"), "duration: "),
        (lambda: compared(duration=2), 'duration: 2; expected a text with a unit, as "500ms"'),
        (lambda: compared(workload=3), "workload: 3; expected a model"),
        (lambda: compared(platform=[None]), "platform: [None]; expected a name"),
        (lambda: compared(set=["busy_factor=3"]), "expected a dict"),
        (lambda: compared(margin="much"), "margin: 'much'; expected a percentage"),
        (lambda: compared(jobs=0), "jobs: 0; expected a whole number, 1 or more"),
        (lambda: wp.sim("hikey960", "periodic:n=1", "linux-7.3", seed=-1), "seed: -1; expected"),
        (lambda: wp.explain("hikey960", "periodic:n=1", "linux-7.3", to=-1), "to: -1; expected"),
        (lambda: wp.sweep("hikey960", "periodic:n=1", "linux-7.3", vary={}), "nothing is varied"),
        (
            lambda: wp.sweep("hikey960", "periodic", "linux-7.3", vary={"seed": [1]}, executor=7),
            "unknown setting `seed`",
        ),
        (
            lambda: wp.sweep(
                "hikey960", "periodic", "linux-7.3", vary={"busy_factor": [4]}, executor=7
            ),
            "executor: 7; expected an executor",
        ),
        (lambda: compared(jitter="start=-1ms"), "jitter: "),
        (lambda: compared(margin=-1), "margin: `-1.0`; expected"),
        (lambda: compared(platform=[]), "no platform given"),
        (lambda: wp.Platform({"cpus": 3}), "dict:"),
        (lambda: wp.study("nothing/of-it"), "unknown study"),
        (
            lambda: wp.explain("hikey960", "periodic:n=2", "linux-7.3", task="tt", duration="9ms"),
            "has no task `tt`",
        ),
        (
            lambda: wp.explain("hikey960", "periodic:n=2", "linux-7.3", at="1ms", to=1),
            "both at and to are given",
        ),
        (lambda: compared().text("xml"), "expected human, json, csv or md"),
    ],
)
def test_what_is_wrong_is_said(call, said):
    with pytest.raises(wp.WakeplaceError) as raised:
        call()
    assert said in str(raised.value)


def test_functions_agree_on_the_arguments_that_they_share():
    of_sim = inspect.signature(wp.sim).parameters
    shared = 0
    for function in (wp.compare, wp.evaluate, wp.explain, wp.sweep, wp.study):
        for name, one in inspect.signature(function).parameters.items():
            # Of seeds each has its own default; a battery has boards of its own.
            if function is wp.evaluate and name == "platform":
                continue
            if one.kind is one.KEYWORD_ONLY and name in of_sim and name not in ("seed", "seeds"):
                other = of_sim[name]
                assert (one.default, one.annotation) == (other.default, other.annotation), name
                shared += 1
    assert shared > 20


def test_policies_are_those_of_the_command_line(cli):
    listed = json.loads(cli("policy list", "--format", "json"))
    assert wp.policies() == next(v for v in listed.values() if isinstance(v, list))


def test_other_threads_run_meanwhile():
    turns = []
    ended = threading.Event()

    def turn():
        while not ended.is_set():
            turns.append(1)
            time.sleep(0.001)

    thread = threading.Thread(target=turn)
    thread.start()
    began = time.monotonic()
    compared(duration="5s")
    took = time.monotonic() - began
    ended.set()
    thread.join()
    # With the lock held it would be a handful at most; a slow machine gets a tenth of its turns.
    assert len(turns) > 10 * took


def test_ctrl_c_ends_a_comparison():
    timer = threading.Timer(0.5, signal.raise_signal, [signal.SIGINT])
    timer.start()
    began = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        compared(duration="100s", seeds=200, jobs=1)
    assert time.monotonic() - began < 5


def test_notebooks_see_the_table():
    result = compared(seeds=1)
    assert result._repr_html_().startswith("<pre>")
    assert "energy" in str(result)
    assert result.html().lstrip().lower().startswith("<!doctype html>")


def test_charts_are_those_of_the_page():
    pytest.importorskip("altair")
    result = compared(policy=[*POLICIES, "linux-7.3"])
    charts = result.charts()
    drawn = json.loads(result.html().split('id="drawn">', 1)[1].split("</script>", 1)[0])
    assert len(charts) == sum(len(specs) for specs in drawn["charts"].values()) > 0
    first = next(iter(charts.values())).to_dict()
    # The page's theme gives the colours; here they are given.
    assert '"@' not in json.dumps(first["layer"] if "layer" in first else first["encoding"])
    assert result.plot().to_dict() == first
    with pytest.raises(wp.WakeplaceError, match="unknown chart"):
        result.plot("no such chart")


def test_points_of_a_sweep_are_drawn():
    pytest.importorskip("altair")
    result = wp.sweep(
        workload="periodic:n=4,duty=5%",
        policy="linux-7.3",
        vary={"busy_factor": "4..32:3", "platform": ["hikey960", "juno-r0"]},
        seeds=2,
        duration="100ms",
    )
    spec = result.plot("cpu_energy_j").to_dict()
    points = json.loads(result.json("cpu_energy_j"))["points"]
    # Altair may keep data beside the chart, by name.
    data = spec["data"]
    drawn = data["values"] if "values" in data else spec["datasets"][data["name"]]
    assert [one["mean"] for one in drawn] == [point["cpu_energy_j"] for point in points]
    assert [one["x"] for one in drawn] == [float(point["busy_factor"]) for point in points]
    assert {one["color"] for one in drawn} == {"hikey960", "juno-r0"}
    with pytest.raises(wp.WakeplaceError, match="did you mean `platform`"):
        result.plot("cpu_energy_j", x="platfrom")
    with pytest.raises(wp.WakeplaceError, match="cpu_energy_j"):
        result.plot("cpu_enrgy_j")


def test_a_study_is_judged_by_its_margin(cli):
    name = "energy-aware/energy-hikey960"
    result = wp.study(name, quick=True, seeds=2, duration="100ms", margin=300)
    assert result.json() == cli(result.command, "--format", "json")
    words = {row["difference"] for row in result["rows"] if row["difference"]}
    assert words <= {"none that matters", "not told", "one run"}
    assert result["multiplicity"]["intervals"] > 0
    with pytest.raises(wp.WakeplaceError, match="percentage of 0 or more"):
        wp.study(name, quick=True, seeds=1, margin=-1)
