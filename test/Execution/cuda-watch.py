# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Tests --watch of amp-run with --backend=cuda and of an emitted trainer. Training
# results stay the same, bit for bit. Values that the CPU backend also counts have
# similar counts. The programs are compiled for the CPU implementation of CUDA.
#
# REQUIRES: full
# RUN: rm -rf %t && mkdir %t
# RUN: %python %s %t '%cuda_host_cxx' '%cuda_host_lib' %amp_src_root

import json
import os
import shlex
import subprocess
import sys

here = os.path.dirname(__file__)
sys.path[:0] = [os.path.join(here, "Inputs"), os.path.join(here, "../Step/Inputs"), os.path.join(here, "../CudaHost/Inputs")]
import numpy as np
from host_compiler import write_compiler
from runner import MODEL, load, make_data

folder, compiler, library, root = sys.argv[1:5]
folder += "/"
write_compiler(folder + "nvcc", compiler, library, root)
np.savez(folder + "data.npz", **make_data())
common = ["--data", folder + "data.npz", "--quiet", "--batch-size", "8", "--steps", "7", "--seed", "3"]
cuda = ["--backend=cuda", "--cuda-compiler", folder + "nvcc", "--cuda-cache", folder + "cache"]


def call(program, *arguments, fails=None):
    result = subprocess.run([*program, *map(str, arguments)], capture_output=True, text=True)
    if fails:
        assert result.returncode == 1 and fails in result.stderr, (arguments, fails, result.stderr)
        assert result.stderr.count("error: ") == 1, result.stderr
    else:
        assert result.returncode == 0, (arguments, result.stderr)
    return result.stdout


def amp_run(*arguments, **options):
    return call(["amp-run", MODEL, *common], *arguments, **options)


def read(name):
    with open(folder + name) as file:
        return json.load(file)


def states(name):
    return {key: value.tobytes() for key, value in load(folder + name).items()}


def page_data(name):
    with open(folder + name) as file:
        page = file.read()
    start = page.index('id="data">') + len('id="data">')
    return json.loads(page[start : page.index("</script>", start)])


def compare(mine, cpu):
    """Checks that values with equal names, types and numbers of elements have similar
    counts, and that arguments have equal counts in the first step. Returns the number
    of values with equal counts in the first step, and the parts."""
    equal, parts = 0, set()
    for value in mine["values"]:
        like = [other for other in cpu["values"] if all(value[key] == other[key] for key in ("name", "type", "elements"))]
        if not like:
            continue
        apart = [sum(abs(value["exponents"].get(e, 0) - other["exponents"].get(e, 0))
                     for e in {*value["exponents"], *other["exponents"]}) for other in like]
        # Sums have another order, so some elements cross a power of two.
        assert min(apart) <= max(4, 0.03 * value["elements"]), (value["name"], min(apart), value["elements"])
        other = like[int(np.argmin(apart))]
        for key in ("op", "location", "part"):
            assert value.get(key) == other.get(key), (key, value["name"], value.get(key), other.get(key))
        parts.add(value["part"])
        first = [{key: series[0] for key, series in each["series"].items()} for each in (value, other)]
        assert value["op"] != "argument" or first[0] == first[1], (value["name"], first)
        equal += first[0] == first[1]
    return equal, parts


for precision in ("f32", "fp16"):
    given = ["--precision", precision]
    amp_run(*given, *cuda, "--save", folder + "plain.npz", "--metrics-csv", folder + "plain.csv")
    with open(folder + "plain.csv") as file:
        metrics = file.read()
    for every, sampled in ((1, list(range(1, 8))), (3, [1, 4, 7])):
        watch = ["--watch", "--watch-every", every]
        text = amp_run(*given, *cuda, *watch, "--save", folder + "watched.npz", "--metrics-csv", folder + "watched.csv",
                       "--watch-json", folder + "cuda.json", "--watch-page", folder + "cuda.html")
        assert states("watched.npz") == states("plain.npz"), (precision, every)
        with open(folder + "watched.csv") as file:
            assert file.read() == metrics, (precision, every)
        mine = read("cuda.json")
        assert mine["steps"] == sampled and mine["every"] == every, mine["steps"]
        assert mine["low"] == {"f32": "", "fp16": "f16"}[precision] and mine["model"] == MODEL
        assert f"in {len(sampled)} steps, {precision}: 0 not finite" in text, text
        assert page_data("cuda.html") == mine
        amp_run(*given, *watch, "--watch-json", folder + "cpu.json")
        cpu = read("cpu.json")
        assert mine.keys() == cpu.keys()
        equal, parts = compare(mine, cpu)
        assert parts == {"forward", "backward", "update"}, parts
        print(precision, every, len(mine["values"]), "values,", equal, "with the counts of the CPU")
        assert equal >= 6, (precision, equal)
        values = mine["values"]
        assert sorted(mine["ranked"]) == list(range(len(values)))
        assert any(value["operands"] for value in values)
        for number, value in enumerate(values):
            assert all(operand < len(values) and operand != number for operand in value["operands"]), value
            assert all(len(series) == len(sampled) for series in value["series"].values())

# A resumed run continues the step numbers and the sampling.
given = ["--precision", "fp16", *cuda]
amp_run(*given, "--save", folder + "seven.npz")
call(["amp-run", MODEL, *common[:-2]], *given, "--load", folder + "seven.npz", "--watch=train.linear", "--watch-every", 4,
     "--watch-json", folder + "resumed.json")
resumed = read("resumed.json")
assert resumed["steps"] == [9, 13], resumed["steps"]
assert all("train.linear" in " ".join([v["name"], *v.get("fused", [])]) for v in resumed["values"]), resumed["values"]

# A trainer has the same option. --watch of amp-translate selects the values.
source = folder + "trainer.cu"
for name, options in (("counting", ["--watch"]), ("plain", [])):
    call(["amp-translate", "--mlir-to-cuda", "--emit-main", MODEL, "--precision=fp16", "--batch-size=8", *options, "-o", source])
    call([*shlex.split(compiler), source, *shlex.split(library), "-o", folder + name])
common.remove("--batch-size"), common.remove("8")
call([folder + "plain", *common], "--save", folder + "plain.npz")
text = call([folder + "counting", *common], "--save", folder + "watched.npz", "--watch", "--watch-every=3", "--watch-json",
            folder + "trainer.json", "--watch-page", folder + "trainer.html")
assert "in 3 steps, fp16: 0 not finite" in text, text
assert states("watched.npz") == states("plain.npz")
call([folder + "counting", *common], "--save", folder + "quiet.npz")
assert states("quiet.npz") == states("plain.npz")
amp_run(*given, "--batch-size", 8, "--watch", "--watch-every", 3, "--watch-json", folder + "cuda.json")
trained, mine = read("trainer.json"), read("cuda.json")
assert page_data("trainer.html") == trained
assert trained["values"] == mine["values"] and trained["steps"] == mine["steps"] == [1, 4, 7]

# Wrong options.
for program, arguments, message in (
    ("plain", ["--watch"], "the step was compiled without watched values"),
    ("counting", ["--watch-json", "x"], "--watch-json needs --watch"),
    ("counting", ["--watch", "--watch-every=0"], "--watch-every must be at least 1, got 0"),
    ("counting", ["--watch=train"], "--watch takes no value"),
    ("counting", ["--watch", "--seeds=2"], "--watch is for a single run, without --seeds"),
    ("counting", ["--watch", f"--watch-json={folder}data.npz"], "would overwrite"),
):
    call([folder + program, *common], *arguments, fails=message)
for option in ("--explain", "--diverge", f"--calibrate={folder}r.json", f"--search={folder}p.yaml", "--sweep-scale"):
    amp_run("--precision=fp16", *cuda, option, fails="expected --backend=cpu, with the same data, seed and precision, or --watch")
amp_run(*given, "--watch=train.conv2d", fails="selects no value")
