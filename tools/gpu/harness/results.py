# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The records of run.py: results that are complete at any time, time limits, parts that fail
independently, and the build."""

import concurrent.futures
import hashlib
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
        self.cudnn = None  # the library over cuDNN
        self.compiler = None
        self.environment = None  # of own programs, if it is another one
        self.architectures = []
        self.failed_builds = []
        self.broken = set()  # cases whose trainer does not run
        text = (folder / "cases.json").read_text()
        self.cases = [case for case in json.loads(text) if re.search(options.cases, case["name"])]
        self.results["cases"] = hashlib.sha256(text.encode()).hexdigest()[:16]
        if options.resume:
            self.resume()
        if not self.cases:
            print(f"run.py: error: no case has a name that matches '{options.cases}'", file=sys.stderr)
            sys.exit(2)
        self.out = folder / "out"
        self.out.mkdir(exist_ok=True)

    # Records

    def resume(self):
        """Continues an earlier run of the same cases, sample by sample."""
        if not self.options.output.exists():
            return
        with open(self.options.output) as file:
            before = json.load(file)
        if before.get("cases") != self.results["cases"]:
            print(f"run.py: error: {self.options.output} has results of other cases, expected another --output or no --resume",
                  file=sys.stderr)
            sys.exit(2)
        self.results = {**before, "finished": False, "stage": "build", "not run": []}
        self.results.pop("stopped", None)
        print(f"resumes {self.options.output}", flush=True)

    def set_device(self, device):
        """Results of two devices never meet in one file."""
        if self.results.setdefault("device", device) != device:
            print(f"run.py: error: {self.options.output} has results of {self.results['device']}, expected {device}",
                  file=sys.stderr)
            sys.exit(2)

    def save(self):
        """Replaces the file of results, which is complete at any time."""
        self.results["seconds"] = round(time.monotonic() - self.start, 1)
        unfinished = self.options.output.with_name(self.options.output.name + ".new")
        with open(unfinished, "w") as file:
            json.dump(make_finite(self.results), file, indent=1)
        os.replace(unfinished, self.options.output)

    def note(self, case, check, passed, text):
        """Records a check."""
        self.results["checks"] = [item for item in self.results["checks"] if (item["case"], item["check"]) != (case, check)]
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
        status, text = machine.execute(command, limit, env=self.environment)
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

    def has_products(self, case, architecture):
        """Whether a GPU of the architecture has the products of a case."""
        least, most = case.get("capability", (0, math.inf))
        return least <= int(re.match(r"\d+", architecture)[0]) <= most

    def compile_source(self, source, program, libraries=(), lacking=()):
        """Builds a program, unless it is there and neither its source nor the command changed. Leaves out the
        architectures `lacking`."""
        if self.options.prebuilt:
            return (0, "") if program.exists() else (1, f"{program} is missing, expected it from --build-only")
        if self.seconds_left < 1:
            return TIMEOUT, "no time left"
        # The compiler is a command, with the arguments that follow the source.
        before, _, after = self.compiler.partition("{}")
        words = [word for word in shlex.split(before) if word not in {f"-gencode=arch=compute_{a},code=sm_{a}" for a in lacking}]
        command = [*words, source, *shlex.split(after), *libraries, "-o", program]
        built = program.with_name(program.name + ".built")
        state = hashlib.sha256(json.dumps(list(map(str, command))).encode() + source.read_bytes()).hexdigest()
        if program.exists() and built.exists() and built.read_text() == state:
            return 0, ""
        built.unlink(missing_ok=True)
        status, text = machine.execute(command, self.seconds_left)
        # Warnings are reported again.
        if status == 0 and not text.strip():
            built.write_text(state)
        return status, text

    def build_library(self, compiler):
        """The library over cuDNN, built from the sources in this folder, or None and the reason."""
        library, sources = self.out / "libamp_cudnn.so", sorted((folder / "cudnn").glob("*.cpp"))
        if self.options.prebuilt:
            return (library, "") if library.exists() else (None, f"{library} is missing, expected it from --build-only")
        headers = machine.find_header("cudnn_graph.h")
        if not sources or not headers:
            return None, "there are no headers of cuDNN" if sources else "the folder has no sources of the library"
        joined = self.out / "amp_cudnn.cpp"
        joined.write_text("".join(f'#include "{source}"\n' for source in sources))
        includes = [folder / "include", folder / "cudnn", folder / "cudnn/include", *headers, *machine.find_header("cuda_runtime.h")]
        # The frontend takes a minute to compile.
        if not library.exists() or library.stat().st_mtime < max(source.stat().st_mtime for source in sources):
            status, text = machine.execute([
                compiler, "-std=c++17", "-O1", "-shared", "-fPIC", "-DNV_CUDNN_FRONTEND_USE_DYNAMIC_LOADING",
                *(f"-I{path}" for path in includes), joined, "-ldl", "-o", library], self.seconds_left)
            if status:
                return None, text.strip()[-2000:]
        return library, ""

    def libraries(self, case):
        """The arguments by which a program finds the library over cuDNN."""
        if case.get("needs") != "cudnn" or not self.cudnn:
            return ()
        return f"-L{self.out}", "-lamp_cudnn", "-Xlinker", f"-rpath,{self.out}"

    def build(self, compiler):
        """Builds all sources, several at a time, the large models first. A source that does not
        build is a separate failure."""
        self.compiler = compiler
        if any(case.get("needs") == "cudnn" for case in self.cases) and not self.options.emulator:
            self.cudnn, why = self.build_library(os.environ.get("CXX", "c++"))
            for case in self.cases if not self.cudnn else ():
                if case.get("needs") == "cudnn":
                    self.note_not_run(case["name"], "build", f"no library over cuDNN: {why}")
            self.cases = [case for case in self.cases if self.cudnn or case.get("needs") != "cudnn"]

        usable = []
        for case in self.cases:
            if not self.architectures or any(self.has_products(case, a) for a in self.architectures):
                usable.append(case)
            else:
                self.note_not_run(case["name"], "build", f"8-bit products of '{case['recipe']}' do not run on sm_{self.architectures[0]}")
        self.cases = usable

        def compile(case):
            lacking = [a for a in self.architectures if not self.has_products(case, a)]
            return self.compile_source(folder / case["source"], self.program(case), self.libraries(case), lacking)

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
