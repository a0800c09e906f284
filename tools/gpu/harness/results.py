# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The records of run.py: results that are complete at any time, time limits, parts that fail
independently, and the build."""

import concurrent.futures
import json
import math
import os
import pathlib
import re
import shlex
import sys
import time

import machine
from machine import TIMEOUT

folder = pathlib.Path(__file__).resolve().parents[1]


class NotRun(Exception):
    """A check that lacked the time or a tool."""


def last_line(text):
    lines = text.strip().splitlines()
    return lines[-1] if lines else ""


def read_run(path):
    """The contents of a file of --metrics-json."""
    with open(path) as file:
        return json.load(file)["runs"][0]


def make_finite(value):
    """JSON has no infinities."""
    if isinstance(value, dict):
        return {key: make_finite(item) for key, item in value.items()}
    if isinstance(value, list):
        return [make_finite(item) for item in value]
    return str(value) if isinstance(value, float) and not math.isfinite(value) else value


class Results:
    def __init__(self, options):
        self.options = options
        self.start = time.monotonic()
        self.end = self.stage_end = self.start + options.minutes * 60
        self.results = {"finished": False, "stage": "build", "checks": [], "not run": [], "times": {}, "ratios": {}, "peers": {}}
        self.peers = self.monitor = None
        self.failed_builds = []
        self.broken = set()  # cases whose trainer does not run
        with open(folder / "cases.json") as file:
            self.cases = [case for case in json.load(file) if re.search(options.cases, case["name"])]
        if not self.cases:
            print(f"run.py: error: no case has a name that matches '{options.cases}'", file=sys.stderr)
            sys.exit(2)
        self.out = folder / "out"
        self.out.mkdir(exist_ok=True)

    # Records

    def save(self):
        """Replaces the file of results, which is complete at any time."""
        self.results["seconds"] = round(time.monotonic() - self.start, 1)
        unfinished = self.options.output.with_name(self.options.output.name + ".new")
        with open(unfinished, "w") as file:
            json.dump(make_finite(self.results), file, indent=1)
        os.replace(unfinished, self.options.output)

    def note(self, case, check, passed, text):
        """Records a check."""
        self.results["checks"].append({"case": case, "check": check, "passed": passed, "result": text})
        print(f"{'ok    ' if passed else 'FAILED'} {case}: {check}: {text}", flush=True)
        self.save()

    def note_not_run(self, case, check, why):
        """Records a missing result, unless an earlier round has one."""
        entry = self.results["times"].get(case) if check == "time" else self.results["peers"].get(f"{case}-{check.split()[-1]}")
        listed = any(item["case"] == case and item["check"] == check for item in self.results["not run"])
        if listed or entry and entry["samples"]:
            return
        self.results["not run"].append({"case": case, "check": check, "why": why})
        print(f"not run {case}: {check}: {why}", flush=True)
        self.save()

    def attempt(self, case, check, body):
        """Runs a part. Records any failure and continues with the rest."""
        try:
            return body()
        except NotRun as reason:
            self.note_not_run(case, check, str(reason))
        except Exception as error:  # of whatever kind: the rest has to run
            self.note(case, check, False, f"{type(error).__name__}: {error}")
        return None

    # Time.

    @property
    def seconds_left(self):
        return min(self.end, self.stage_end) - time.monotonic()

    def cap(self, most):
        """A time limit that ends with the stage."""
        if self.seconds_left < 1:
            raise NotRun("no time left")
        return min(most, self.seconds_left)

    def execute(self, command, most):
        limit = self.cap(most)
        status, text = machine.execute(command, limit)
        if status == TIMEOUT and limit < most:
            raise NotRun(f"no time left after {limit:.0f} s")
        return status, text

    def ask(self, most, **request):
        limit = self.cap(most)
        answer = self.peers.ask(limit, **request)
        if "took more than" in answer.get("error", "") and limit < most:
            raise NotRun(f"no time left after {limit:.0f} s")
        return answer

    def free_peers(self):
        """Frees the memory of the peers, which the next parts may need on the device."""
        if self.peers.process and self.end - time.monotonic() > 1:
            self.peers.ask(min(30, self.end - time.monotonic()), do="free")

    # Building.

    def program(self, case):
        return self.out / case["name"]

    def build(self, compiler):
        """Builds all sources, several at a time, the large models first. A source that does not
        build is a separate failure."""
        before, _, after = compiler.partition("{}")

        def compile(case):
            if self.seconds_left < 1:
                return TIMEOUT, "no time left"
            # The compiler is a command, with the arguments that follow the source.
            command = [*shlex.split(before), folder / case["source"], *shlex.split(after), "-o", self.program(case)]
            return machine.execute(command, self.seconds_left)

        built = set()
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            try:
                jobs = [(case, pool.submit(compile, case)) for case in sorted(self.cases, key=lambda case: "reference" in case)]
                for case, job in jobs:
                    status, text = job.result()
                    if status == TIMEOUT:
                        self.note_not_run(case["name"], "build", text)
                    elif status:
                        self.note(case["name"], "build", False, f"{case['source']} does not compile\n{text}")
                    elif text.strip():
                        self.results.setdefault("warnings", {})[case["name"]] = text.strip()[:2000]
                    if status and status != TIMEOUT:
                        self.failed_builds.append(case["name"])
                    elif status == 0:
                        built.add(case["name"])
            except BaseException:
                self.end = time.monotonic()  # nothing else starts
                machine.end_all()
                raise
        self.cases = [case for case in self.cases if case["name"] in built]
        seconds = time.monotonic() - self.start
        print(f"{len(self.cases)} programs built in {seconds:.0f} s, {len(jobs) - len(built)} not", flush=True)
        self.results["seconds to build"] = round(seconds, 1)
        self.save()
