#!/usr/bin/env python3
"""The harness of performance: it measures every line of "must reach" as a ratio, side by side in one run.

    pip install duckdb duckdb-cli
    python3 benches/ratios.py [--json FILE] [--quick] [--only LINE ...] [--scratch FOLDER]

Needs ANONSQL_SHARED (default ../shared) for the lines on the Adult table. The two sides of a comparison take turns, five
times (once with --quick), and their medians are compared, because absolute times on a shared machine mean little.
Tables are generated into the scratch folder and kept there. Lines whose peer is not installed are reported as not
measured. The exit code is 1 if a line misses its required ratio.
"""

import argparse
import hashlib
import json
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
COLUMNS = ["sex", "age", "race", "marital_status", "education", "native_country", "workclass", "occupation", "salary_class"]
# A wide release of a census: the generalized columns with their hierarchies, and the columns beside
# them.
WIDE = {
    "age": "AS INTERVALS (5, 10, 20) TOP CODE 90",
    "sex": "AS VALUES ('female', 'any'), ('male', 'any')",
    "zip": "AS PREFIX (4, 3, 2) MASK '*'",
    "education": f"FROM '{ROOT / 'data' / 'hierarchies' / 'education.csv'}' OPTIONS (delimiter ';', has_header false)",
}
BESIDE = ["marital_status", "native_country", "race", "workclass", "occupation", "salary_class", "income"]
# The peer (ARX 3.9) from CSV to CSV on 5 million rows. These figures are from performance.md and
# are not measured here.
PEER_5M = {"wall_s": 35.0, "peak_mb": 2600.0}


def build():
    """Builds the command and the bench, and returns their paths."""
    subprocess.run(["cargo", "build", "--release"], cwd=ROOT, check=True)
    made = subprocess.run(
        ["cargo", "bench", "--bench", "ratios", "--no-run", "--message-format=json"],
        cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True,
    ).stdout.splitlines()
    messages = [json.loads(line) for line in made if line.startswith("{")]
    bench = next(m["executable"] for m in messages if m.get("executable") and m["target"]["name"] == "ratios")
    return pathlib.Path(bench).parent.parent / "anonsql", pathlib.Path(bench)


def spawn(command):
    """Runs a command to its end. Returns wall seconds, CPU seconds, peak resident megabytes, and its output."""
    with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as err:
        begun = time.perf_counter()
        child = subprocess.Popen(command, stdout=out, stderr=err)
        # The system reports the number of bytes read only until the process is waited for.
        os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
        read = bytes_read(child.pid)
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        wall = time.perf_counter() - begun
        out.seek(0), err.seek(0)
        return {
            "code": child.returncode, "wall_s": wall, "cpu_s": usage.ru_utime + usage.ru_stime,
            "peak_mb": usage.ru_maxrss / 1024, "read_mb": read / 1e6, "out": out.read(), "err": err.read(),
        }


def bytes_read(pid):
    """Returns the number of bytes that a process requested from its files."""
    try:
        lines = pathlib.Path(f"/proc/{pid}/io").read_text().splitlines()
        return next(int(line.split()[1]) for line in lines if line.startswith("rchar"))
    except (OSError, StopIteration):
        return float("nan")


def launcher():
    """Runs the commands that it reads as lines. A child's peak memory starts from its parent's, and the harness itself
    contains DuckDB, so commands are started from a process that stays small."""
    for line in sys.stdin:
        print(json.dumps(spawn(json.loads(line))), flush=True)


LAUNCHER = None


def run(command, may_fail=False):
    """Runs a command through the launcher. A failure ends the harness, unless the command may fail."""
    global LAUNCHER
    if LAUNCHER is None:
        me = [sys.executable, __file__, "--launcher"]
        LAUNCHER = subprocess.Popen(me, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    LAUNCHER.stdin.write(json.dumps([str(c) for c in command]) + "\n")
    LAUNCHER.stdin.flush()
    done = json.loads(LAUNCHER.stdout.readline())
    if done["code"] != 0 and not may_fail:
        sys.exit(f"{' '.join(map(str, command))} failed: {done['err']}")
    return done


def median(runs, key):
    """Returns the median of one figure over runs."""
    return statistics.median(r[key] for r in runs)


class Bench:
    """One run of the harness."""

    def __init__(self, arguments):
        self.arguments = arguments
        self.runs = 1 if arguments.quick else 5
        self.rows = 200_000 if arguments.quick else 10_000_000
        self.scratch = pathlib.Path(arguments.scratch or tempfile.gettempdir()) / "anonsql-ratios"
        self.scratch.mkdir(parents=True, exist_ok=True)
        self.lines = []
        self.anonsql, self.bench = build()
        try:
            import duckdb

            self.duckdb = duckdb.connect()
            self.duckdb.execute("SET enable_progress_bar = false")
        except ImportError:
            self.duckdb = None

    def report(self, line, ratio, limit, **details):
        """Prints and stores a line. `limit` is the highest allowed ratio, or None if there is no limit."""
        verdict = "-" if limit is None or ratio is None else "ok" if ratio <= limit else "MISSED"
        shown = "-" if ratio is None and limit is None else "not measured" if ratio is None else f"{ratio:.3f}"
        allowed = "" if limit is None else f"at most {limit}"
        facts = ", ".join(f"{k} {v:.3g}" if isinstance(v, float) else f"{k} {v}" for k, v in details.items())
        print(f"{line:<34} {shown:>12} {allowed:<14} {verdict:<7} {facts}", flush=True)
        self.lines.append({"line": line, "ratio": ratio, "at_most": limit, "verdict": verdict, **details})

    def table(self, rows, columns=len(COLUMNS), combinations=None):
        """Returns the path of a generated table, which is kept for the next run."""
        path = self.scratch / f"bench_{rows}x{columns}_{combinations or 'default'}.parquet"
        if not path.exists():
            half = path.with_suffix(".half")
            command = [self.anonsql, "generate", "bench", "--rows", rows, "--columns", columns, "--seed", 1, "--out", half]
            run(command + (["--combinations", combinations] if combinations else []))
            half.rename(path)
        return path

    def script(self, table, k=5, columns=COLUMNS, options=""):
        """Writes the whole job over a table as a script: glm, at most 5 percent suppressed."""
        hierarchies = ROOT / "data" / "hierarchies"
        lines = []
        for column in columns:
            file = hierarchies / f"{column}.csv"
            kind = f"FROM '{file}'" if file.exists() else "AS SUPPRESSION"
            lines.append(f"CREATE HIERARCHY {column} {kind};")
        listed = ", ".join(f"{c} USING {c}" for c in columns)
        target = self.scratch / "released"
        lines.append(
            f"ANONYMIZE '{table}' TO '{target}' OVERWRITE QUASI IDENTIFIERS ({listed}) SATISFYING k_anonymity({k}) "
            f"SUPPRESSING AT MOST 5 PERCENT MINIMIZING glm{options};"
        )
        path = self.scratch / f"job_{table.stem.strip('*') or table.parent.name}_{k}.sql"
        path.write_text("\n".join(lines))
        return path

    def job(self, script, threads=2, memory=None):
        """Runs the whole job with the command."""
        limit = ["--memory-limit", memory] if memory else []
        return run([self.anonsql, "--threads", threads, *limit, "-f", script])

    def phases(self, script, threads=2):
        """Returns the seconds of each phase of the job, in one process."""
        return json.loads(run([self.bench, "job", script, threads])["out"])["phases_s"]

    def duck(self, query, threads=2):
        """Runs a query in DuckDB, in this process."""
        self.duckdb.execute(f"SET threads = {threads}")
        wall, cpu = time.perf_counter(), time.process_time()
        self.duckdb.execute(query).fetchall()
        return {"wall_s": time.perf_counter() - wall, "cpu_s": time.process_time() - cpu}

    def duck_group_by(self, table):
        """Measures the lower bound of the first scan: DuckDB's GROUP BY."""
        listed = ", ".join(COLUMNS)
        return self.duck(f"SELECT count(*), sum(n) FROM (SELECT {listed}, count(*) AS n FROM '{table}' GROUP BY {listed})")

    def duck_copy(self, table):
        """The floor of the second scan."""
        copy = self.scratch / "copy.parquet"
        return self.duck(f"COPY (SELECT * FROM '{table}') TO '{copy}' (FORMAT parquet, COMPRESSION zstd)")

    # The lines of the harness. Each is a method that reports one or more lines.

    def inner_loop(self):
        """Measures a node, the whole lattice and the default search on Adult."""
        if self.arguments.quick:
            return
        limits = {"node": 1.4, "lattice": 2.5}
        for text in run([self.bench, "lattice"])["out"].splitlines():
            line = json.loads(text)
            name, ratio = line.pop("line"), line.pop("ratio")
            if name == "search":
                name = f"search {line['metric']} k {line['k']} limit {line['limit_percent']} %"
                # Without a suppression limit there is no required ratio. The measured ratio shows
                # the cost of bookkeeping.
                self.report(name, ratio, 0.25 if line["limit_percent"] else None, **line)
            else:
                self.report(name, ratio, limits[name], **line)

    def first_scan(self):
        """Compares reading the quasi-identifiers with DuckDB's GROUP BY of them."""
        table = self.table(self.rows)
        script = self.script(table)
        if self.duckdb is None:
            return self.report("first scan", None, 0.6, why="pip install duckdb")
        ours, theirs = [], []
        for _ in range(self.runs):
            theirs.append(self.duck_group_by(table))
            ours.append(self.phases(script))
        scan, group_by = median(ours, "scan"), median(theirs, "wall_s")
        self.report("first scan", scan / group_by, 0.6, scan_s=scan, duckdb_group_by_s=group_by, rows=self.rows)

    def whole_job(self):
        """Compares the job with DuckDB's GROUP BY plus its COPY."""
        table = self.table(self.rows)
        script = self.script(table)
        ours, limited, floor = [], [], []
        for _ in range(self.runs):
            if self.duckdb is not None:
                group_by, copy = self.duck_group_by(table), self.duck_copy(table)
                floor.append({k: group_by[k] + copy[k] for k in group_by})
            ours.append(self.job(script))
            limited.append(self.job(script, memory="1GB"))
        figures = {"wall_s": median(ours, "wall_s"), "cpu_s": median(ours, "cpu_s"), "rows": self.rows}
        if floor:
            wall = median(floor, "wall_s")
            self.report("whole job, ordered", figures["wall_s"] / wall, 1.5, duckdb_wall_s=wall, duckdb_cpu_s=median(floor, "cpu_s"), **figures)
        else:
            self.report("whole job, ordered", None, 1.5, why="pip install duckdb", **figures)
        peak = median(limited, "peak_mb")
        self.report("peak memory, --memory-limit 1GB", peak / 1024, 1.0, peak_mb=peak, wall_s=median(limited, "wall_s"))

    def beside_the_peer(self):
        """Compares a job over five million rows with the peer's job from CSV to CSV."""
        rows = self.rows // 2
        script = self.script(self.table(rows))
        runs = [self.job(script) for _ in range(self.runs)]
        wall, peak = median(runs, "wall_s"), median(runs, "peak_mb")
        self.report("5 million rows, time / peer", wall / PEER_5M["wall_s"], 1 / 6, wall_s=wall, rows=rows)
        self.report("5 million rows, memory / peer", peak / PEER_5M["peak_mb"], 1 / 3, peak_mb=peak)

    def growth(self):
        """Measures ten times the rows with the same combinations."""
        few, many = self.script(self.table(self.rows)), self.script(self.table(self.rows * 10))
        small, large = [], []
        for _ in range(self.runs):
            small.append(self.job(few))
            large.append(self.job(many))
        wall = median(large, "wall_s") / median(small, "wall_s")
        memory = median(large, "peak_mb") / median(small, "peak_mb")
        self.report("ten times the rows, time", wall, 10.5, wall_s=median(large, "wall_s"), from_s=median(small, "wall_s"))
        self.report("ten times the rows, memory", memory, 1.1, peak_mb=median(large, "peak_mb"), from_mb=median(small, "peak_mb"))

    def threads(self):
        """Compares two threads with one."""
        script = self.script(self.table(self.rows))
        one, two = [], []
        for _ in range(self.runs):
            one.append(self.job(script, threads=1))
            two.append(self.job(script, threads=2))
        wall = [median(one, "wall_s"), median(two, "wall_s")]
        self.report("two threads / one, time", wall[1] / wall[0], 1 / 1.7, one_s=wall[0], two_s=wall[1])

    def startup(self):
        """Measures the shortest statement."""
        peer = shutil.which("duckdb")
        if peer is None:
            return self.report("-c 'SELECT 1'", None, 2.0, why="pip install duckdb-cli")
        ours, theirs = [], []
        for _ in range(4 * self.runs):
            ours.append(run([self.anonsql, "-c", "SELECT 1"]))
            theirs.append(run([peer, "-c", "SELECT 1"]))
        walls = [median(ours, "wall_s"), median(theirs, "wall_s")]
        self.report("-c 'SELECT 1'", walls[0] / walls[1], 2.0, ms=walls[0] * 1e3, duckdb_ms=walls[1] * 1e3)

    def wide_table(self, rows=None):
        """Returns the path of a generated census, which is kept for the next run."""
        rows = rows or self.rows // 2
        path = self.scratch / f"census_{rows}.parquet"
        if not path.exists():
            half = path.with_suffix(".half")
            run([self.anonsql, "generate", "census", "--rows", rows, "--seed", 1, "--out", half])
            half.rename(path)
        return path

    def wide_script(self, table):
        """Writes a release of four quasi-identifiers and seven other columns as a script."""
        lines = [f"CREATE HIERARCHY {name} {kind};" for name, kind in WIDE.items()]
        listed = ", ".join(f"{name} USING {name}" for name in WIDE)
        lines.append(
            f"ANONYMIZE '{table}' TO '{self.scratch / 'wide'}' OVERWRITE IDENTIFIERS (name, ssn, birth_date) "
            f"QUASI IDENTIFIERS ({listed}) SENSITIVE ({', '.join(BESIDE)}) SATISFYING k_anonymity(5) "
            "SUPPRESSING AT MOST 1 PERCENT MINIMIZING glm;"
        )
        path = self.scratch / "wide.sql"
        path.write_text("\n".join(lines))
        return path

    def duck_wide(self, table, order=""):
        """GROUP BY of the quasi-identifiers, and a copy of the released columns."""
        copy, listed = self.scratch / "wide.parquet", ", ".join(WIDE)
        group_by = self.duck(f"SELECT count(*), sum(n) FROM (SELECT {listed}, count(*) AS n FROM '{table}' GROUP BY {listed})")
        columns = ", ".join([*WIDE, *BESIDE])
        written = self.duck(f"COPY (SELECT {columns} FROM '{table}' {order}) TO '{copy}' (FORMAT parquet, COMPRESSION zstd)")
        return {"bytes": copy.stat().st_size, **{k: group_by[k] + written[k] for k in group_by}}

    def wide(self):
        """Compares a release of many columns with DuckDB's GROUP BY and its copies, plain and ordered."""
        table = self.wide_table()
        script = self.wide_script(table)
        runs = {name: [] for name in ("ours", "limited", "one", "plain", "ordered")}
        for _ in range(self.runs):
            runs["ours"].append(self.job(script, memory="4GB"))
            runs["limited"].append(self.job(script, memory="1GB"))
            runs["one"].append(self.job(script, threads=1, memory="4GB"))
            if self.duckdb is not None:
                runs["plain"].append(self.duck_wide(table))
                runs["ordered"].append(self.duck_wide(table, "ORDER BY ALL"))
        ours = {key: median(runs["ours"], key) for key in ("wall_s", "cpu_s", "peak_mb")}
        released = sum(file.stat().st_size for file in (self.scratch / "wide").glob("*.parquet"))
        lines = [("wall / plain copy", "plain", "wall_s", 1.2), ("CPU / plain copy", "plain", "cpu_s", 1.3),
                 ("wall / ordered copy", "ordered", "wall_s", 0.75), ("bytes / plain copy", "plain", "bytes", 1.05)]
        for name, peer, key, limit in lines:
            if self.duckdb is None:
                self.report(f"wide release, {name}", None, limit, why="pip install duckdb")
                continue
            theirs, own = median(runs[peer], key), released if key == "bytes" else ours[key]
            self.report(f"wide release, {name}", own / theirs, limit, ours=own, duckdb=theirs, rows=self.rows // 2)
        peak, wall = median(runs["limited"], "peak_mb"), median(runs["limited"], "wall_s")
        self.report("wide release, peak under 1GB", peak / 1024, 1.0, peak_mb=peak, unlimited_mb=ours["peak_mb"])
        self.report("wide release, time 1GB / 4GB", wall / ours["wall_s"], 1.1, wall_s=wall)
        one = median(runs["one"], "wall_s")
        self.report("wide release, two threads / one", ours["wall_s"] / one, 1 / 1.8, one_s=one)

    def at_once(self):
        """Compares eight jobs in one process, at once and one after the other."""
        script = self.script(self.table(self.rows // 10)).read_text()
        scripts = []
        for number in range(8):
            path = self.scratch / f"at_once_{number}.sql"
            path.write_text(script.replace(f"'{self.scratch / 'released'}'", f"'{self.scratch / f'at_once_{number}'}'"))
            scripts.append(path)
        found = json.loads(run([self.bench, "jobs", 2, *scripts])["out"])
        self.report("eight jobs, at once / in turn", found["at_once_s"] / found["in_turn_s"], 1.0,
                    at_once_s=found["at_once_s"], in_turn_s=found["in_turn_s"])

    def choices(self):
        """Compares other searches and ways to release with auto on the same table of census rows."""
        table = self.wide_table()
        auto = self.wide_script(table)
        text = auto.read_text()
        changed = {
            ("mondrian", 1.5): text.replace("MINIMIZING glm", "MINIMIZING glm SEARCH USING mondrian"),
            ("peel", 1.6): text.replace("MINIMIZING glm", "MINIMIZING glm SEARCH USING peel"),
            ("personal_privacy", 1.8): "CREATE HIERARCHY jobs AS SUPPRESSION;\n" + text
            .replace(f"'{table}'", f"(SELECT *, 0.9 AS most FROM '{table}')")
            .replace("occupation", "occupation USING jobs")
            .replace("k_anonymity(5)", "k_anonymity(5) AND personal_privacy(most) ON occupation"),
            ("RANDOMIZED", 1.5): text.replace("occupation", "occupation RANDOMIZED WITHIN CLASS"),
        }
        scripts = {}
        for (name, limit), job in changed.items():
            scripts[name, limit] = self.scratch / f"wide_{name}.sql"
            scripts[name, limit].write_text(job)
        own, others = [], {name: [] for name in scripts}
        for _ in range(self.runs):
            own.append(self.job(auto, memory="4GB"))
            for name, script in scripts.items():
                others[name].append(self.job(script, memory="4GB"))
        wall = median(own, "wall_s")
        for (name, limit), runs in others.items():
            other = median(runs, "wall_s")
            self.report(f"wide release, {name} / auto", other / wall, limit, wall_s=other, auto_s=wall)

    def reports(self):
        """A job with a report and without: small ones as CSV and as Parquet, with how much of them stands in no phase, and a
        large one."""
        small = self.scratch / "census_300000.parquet"
        if not small.exists():
            run([self.anonsql, "generate", "census", "--rows", 300_000, "--seed", 1, "--out", small])
        for source, kind in ((small, "CSV"), (small, "PARQUET"), (self.wide_table(), "PARQUET")):
            self.with_report(source, kind)

    def with_report(self, source, kind):
        """Runs one job with a report and without, in turns."""
        script = self.scratch / "report.sql"
        text = self.wide_script(source).read_text().replace(" OVERWRITE", f" STORED AS {kind} OVERWRITE")
        runs, outside = {"": [], f" REPORT TO '{self.scratch / 'report.html'}'": []}, []
        for _ in range(self.runs):
            for option, found in runs.items():
                script.write_text(text.replace("MINIMIZING glm", f"MINIMIZING glm{option}"))
                done = run([self.anonsql, "--threads", 2, "--log", "json", "-f", script])
                found.append(done)
                ends = [e for e in map(json.loads, done["err"].splitlines()) if e.get("state") == "end"]
                outside.append(1 - sum(ends[-1]["phases"].values()) / ends[-1]["seconds"])
        shutil.rmtree(self.scratch / "wide", ignore_errors=True)
        name = f"{kind} of {source.stem}"
        for key, what in (("wall_s", "time"), ("peak_mb", "memory")):
            without, reported = (median(found, key) for found in runs.values())
            self.report(f"{name}, REPORT / without, {what}", reported / without, 1.3, reported=reported, without=without)
        self.report(f"{name}, share of time in no phase", statistics.median(outside), 0.05)

    def masks(self):
        """Compares releases with three masked columns with releases of the same columns as they are, and without them."""
        text = self.wide_script(self.wide_table(self.rows)).read_text()
        identifiers = "IDENTIFIERS (name, ssn, birth_date)"
        secret = f"WITH SECRET 'file:{self.scratch / 'secret'}'"
        (self.scratch / "secret").write_text(hashlib.sha256(b"benches/ratios.py").hexdigest())
        masked = f"IDENTIFIERS (name HASH {secret}, ssn MASK 'XXX-XX-####', birth_date SHIFT BY ssn 365 DAYS {secret})"
        kept = text.replace(identifiers, "").replace("SATISFYING", "KEEP (name, ssn, birth_date) SATISFYING")
        sensitive = f"SENSITIVE ({', '.join(BESIDE)})"
        jobs = {"masked": text.replace(identifiers, masked), "kept": kept, "dropped": text}
        for name, income in (("noise", "NOISE (0.1)"), ("swaps", "RANK SWAP (5 PERCENT)")):
            drawn = {"income": income, "workclass": "PRAM (0.8)", "occupation": "PRAM (0.8)"}
            columns = [f"{column} {drawn[column]} {secret}" if column in drawn else column for column in BESIDE]
            jobs[name] = text.replace(sensitive, f"SENSITIVE ({', '.join(columns)})")
        runs = {name: [] for name in jobs}
        for _ in range(self.runs):
            for name, job in jobs.items():
                script = self.scratch / f"masks_{name}.sql"
                script.write_text(job)
                runs[name].append(self.job(script))
        shutil.rmtree(self.scratch / "wide", ignore_errors=True)
        wall = {name: median(found, "wall_s") for name, found in runs.items()}
        lines = (
            ("three masks / columns kept", "masked", "kept", 1.3),
            ("three masks / columns dropped", "masked", "dropped", None),
            ("noise and two PRAM / columns as they are", "noise", "dropped", 1.3),
            ("rank swap and two PRAM / columns as they are", "swaps", "dropped", 1.3),
        )
        for line, name, other, limit in lines:
            self.report(line, wall[name] / wall[other], limit, masked_s=wall[name], other_s=wall[other], rows=self.rows)

    def billion(self):
        """Measures ten times more rows than `growth`, in ten files, within 2 GB."""
        few, folder = self.table(self.rows * 10, 6), self.scratch / f"bench_{self.rows * 100}x6"
        for number in range(10):
            path = folder / f"part_{number}.parquet"
            if not path.exists():
                folder.mkdir(exist_ok=True)
                command = [self.anonsql, "generate", "bench", "--rows", self.rows * 10, "--columns", 6, "--seed", number + 1]
                run([*command, "--out", path.with_suffix(".half")])
                path.with_suffix(".half").rename(path)
        columns = COLUMNS[:6]
        small = self.job(self.script(few, columns=columns), memory="2GB")
        large = self.job(self.script(folder / "*.parquet", columns=columns), memory="2GB")
        self.report("a billion rows / 100 million, time", large["wall_s"] / small["wall_s"], 10.5,
                    wall_s=large["wall_s"], from_s=small["wall_s"], rows=self.rows * 100)
        self.report("a billion rows, peak under 2GB", large["peak_mb"] / 2048, 1.0, peak_mb=large["peak_mb"], from_mb=small["peak_mb"])

    def shapes(self):
        """Shows the growth with more rows, quasi-identifiers and combinations. It has no limit."""
        for rows in (self.rows // 100, self.rows // 10, self.rows):
            self.shape(self.table(rows), f"{rows:.0e} rows".replace("e+0", "e"))
        million = self.rows // 10
        for columns in (2, 6, 12, 18, 24):
            table = self.table(million, columns)
            self.shape(table, f"{columns} quasi-identifiers")
        for exponent in range(3, 7 if self.arguments.quick else 9):
            rows = max(million, 10**exponent)
            table = self.table(rows, 14, 10**exponent)
            self.shape(table, f"10^{exponent} combinations")

    def shape(self, table, name):
        """Measures one job with all its figures. A job that exceeds the memory of the machine is a line that says so."""
        described = run([self.anonsql, "-c", f"DESCRIBE '{table}'", "--format", "csv"])["out"].splitlines()[1:]
        columns = [line.split(",")[0] for line in described]
        script = self.script(table, columns=columns, options=" WITH (time_limit = '20s')")
        done = run([self.anonsql, "--memory-limit", "8GB", "-f", script], may_fail=True)
        figures = {key: done[key] for key in ("wall_s", "cpu_s", "peak_mb", "read_mb")}
        if done["code"] == 0:
            search = json.loads((self.scratch / "released" / "_manifest.json").read_text())["search"]
            figures["nodes"] = search["nodes_assessed"]
            figures["nodes_per_s"] = search["nodes_assessed"] / max(self.phases(script)["search"], 1e-9)
        else:
            figures["ended"] = done["err"].strip().splitlines()[-1]
        self.report(name, None, None, **figures)


LINES = ["startup", "inner_loop", "first_scan", "whole_job", "wide", "choices", "at_once", "reports", "masks", "beside_the_peer", "threads", "growth",
         "billion", "shapes"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", type=pathlib.Path, default=ROOT / "target" / "ratios.json", help="where the lines are written")
    parser.add_argument("--quick", action="store_true", help="small tables, one run: whether the harness works")
    parser.add_argument("--only", nargs="+", choices=LINES, default=LINES, help="only these lines")
    parser.add_argument("--scratch", help="where generated tables are kept (default: the system's temporary folder)")
    arguments = parser.parse_args()
    bench = Bench(arguments)
    for line in arguments.only:
        getattr(bench, line)()
    arguments.json.parent.mkdir(parents=True, exist_ok=True)
    arguments.json.write_text(json.dumps({"cores": os.cpu_count(), "runs": bench.runs, "lines": bench.lines}, indent=1))
    print(f"written to {arguments.json}")
    sys.exit(any(line["verdict"] == "MISSED" for line in bench.lines))


if __name__ == "__main__":
    launcher() if sys.argv[1:] == ["--launcher"] else main()
