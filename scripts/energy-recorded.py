"""The cases of the study wakeplace/energy as recordings: each load is run once under linux-7.3 and
recorded, and the recording is what all policies get.

    python3 scripts/energy-recorded.py PROGRAM [FOLDER]

FOLDER keeps the recordings and the study file, `energy-recorded.toml`; else nothing is kept. The
tables are those of `PROGRAM study run`. The seed draws by how much threads begin later, up to 10 ms.
"""

import json
import pathlib
import subprocess
import sys
import tempfile
import tomllib

ROOT = pathlib.Path(__file__).resolve().parent.parent
JITTER = "start=10ms"
RECORDED_UNDER = "linux-7.3"


def recorded(program, case, study, folder):
    """The case with a recording of its load for a workload."""
    platform = case.get("platform", study["platform"])
    file = folder / f"{case['token']}.pftrace"
    command = [program, "--quiet", "sim", "--platform", platform, "--workload", case["workload"]]
    command += ["--policy", RECORDED_UNDER, "--duration", study["duration"]]
    subprocess.run(
        [*command, "--export-perfetto", file], check=True, cwd=ROOT, stdout=subprocess.DEVNULL
    )
    return case | {"workload": f"trace:{file}", "platform": platform, "jitter": JITTER}


def toml(value):
    """A value on one line; JSON's strings, numbers and lists are TOML's, too."""
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{key} = {toml(of)}" for key, of in value.items()) + " }"
    return json.dumps(value)


def table(name, values):
    lines = [f"{key} = {toml(value)}" for key, value in values.items()]
    return "\n".join([name, *lines, ""])


def written(study, cases):
    """The study file."""
    own = {key: study[key] for key in ("title", "source", "platform", "duration", "seeds")}
    own["title"] += ", recorded"
    parts = [table("", own), table("[quick]", {"seeds": 2, "cases": [cases[0]["token"]]})]
    for name, tables in (("column", study["column"]), ("metric", study["metric"]), ("case", cases)):
        parts += [table(f"[[{name}]]", of) for of in tables]
    return "\n".join([*parts, table("[tradeoff]", study["tradeoff"])])


def main():
    if not 2 <= len(sys.argv) <= 3:
        sys.exit(__doc__)
    program = pathlib.Path(sys.argv[1]).resolve()
    study = tomllib.loads((ROOT / "studies/wakeplace/energy/study.toml").read_text())
    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(sys.argv[2] if len(sys.argv) == 3 else scratch).resolve()
        folder.mkdir(parents=True, exist_ok=True)
        cases = [recorded(program, case, study, folder) for case in study["case"]]
        file = folder / "energy-recorded.toml"
        file.write_text(written(study, cases))
        sys.exit(subprocess.run([program, "study", "run", file], check=False).returncode)


if __name__ == "__main__":
    main()
