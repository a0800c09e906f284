#!/usr/bin/env python3
# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The second stage of `tools/dev gpu`, in the folder that the first one wrote.

Builds the training steps with nvcc, times them, compares their states with those of a CPU and
forces an overflow. Needs a GPU with its driver, the CUDA toolkit and Python 3.8, but no other
package, no network and no special rights. If PyTorch with CUDA is installed, it trains the same
there too. The file of results is complete after every check and every sample. It lists checks that
lacked time or a tool as not run. `--stages all` runs every stage, each in its own process with its
own --minutes, and continues an earlier run.

Exit status: 0 if every check passed; 1 if one failed; 2 if something could not be
built; 3 if there is no GPU, so that nothing was checked; 4 if it was stopped."""

import argparse
import os
import pathlib
import shlex
import signal
import subprocess
import sys
import time

folder = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(folder / "harness"), str(folder)]
import machine  # noqa: E402
from checks import Checks  # noqa: E402
from machine import Monitor, Peers  # noqa: E402
from float8 import Float8  # noqa: E402
from networks import CURVE_STEPS  # noqa: E402
from results import last_line  # noqa: E402

FAILED, NOT_BUILT, NO_GPU, STOPPED = 1, 2, 3, 4
# The end of each stage, as a fraction of the time after the build. Unused time is available to the
# next stage.
STAGES = {"own": 0.25, "peers": 0.55, "small": 0.62, "states": 0.68, "losses": 0.75, "sanitizer": 0.8, "compile": 1.0}
# Large networks. Each stage has all the time unless several are given.
NETWORK_STAGES = {"ceilings": 0.1, "probe": 0.2, "networks": 0.45, "float8": 0.6, "network-compile": 0.8, "curves": 0.95, "profile": 1.0}
WITH_PEERS = {"peers", "small", "losses", "compile", "ceilings", "networks", "network-compile", "curves"}
# Stages that have no part for peers alone.
OWN_ONLY = {"own", "states", "losses", "sanitizer", "probe", "float8", "profile"}
# Stages that run no case.
MACHINE_STAGES = {"ceilings", "probe"}


class Stopped(BaseException):
    """A signal requested the end."""


def fail(status, message):
    print(f"run.py: error: {message}", file=sys.stderr)
    sys.exit(status)


class Run(Checks, Float8):
    def prepare_peers(self):
        """Waits until PyTorch is imported, which may have happened meanwhile."""
        if "torch" in self.results:
            return
        self.stage_end = self.end
        self.peers.prepare(max(1, min(120, self.seconds_left)))
        self.results["torch"] = self.peers.version if self.peers.usable else self.peers.why
        if not self.peers.usable:
            print(f"without PyTorch to compare with: {self.peers.why}", flush=True)

    def run_stages(self):
        built = time.monotonic()
        bodies = {
            "own": self.time_own_large,
            "peers": lambda: self.time_groups("peers", self.groups(True), ("eager", "graph")),
            "small": lambda: self.time_groups("small", self.groups(False), ("eager", "graph")),
            "states": self.check_all_states,
            "losses": self.check_losses,
            "sanitizer": self.check_memory,
            "compile": self.time_compiled,
            "ceilings": self.measure_ceilings,
            "probe": self.probe,
            "networks": self.time_networks,
            "float8": self.time_float8,
            "network-compile": self.compile_networks,
            "curves": self.draw_curves,
            "profile": self.profile_networks,
        }
        took = self.results["seconds of stages"] = {}
        for stage in self.options.stages:
            began = time.monotonic()
            if stage in WITH_PEERS:
                self.prepare_peers()
            # The last requested stage has all remaining time.
            part = 1.0 if stage == self.options.stages[-1] else {**STAGES, **NETWORK_STAGES}[stage]
            self.stage_end = built + (self.end - built) * part
            self.results["stage"] = stage
            self.save()
            self.attempt("-", stage, bodies[stage])
            took[stage] = round(time.monotonic() - began, 1)
            self.save()
        self.stage_end = self.end
        for case in [] if self.options.peers_only else self.perceptrons:
            stage = "own" if "reference" not in case else "small"
            if stage in self.options.stages and not case.get("overflow") and case["name"] not in self.broken:
                self.note_not_run(case["name"], "time", "no time left")

    def close(self):
        if self.peers:
            self.peers.stop()
        if self.monitor:
            self.monitor.stop()
        machine.end_all()

    def finish(self):
        self.show_times()
        self.results["finished"] = True
        self.save()
        failed = [check for check in self.results["checks"] if not check["passed"]]
        print(f"{len(self.results['checks']) - len(failed)} checks passed, {len(failed)} failed, "
              f"{len(self.results['not run'])} not run; {self.options.output}")
        return NOT_BUILT if self.failed_builds else FAILED if failed else 0


def parse_options():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", default="", help="regular expression for the names of cases (default: all)")
    parser.add_argument("--stages", default=",".join(STAGES),
                        help=f"what to do after the build, also {', '.join(NETWORK_STAGES)} or all (default: %(default)s)")
    parser.add_argument("--resume", action="store_true", help="keep the samples of the file of results and add those that it lacks")
    parser.add_argument("--nvcc", help="the compiler (default: that on the PATH, in CUDA_HOME or /usr/local/cuda)")
    parser.add_argument("--flags", default="", help="more options for nvcc, in one argument: --flags='-lineinfo -G'")
    parser.add_argument("--build-only", action="store_true", help="build and stop, which needs no GPU")
    parser.add_argument("--architectures", default="", help="with --build-only: what to build for (default: the GPU, or 80,90)")
    parser.add_argument("--prebuilt", action="store_true",
                        help="use the programs that --build-only built, also on another machine, which needs no nvcc")
    parser.add_argument("--tune", action="store_true", help="time the algorithms of products first")
    parser.add_argument("--rounds", type=int, default=5, help="most rounds of timing (default: 5)")
    parser.add_argument("--minutes", type=float, default=8, help="when to stop (default: 8)")
    parser.add_argument("--torch-python", default=sys.executable, help="the Python that has PyTorch (default: this one)")
    parser.add_argument("--no-peers", action="store_true", help="do not time PyTorch")
    parser.add_argument("--peers-only", action="store_true", help="train with PyTorch alone, which needs neither nvcc nor a build")
    parser.add_argument("--torch-device", choices=("cuda", "cpu"), help="where PyTorch trains (default: cuda; cpu is a trial)")
    parser.add_argument("--curve-steps", type=int, default=CURVE_STEPS, help="steps of a curve (default: %(default)s)")
    parser.add_argument("--sanitizer", help="compute-sanitizer (default: that on the PATH, in CUDA_HOME or /usr/local/cuda)")
    parser.add_argument("--output", type=pathlib.Path, default=folder / "results.json")
    parser.add_argument("--emulator", help="instead of nvcc and a GPU: a compiler command, {} for the source, whose programs run on the CPU")
    options = parser.parse_args()
    stages = [*STAGES, *NETWORK_STAGES]
    options.stages = [stage for stage in options.stages.split(",") if stage]
    if options.prebuilt and (options.build_only or options.flags):
        parser.error("--prebuilt builds nothing, expected no --build-only and no --flags")
    if options.architectures and not options.build_only:
        parser.error("--architectures needs --build-only")
    if options.peers_only and options.no_peers:
        parser.error("--peers-only and --no-peers leave nothing to do")
    options.runs_all = options.stages == ["all"]
    if options.runs_all:
        options.stages = stages
    if set(options.stages) - set(stages):
        parser.error(f"unknown stage in --stages, expected all or some of {', '.join(stages)}")
    if options.peers_only:
        options.stages = [stage for stage in options.stages if stage not in OWN_ONLY]
        if not options.stages:
            parser.error(f"--peers-only has none of the stages {', '.join(stage for stage in stages if stage in OWN_ONLY)}")
    # Keep the order of the stages.
    options.stages = [stage for stage in stages if stage in options.stages]
    options.torch_device = options.torch_device or ("cpu" if options.emulator else "cuda")
    return options


def find_compiler(run):
    """The command that builds a source. Records the compiler and the device."""
    options, results = run.options, run.results
    if options.emulator:
        run.set_device("emulated on the CPU: times mean nothing")
        # The emulator is a Hopper GPU.
        run.architectures = ["90"]
        return options.emulator
    if options.peers_only:
        gpu = "PyTorch on the CPU: times mean nothing" if options.torch_device == "cpu" else machine.query_gpu()
        if not gpu:
            fail(NO_GPU, "this machine has no GPU that nvidia-smi lists: PyTorch was not timed")
        run.set_device(gpu)
        return None
    nvcc = machine.find_tool("nvcc", options.nvcc)
    if options.prebuilt:
        gpu = machine.query_gpu()
        if not gpu:
            fail(NO_GPU, "this machine has no GPU that nvidia-smi lists: nothing was checked and nothing timed")
        run.set_device(gpu)
        # The folders may have other names than where the programs were built.
        paths = [run.out, *machine.find_library_folders(nvcc)]
        path = os.pathsep.join(map(str, [*paths, *filter(None, [os.environ.get("LD_LIBRARY_PATH")])]))
        # PyTorch finds its own libraries.
        run.environment = {**os.environ, "LD_LIBRARY_PATH": path}
        return None
    if not nvcc:
        fail(NOT_BUILT, "there is no nvcc on the PATH, in CUDA_HOME or in /usr/local/cuda")
    gpu = machine.query_gpu()
    if not gpu and not options.build_only:
        fail(NO_GPU, "this machine has no GPU that nvidia-smi lists: nothing was checked and nothing timed "
                     "(--build-only builds the programs all the same)")
    run.set_device(gpu)
    results["nvcc"] = last_line(machine.execute([nvcc, "--version"], 60)[1])
    architectures = run.architectures = options.architectures.split(",") if options.architectures else [gpu["architecture"]] if gpu else ["80", "90"]
    before = [nvcc, "-std=c++17", "-O3", f"-I{folder / 'include'}", *(f"-gencode=arch=compute_{a},code=sm_{a}" for a in architectures),
              *shlex.split(options.flags)]
    return f"{shlex.join(before)} {{}} {shlex.join([*machine.find_library(nvcc), '-ldl'])}"


def run_every_stage(options):
    """Runs each stage in a process. The worst status counts."""
    arguments = [word for index, word in enumerate(sys.argv[1:], 1)
                 if word != "--resume" and not word.startswith("--stages") and sys.argv[index - 1] != "--stages"]
    worst = 0
    for stage in options.stages:
        print(f"stage {stage}", flush=True)
        # The first stage starts the file of results unless it continues one.
        resumes = ["--resume"] if options.resume or stage != options.stages[0] else []
        command = [sys.executable, *(["-I", "-S"] if sys.flags.no_site else []), os.path.abspath(__file__), *arguments,
                   "--stages", stage, *resumes]
        status = subprocess.run(command).returncode
        if status in (NO_GPU, STOPPED) or status < 0:
            sys.exit(status if status > 0 else STOPPED)
        worst = max(worst, status)
    sys.exit(worst)


def needs_build(case, stages):
    """Whether some stage runs the program of a case."""
    if "network" in case:
        return bool((set(NETWORK_STAGES) - MACHINE_STAGES) & set(stages))
    if case.get("small"):
        return bool({"states", "sanitizer"} & set(stages))
    return bool(set(STAGES) & set(stages))


def main():
    options = parse_options()
    if options.runs_all:
        run_every_stage(options)

    def stop(number, _):
        signal.signal(number, signal.SIG_IGN)
        raise Stopped(signal.Signals(number).name)

    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, stop)
    run = Run(options)
    try:
        compiler = find_compiler(run)
        run.save()
        # PyTorch is imported while the programs are built.
        needed = not options.no_peers and not options.build_only and WITH_PEERS & set(options.stages)
        run.peers = Peers(options.torch_python if needed else None, options.torch_device, run.out / "peers.log")
        if not options.peers_only:
            if not options.build_only:
                run.cases = [case for case in run.cases if needs_build(case, options.stages)]
            run.build(compiler)
        if options.build_only:
            run.build_tools()
            print("built only: nothing was checked and nothing timed")
            status = NOT_BUILT if run.failed_builds else 0
        else:
            if run.cases or MACHINE_STAGES & set(options.stages):
                run.monitor = Monitor(not options.emulator)
                run.run_stages()
            status = run.finish()
    except Stopped as reason:
        run.results["stopped"] = str(reason)
        run.save()
        print(f"run.py: stopped by {reason} in stage '{run.results['stage']}'; {options.output}", file=sys.stderr)
        status = STOPPED
    finally:
        run.close()
    sys.exit(status)


main()
