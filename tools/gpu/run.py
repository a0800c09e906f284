#!/usr/bin/env python3
# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The second stage of `tools/dev gpu`, in the folder that the first one wrote.

Builds the training steps with nvcc, compares the states that they reach with
those of a CPU, forces an overflow, times them, and writes results.json. Needs a
GPU with its driver, the CUDA toolkit and Python 3.8; no other package, no network
and no rights. Where there is PyTorch with CUDA, it times perceptrons there too.

Exit status: 0 if every check passed; 1 if one failed; 2 if something could not be
built; 3 if there is no GPU, so that nothing was checked."""

import argparse
import array
import ast
import concurrent.futures
import json
import math
import os
import pathlib
import re
import select
import shlex
import shutil
import statistics
import struct
import subprocess
import sys
import time
import zipfile

folder = pathlib.Path(__file__).resolve().parent
FAILED, NOT_BUILT, NO_GPU = 1, 2, 3
LOSS_BOUND = 0.02  # of each loss of a large model, to that of f32


def read_run(path):
    """What a trainer wrote with --metrics-json."""
    with open(path) as file:
        return json.load(file)["runs"][0]


def read_losses(path):
    """The losses of its steps; None for a NaN or an infinity, which is a string."""
    return [None if isinstance(step["loss"], str) else step["loss"] for step in read_run(path)["steps"]]


def execute(command, seconds):
    """The exit status and the output of a command, which is stopped in the end."""
    try:
        result = subprocess.run(list(map(str, command)), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                                timeout=seconds, cwd=folder)
        return result.returncode, result.stdout
    except subprocess.TimeoutExpired:
        return 124, f"took more than {seconds} s"


def fail(status, message):
    print(f"run.py: error: {message}", file=sys.stderr)
    sys.exit(status)


# --- Arrays of .npz files -------------------------------------------------------


def read_arrays(path):
    """The members of a file as lists of numbers, bf16 (stored as u2) too."""
    kinds = {"f4": "f", "f8": "d", "i4": "i", "i8": "q", "u1": "B", "b1": "B", "i1": "b", "i2": "h", "u2": "H"}
    arrays = {}
    with zipfile.ZipFile(path) as file:
        for name in file.namelist():
            data = file.read(name)
            start = 10 if data[6] == 1 else 12
            length = struct.unpack("<H" if data[6] == 1 else "<I", data[8:start])[0]
            header = ast.literal_eval(data[start : start + length].decode())
            kind, body = header["descr"][1:], data[start + length :]
            if kind == "f2":
                values = struct.unpack(f"<{len(body) // 2}e", body)
            elif kind == "u2":
                values = struct.unpack(f"<{len(body) // 2}f", b"".join(b"\0\0" + body[i : i + 2] for i in range(0, len(body), 2)))
            elif kind.startswith("U"):
                continue
            else:
                values = array.array(kinds[kind], body)
            arrays[name[: -len(".npy")]] = values
    return arrays


def distance(a, b):
    """Relative distance in the Euclidean norm; infinite if a number is not finite."""
    if len(a) != len(b) or not all(map(math.isfinite, a)):
        return math.inf
    norm = math.sqrt(math.fsum(x * x for x in b))
    difference = math.sqrt(math.fsum((x - y) ** 2 for x, y in zip(a, b)))
    return difference / norm if norm else difference


# --- The device -------------------------------------------------------------------


def find_tool(name, given=None):
    if given:
        return given
    homes = [os.environ.get("CUDA_HOME"), os.environ.get("CUDA_PATH"), "/usr/local/cuda"]
    return shutil.which(name) or next(
        (tool for home in homes if home and (tool := shutil.which(name, path=f"{home}/bin"))), None)


def query_gpu():
    """Name, driver and architecture of the first GPU, or nothing."""
    if not shutil.which("nvidia-smi"):
        return None
    status, text = execute(["nvidia-smi", "--query-gpu=name,driver_version,compute_cap", "--format=csv,noheader"], 60)
    fields = text.splitlines()[0].split(", ") if status == 0 and text.strip() else []
    if len(fields) != 3:
        return None
    return {"name": fields[0], "driver": fields[1], "architecture": fields[2].replace(".", "")}


# --- Peers ------------------------------------------------------------------------

PEERS = ("eager", "compile", "graph")
RATE = 0.05  # of the steps whose losses are compared


class Peers:
    """The process of peers.py, or the reason why there is none."""

    def __init__(self, python, device):
        self.process, self.why = None, "no torch: --no-peers"
        if not python:
            return
        self.process = subprocess.Popen([python, str(folder / "peers.py"), device], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, bufsize=1)
        answer = self.ask(120, do="about")
        self.why = answer.get("why") or answer.get("error")
        self.version = answer.get("torch")
        if self.why:
            self.stop()

    def ask(self, seconds, **request):
        """The answer to a request; an error if none comes in time, the last one."""
        if not self.process:
            return {"error": self.why}
        try:
            self.process.stdin.write(json.dumps(request) + "\n")
            self.process.stdin.flush()
            if select.select([self.process.stdout], [], [], max(1, seconds))[0]:
                line = self.process.stdout.readline()
                if line:
                    return json.loads(line)
                self.why = "PyTorch ended early"
            else:
                self.why = f"PyTorch took more than {seconds:.0f} s"
        except OSError as error:
            self.why = str(error)
        self.stop()
        return {"error": self.why}

    def stop(self):
        if self.process:
            self.process.kill()
            self.process.wait()
            self.process = None


# --- Stages -----------------------------------------------------------------------


class Run:
    def __init__(self, options):
        self.options = options
        self.start = time.monotonic()
        self.results = {"checks": [], "times": {}, "peers": {}}
        self.peers = None
        with open(folder / "cases.json") as file:
            self.cases = [case for case in json.load(file) if re.search(options.cases, case["name"])]
        if not self.cases:
            fail(NOT_BUILT, f"no case has a name that matches '{options.cases}'")
        self.out = folder / "out"
        self.out.mkdir(exist_ok=True)

    @property
    def seconds_left(self):
        return self.options.minutes * 60 - (time.monotonic() - self.start)

    def note(self, case, check, passed, text):
        """Records a check."""
        self.results["checks"].append({"case": case, "check": check, "passed": passed, "result": text})
        print(f"{'ok    ' if passed else 'FAILED'} {case}: {check}: {text}", flush=True)

    def program(self, case):
        return self.out / case["name"]

    def build(self, compiler):
        """Builds all sources, several at a time."""

        def compile(case):
            # The compiler comes as a command, with what stands behind the source.
            before, _, after = compiler.partition("{}")
            command = [*shlex.split(before), folder / case["source"], *shlex.split(after), "-o", self.program(case)]
            return case, execute(command, max(1, self.seconds_left))

        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            for case, (status, text) in pool.map(compile, self.cases):
                if status:
                    fail(NOT_BUILT, f"{case['source']} does not compile\n{text}")
        seconds = time.monotonic() - self.start
        print(f"{len(self.cases)} programs built in {seconds:.0f} s", flush=True)
        self.results["seconds to build"] = round(seconds, 1)

    def train(self, case, label, *arguments):
        """Runs the steps of a case; gives the saved state, or None."""
        saved = self.out / f"{case['name']}.{label}.npz"
        command = [self.program(case), "--data", folder / case["data"], "--seed", 3, "--quiet", "--steps", case["steps"],
                   "--save", saved, *arguments]
        status, text = execute(command, 120)
        if status:
            self.note(case["name"], label, False, text.strip())
            return None
        return saved

    def check_states(self, case):
        """The states after some steps are those of the CPU; the same twice, with a
        graph and without one."""
        saved = self.train(case, "states", "--poison")
        if not saved:
            return
        actual, expected = read_arrays(saved), read_arrays(folder / case["reference"])
        worst, where = 0.0, ""
        for state, limit in case["limits"].items():
            apart = distance(actual.get(state, ()), expected[state])
            # In units of what is allowed; a limit of 0 asks for the same bits.
            used = apart / limit if limit else (0.0 if apart == 0 else math.inf)
            if used >= worst:
                worst, where = used, f"{state} {apart:.1e} of at most {limit:.1e}"
        self.note(case["name"], "states as on the CPU", worst <= 1, where)
        if case.get("overflow"):
            scale = actual["loss_scale"][0]
            self.note(case["name"], "overflow lowers the scale", scale < 16777216.0, f"to {scale:g}")
        for label, arguments in (("twice", ["--poison"]), ("no graph", ["--poison", "--no-graph"])):
            other = self.train(case, label, *arguments)
            if other:
                same = other.read_bytes() == saved.read_bytes()
                self.note(case["name"], f"same bits, {label}", same, "equal" if same else "different")

    def check_memory(self, sanitizer):
        """compute-sanitizer finds nothing in two steps of the smallest models."""
        for case in self.cases:
            if not case["model"].startswith("digits") or case["precision"] not in ("f32", "fp16"):
                continue
            for tool in ("memcheck", "racecheck"):
                if self.seconds_left < 240:
                    return
                command = [sanitizer, f"--tool={tool}", "--error-exitcode=9", self.program(case), "--data", folder / case["data"],
                           "--steps", 2, "--quiet", "--no-graph"]
                status, text = execute(command, 60)
                lines = text.strip().splitlines()
                self.note(case["name"], f"compute-sanitizer {tool}", status == 0, lines[-1] if lines else "")

    def losses(self, case, steps=5):
        path = self.out / f"{case['name']}.json"
        status, text = execute([self.program(case), "--synthetic", "--seed", 3, "--quiet", "--steps", steps, "--metrics-json", path], 120)
        if status:
            self.note(case["name"], "losses", False, text.strip())
            return None
        return read_losses(path)

    def check_losses(self):
        """The losses of models that a CPU takes too long for are those of f32."""
        models = {case["model"] for case in self.cases if "reference" not in case}
        for model in sorted(models):
            group = {case["precision"]: case for case in self.cases if case["model"] == model}
            wide = self.losses(group["f32"]) if "f32" in group else None
            for precision, case in group.items():
                losses = wide if precision == "f32" else self.losses(case)
                if not losses:
                    continue
                if None in losses or not wide:
                    self.note(case["name"], "losses", None not in losses, str(losses))
                    continue
                apart = max(abs(a - b) / abs(b) for a, b in zip(losses, wide))
                self.note(case["name"], "losses as in f32", apart <= LOSS_BOUND, f"{apart:.1e} of at most {LOSS_BOUND:.0e}")

    def check_peer_losses(self):
        """Losses of the same batch from the same weights, here and in PyTorch."""
        for case in self.cases:
            if "layers" not in case or self.seconds_left < 120:
                continue
            data, weights, path = (self.out / f"{case['name']}.peer.{end}" for end in ("data.npz", "npz", "json"))
            shared = {"layers": case["layers"], "batch": case["batch"], "precision": case["precision"]}
            answer = self.peers.ask(60, do="data", path=str(data), **shared)
            common = [self.program(case), "--data", data, "--seed", 3, "--quiet", "--set", f"lr={RATE}", "--steps"]
            if "error" not in answer:
                status, text = execute([*common, 0, "--save", weights], 120)
                if status == 0:
                    status, text = execute([*common, 5, "--metrics-json", path], 120)
                if status:
                    self.note(case["name"], "losses as in torch", False, text.strip())
                    continue
                answer = self.peers.ask(120, do="losses", weights=str(weights), data=str(data), steps=5, rate=RATE, **shared)
            if "error" in answer:
                print(f"{case['name']}: no losses of torch: {answer['error']}", flush=True)
                continue
            own = read_losses(path)
            apart = max(abs(a - b) / abs(b) if a is not None else math.inf for a, b in zip(own, answer["losses"]))
            self.note(case["name"], "losses as in torch", apart <= LOSS_BOUND, f"{apart:.1e} of at most {LOSS_BOUND:.0e}")

    def time_peers(self, case, steps, samples):
        """One round of a case in PyTorch; the first one, without samples, warms up."""
        for peer in PEERS if "layers" in case else ():
            entry = self.results["peers"].setdefault(f"{case['name']}-{peer}", {
                "model": case["model"], "precision": case["precision"], "peer": peer, "all": []})
            if "error" in entry or self.seconds_left < 20:
                continue
            answer = self.peers.ask(min(240, self.seconds_left), do="time", peer=peer, steps=steps, layers=case["layers"],
                                    batch=case["batch"], precision=case["precision"])
            if "error" in answer:
                entry["error"] = answer["error"]
                print(f"{case['name']}: no torch {peer}: {answer['error']}", flush=True)
            elif samples:
                entry["all"].append(answer["ms"])

    def finish_peers(self):
        """Medians, and how many times as long as the own step each takes."""
        for entry in self.results["peers"].values():
            own = self.results["times"].get(f"{entry['model']}-{entry['precision']}")
            if not entry["all"]:
                continue
            entry["ms per step"] = statistics.median(entry["all"])
            text = f"{entry['model']}-{entry['precision']}: torch {entry['peer']} {entry['ms per step']:.4g} ms per step"
            if own:
                entry["times the own step"] = entry["ms per step"] / own["ms per step"]
                text += f", {entry['times the own step']:.2f} times the own"
            print(text, flush=True)

    def time_once(self, case, steps):
        path = self.out / f"{case['name']}.time.json"
        command = [self.program(case), "--synthetic", "--seed", 3, "--quiet", "--steps", 0, "--time", steps, "--metrics-json", path]
        if self.options.tune:
            command += ["--tune", "--tune-cache", self.out / f"{case['name']}.tune"]
        status, text = execute(command, 120)
        if status:
            self.note(case["name"], "time", False, text.strip())
            return None
        return read_run(path)["results"]["ms per step on the device"]

    def time(self):
        """Times the cases in turns: rounds in which each runs for about a second."""
        timed = [case for case in self.cases if not case.get("overflow")]
        steps, samples = {}, {case["name"]: [] for case in timed}
        for round in range(self.options.rounds + 1):
            for case in timed:
                name = case["name"]
                if self.seconds_left < 20 or name in steps and steps[name] == 0:
                    continue
                ms = self.time_once(case, steps.get(name, 3))
                if round == 0:
                    steps[name] = 0 if ms is None else int(min(2000, max(3, 1000 / ms)))
                elif ms is not None:
                    samples[name].append(ms)
                if self.peers.process and steps[name]:
                    self.time_peers(case, steps[name], samples=round > 0)
        for case in timed:
            values = samples[case["name"]]
            if not values:
                continue
            ms = statistics.median(values)
            self.results["times"][case["name"]] = {
                "model": case["model"], "precision": case["precision"], "batch": case["batch"], "ms per step": ms,
                "all": values, "TFLOP/s": case["operations"] / ms / 1e9}
            print(f"{case['name']}: {ms:.4g} ms per step, {case['operations'] / ms / 1e9:.1f} TFLOP/s", flush=True)
        self.results["ratios"] = {
            model: {precision: wide["ms per step"] / other["ms per step"]
                    for precision in ("tf32", "bf16", "fp16")
                    if (other := self.results["times"].get(f"{model}-{precision}"))}
            for model in sorted({case["model"] for case in timed})
            if (wide := self.results["times"].get(f"{model}-f32"))}
        self.finish_peers()

    def finish(self):
        self.peers.stop()
        self.results["seconds"] = round(time.monotonic() - self.start, 1)
        with open(self.options.output, "w") as file:
            json.dump(self.results, file, indent=1)
        failed = [check for check in self.results["checks"] if not check["passed"]]
        print(f"{len(self.results['checks']) - len(failed)} checks passed, {len(failed)} failed; {self.options.output}")
        sys.exit(FAILED if failed else 0)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", default="", help="regular expression for the names of cases (default: all)")
    parser.add_argument("--nvcc", help="the compiler (default: that on the PATH, in CUDA_HOME or /usr/local/cuda)")
    parser.add_argument("--build-only", action="store_true", help="build for sm_80 and sm_90 and stop, which needs no GPU")
    parser.add_argument("--tune", action="store_true", help="time the algorithms of products first")
    parser.add_argument("--rounds", type=int, default=5, help="rounds of timing (default: 5)")
    parser.add_argument("--minutes", type=float, default=10, help="when to stop timing (default: 10)")
    parser.add_argument("--torch-python", default=sys.executable, help="the Python that has PyTorch (default: this one)")
    parser.add_argument("--no-peers", action="store_true", help="do not time PyTorch")
    parser.add_argument("--output", type=pathlib.Path, default=folder / "results.json")
    parser.add_argument("--emulator", help="instead of nvcc and a GPU: a compiler command, {} for the source, whose programs run on the CPU")
    options = parser.parse_args()
    run = Run(options)
    if options.emulator:
        run.results["device"] = "emulated on the CPU: times mean nothing"
        run.build(options.emulator)
    else:
        nvcc = find_tool("nvcc", options.nvcc)
        if not nvcc:
            fail(NOT_BUILT, "there is no nvcc on the PATH, in CUDA_HOME or in /usr/local/cuda")
        gpu = query_gpu()
        if not gpu and not options.build_only:
            fail(NO_GPU, "this machine has no GPU that nvidia-smi lists: nothing was checked and nothing timed "
                         "(--build-only builds the programs all the same)")
        architectures = [gpu["architecture"]] if gpu else ["80", "90"]
        flags = " ".join(f"-gencode=arch=compute_{a},code=sm_{a}" for a in architectures)
        libraries = " ".join(f"-l{name}" for name in ("cublasLt", "dl"))
        run.build(f"{shlex.quote(nvcc)} -std=c++17 -O3 -Werror all-warnings -I{shlex.quote(str(folder / 'include'))} {flags} {{}} {libraries}")
        if options.build_only:
            print("built only: nothing was checked and nothing timed")
            return
        run.results["device"] = gpu
        run.results["nvcc"] = execute([nvcc, "--version"], 60)[1].strip().splitlines()[-1]
    for case in run.cases:
        if "reference" in case:
            run.check_states(case)
    sanitizer = None if options.emulator else find_tool("compute-sanitizer")
    if sanitizer:
        run.check_memory(sanitizer)
    else:
        print("without compute-sanitizer")
    run.check_losses()
    run.peers = Peers(None if options.no_peers else options.torch_python, "cpu" if options.emulator else "cuda")
    run.results["torch"] = run.peers.version if run.peers.process else run.peers.why
    if run.peers.process:
        run.check_peer_losses()
    else:
        print(f"without PyTorch to compare with: {run.peers.why}")
    run.time()
    run.finish()


main()
