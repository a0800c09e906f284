# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The tools of a machine with a GPU, for tests of run.py: by the name that it is called
by, nvcc, nvidia-smi, compute-sanitizer, a Python with PyTorch, or else a program
that nvcc built. FAKE, a word or several, says what goes wrong."""

import json
import os
import shutil
import sys
import time

name, arguments = os.path.basename(sys.argv[0]), sys.argv[1:]
here = os.path.dirname(os.path.abspath(sys.argv[0]))
fake = os.environ.get("FAKE", "").split()
ROWS = os.environ["FAKE_LOG"] + ".rows"


def get(option, default=None):
    return arguments[arguments.index(option) + 1] if option in arguments else default


def log(text):
    with open(os.environ["FAKE_LOG"], "a") as file:
        file.write(f"{name} {text}\n")


def nvcc():
    log(" ".join(arguments))
    if "--version" in arguments:
        print("fake nvcc\nBuild fake_99.0")
        return
    source = next(argument for argument in arguments if argument.endswith(".cu"))
    with open(source) as file:
        text = file.read()
    if "error" in text:
        sys.exit("error: what is this")
    if "warning" in text:
        print("warning: hm")
    shutil.copy(sys.argv[0], get("-o"))


def nvidia_smi():
    if "-lms" not in arguments:
        print("Fake GPU, 999.9, 9.0")
        return
    rows = 0
    while True:
        print("1980, [N/A], 650.5, 60", flush=True)
        rows += 1
        with open(ROWS + ".new", "w") as file:
            file.write(f"{os.getpid()} {rows}")
        os.replace(ROWS + ".new", ROWS)
        time.sleep(0.05)


def await_rows():
    """Returns after nvidia-smi printed three rows. A timed run of a real GPU takes
    seconds, so it always has a separate row."""

    def count():
        try:
            with open(ROWS) as file:
                return file.read().split()
        except FileNotFoundError:
            return ["", "0"]

    first, end = count(), time.monotonic() + 20
    while time.monotonic() < end:
        process, rows = count()
        if int(rows) >= 3 + (int(first[1]) if process == first[0] else 0):
            return
        time.sleep(0.01)


def sanitizer():
    log(" ".join(arguments))
    if "refused" in fake:
        print("========= Error: Device not supported. Please refer to the documentation")
        sys.exit(1)
    if "old" in fake and any(argument.startswith("--kernel-name") for argument in arguments):
        sys.exit("unrecognised option '--kernel-name-exclude'")
    if "race" in fake and "--tool=racecheck" in arguments:
        print("========= RACECHECK SUMMARY: 1 hazard displayed")
        sys.exit(9)
    print("========= ERROR SUMMARY: 0 errors")


def torch():
    for line in sys.stdin:
        request = json.loads(line)
        do, answer = request["do"], {}
        if do == "about":
            log("about")
            answer = {"torch": "9.9", "usable": True}
        elif do == "time":
            log(f"{request['peer']} {request['precision']}")
            if request["peer"] == "graph" and "ends" in fake:
                sys.exit("out of memory")
            if request["peer"] == "graph" and "waits" in fake:
                time.sleep(600)
            if request["peer"] == "graph" and "garbage" in fake:
                print("{", flush=True)
                continue
            answer = {"ms": 4.0, "steps": 9, "loss": 1.0}
        elif do == "losses":
            answer = {"losses": [2.0] * request["steps"]}
        elif do == "data":
            open(request["path"], "w").close()
        print(json.dumps(answer), flush=True)


def trainer():
    log(" ".join(arguments))
    base = name.split("-")[0]
    if base in fake:
        print("out of luck")
        sys.exit(1)
    if f"{base}-hangs" in fake:
        # With a child process, which has to end too.
        if os.fork() == 0:
            log(f"child {os.getpid()}")
        time.sleep(600)
    if get("--time"):
        await_rows()
    if get("--save"):
        shutil.copy(os.path.join(here, "../reference/states.npz"), get("--save"))
    if get("--metrics-json"):
        results = {"ms per step on the device": 8.0 if "f32" in name else 2.0, "timed steps": 9, "steady after warm-up": 1,
                   "loss after timed steps": 1.5}
        if "fp16" in name:
            skipped, scale = (10, 1) if "diverges" in fake else (1, 32768) if "overflows-once" in fake else (0, 65536)
            results.update({"skipped of 10 steps after timed ones": skipped, "loss scale before timed steps": 65536,
                            "loss scale after timed steps": scale})
        if "copy" in name:
            results["ms per step on the device"] = 1.0
        steps = [{"loss": 2.0}] * int(get("--steps"))
        with open(get("--metrics-json"), "w") as file:
            file.write("{" if f"{base}-garbage" in fake else json.dumps({"runs": [{"steps": steps, "results": results}]}))


{"nvcc": nvcc, "nvidia-smi": nvidia_smi, "compute-sanitizer": sanitizer, "python-torch": torch}.get(name, trainer)()
