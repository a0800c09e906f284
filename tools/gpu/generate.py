#!/usr/bin/env python3
# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The first stage of `tools/dev gpu`: everything that needs the compiler.

Usage: generate.py <folder of the tools> <folder to write> [<models>] [--reduced]

Writes training steps as CUDA sources, the runtime headers, data, states that amp-run computed on
the CPU, the checks of each step (cases.json), and run.py, which makes them on a machine with a
GPU. The regular expression selects models by name; the default is all. Large networks come with
their costs, and small ones of the same kinds with states. With --reduced the large ones are small
too, for a trial on a CPU."""

import concurrent.futures
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

import numpy as np

root = pathlib.Path(__file__).resolve().parents[2]
sys.path.append(str(root / "tools/gpu/harness"))
sys.path.insert(0, str(root / "test/Target/CUDA/Inputs"))
import corpus  # noqa: E402
import networks as small_networks  # noqa: E402
from network_cases import CAPABILITIES, NETWORKS, RECIPES, REDUCED_VOCABULARY, TARGETS, complete, count_operations, read_costs  # noqa: E402
from products import find_products, write_products  # noqa: E402
from program import distance, load  # noqa: E402

PRECISIONS = ("f32", "tf32", "bf16", "fp16")
# The permitted distance of a state after five steps, unless f32 on the CPU is farther.
BOUNDS = {"f32": 1e-5, "tf32": 4e-3, "bf16": 3.2e-2, "fp16": 4e-3}
STEPS = 5
MOST_BYTES = 96 << 20
# The models of the CPU tests, and perceptrons: options of amp-model, batch.
DIGITS = ("digits-mlp", "digits-cnn")
PERCEPTRONS = {
    "mlp-small": (("--features=784", "--hidden=128,64", "--classes=10"), 128),
    "mlp-4096x2": (("--features=1024", "--hidden=4096,4096", "--classes=1024"), 16384),
    "mlp-4096x5": (("--features=4096", "--hidden=4096,4096,4096,4096", "--classes=4096"), 8192),
}
# Variants of the large steps. Only a GPU tells which is faster.
VARIANTS = {"no-epilogues": ["--no-epilogues"], "copy": ["--master-weights", "copy"]}


def execute(*command):
    # Steps are small: threads would wait more than they work.
    result = subprocess.run(list(map(str, command)), capture_output=True, text=True,
                            env={**os.environ, "OMP_NUM_THREADS": "1"})
    if result.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}\n{result.stderr}")
    return result.stdout


def copy_library(folder):
    """The sources of the library over cuDNN and the headers of cuDNN's frontend, if they are
    installed: the machine with the GPU builds the library."""
    headers = next(iter(sorted(root.glob(".venv-cudnn/lib/python3*/site-packages/include"))), None)
    if headers:
        shutil.copytree(root / "lib/Runtime/CuDNN", folder)
        shutil.copytree(headers, folder / "include")


class Generator:
    def __init__(self, tools, folder):
        self.tools, self.folder = tools, folder
        self.cases = []
        for part in ("sources", "data", "reference"):
            (folder / part).mkdir(parents=True)
        shutil.copytree(root / "include/amp/Runtime", folder / "include/amp/Runtime")
        here = pathlib.Path(__file__).parent
        for script in ("run.py", "lease.py", "peers.py", "peer_choices.py", "peer_networks.py", "network_cases.py", "ceilings.cu", "probe.cu"):
            shutil.copy(here / script, folder)
        copy_library(folder / "cudnn")
        shutil.copytree(here / "harness", folder / "harness", ignore=shutil.ignore_patterns("__pycache__"))

    def emit(self, name, path, batch, precision, options=()):
        """The source of a step, as the beginning of a case."""
        source = self.folder / f"sources/{name}.cu"
        options = [*options] if precision is None else ["--precision", precision, *options]
        execute(self.tools / "amp-translate", "--mlir-to-cuda", "--emit-main", "--batch-size", batch, *options, path,
                "-o", source)
        text = source.read_text()
        case = {"name": name, "source": f"sources/{name}.cu", "batch": batch,
                "operations": int(re.search(r"launches, (\d+) operations", text)[1])}
        if "amp/Runtime/CUDA/CuDNN.h" in text:
            case["needs"] = "cudnn"
        return case

    def train(self, name, path, batch, data, *options):
        """Trains on the CPU and returns the states and the file with them."""
        saved = self.folder / f"reference/{name}.npz"
        execute(self.tools / "amp-run", path, "--data", self.folder / data, "--seed", "3", "--quiet", "--batch-size", batch,
                "--steps", STEPS, "--save", saved, *options)
        return load(saved), f"reference/{name}.npz"

    def compare(self, case, low, wide, bound, data):
        """Adds to a case the permitted distance of each state from that on the CPU: in low
        precision, the distance of that state from f32."""
        states, file = low
        limits = {}
        for state, value in states.items():
            if state.startswith("__"):
                continue
            limits[state] = bound
            if state not in wide or wide is states:
                # The scale and its counters are exact.
                limits[state] = bound if value.ndim else 0.0
            else:
                limits[state] = max(bound, distance(value, wide[state]))
        case.update(data=data, steps=STEPS, reference=file, limits=limits)

    def add(self, model, path, batch, data, precisions=PRECISIONS, **properties):
        wide, file = self.train(f"{model}-f32", path, batch, data, "--precision", "f32")
        fp16 = self.train(f"{model}-fp16", path, batch, data, "--precision", "fp16")
        for precision in precisions:
            case = self.emit(f"{model}-{precision}", path, batch, precision)
            case.update(model=model, precision=precision, **properties)
            if precision == "f32":
                self.compare(case, (wide, file), wide, BOUNDS["f32"], data)
            elif precision == "tf32":
                # The CPU has no TF32, which has the significand of fp16.
                self.compare(case, (wide, file), fp16[0], BOUNDS["tf32"], data)
                for state in case["limits"]:
                    case["limits"][state] = max(BOUNDS["tf32"], distance(fp16[0][state], wide[state]))
            else:
                low = fp16 if precision == "fp16" else self.train(
                    case["name"], path, batch, data, "--precision", precision)
                self.compare(case, low, wide, BOUNDS[precision], data)
            self.cases.append(case)

    def add_small_network(self, name):
        """A small network of a kind, with states. The peers train it too."""
        options, make, batch = small_networks.NETWORKS[name]
        path, data = self.folder / f"reference/{name}.mlir", f"data/{name}-small.npz"
        path.write_text(execute(self.tools / "amp-model", name.split("-")[0], *options, *small_networks.CONSTANT_RATE))
        np.savez(self.folder / data, **make(np.random.default_rng(11), 3 * batch))
        self.add(f"{name}-small", path, batch, data, ("f32", "bf16", "fp16"), small=True)
        path.unlink()

    def add_network(self, name, is_reduced):
        """The cases of a large network, with their costs."""
        network = NETWORKS[name].reduce() if is_reduced else NETWORKS[name]
        path = self.folder / f"reference/{name}.mlir"
        arguments = [self.tools / "amp-model", *network.arguments()]
        path.write_text(execute(*arguments))
        operations = count_operations(complete(network.describe()), network.batch, int(execute(*arguments, "--count")))
        cases = []
        for precision in network.precisions:
            plan = ["--attention=cudnn", "--convolutions=cudnn"]
            case = self.emit(f"{name}-{precision}", path, network.batch, precision, plan)
            case.update(model=name, precision=precision, network=network.describe(), compiles=network.compiles, costs={}, **operations)
            for target in TARGETS:
                case["costs"][target] = read_costs(execute(self.tools / "amp-translate", "--cuda-costs", f"--target={target}",
                                                           "--batch-size", network.batch, "--precision", precision, *plan, path))
            cases.append(case)
            # What a machine without cuDNN runs. The scores of long sequences do not fit.
            if case.get("needs") == "cudnn" and name != "gpt2-long" and precision == "bf16":
                other = self.emit(f"{name}-{precision}-decomposed", path, network.batch, precision,
                                  ["--attention=decomposed", "--convolutions=patches"])
                cases.append({**case, **other, "variant": "decomposed", "needs": None})
        if network.float8:
            cases += self.add_recipes(name, network, path, {**cases[0], "compiles": False})
        path.unlink()
        return cases

    def add_recipes(self, name, network, path, shared):
        """The cases of a network with 8-bit products, like the case `shared`."""
        cases, plan = [], ["--attention=cudnn", "--convolutions=cudnn"]
        for recipe, (least, most) in RECIPES.items():
            precision = f"fp8-{recipe}"
            case = {**shared, **self.emit(f"{name}-{precision}", path, network.batch, precision, plan)}
            costs = {target: read_costs(execute(self.tools / "amp-translate", "--cuda-costs", f"--target={target}", "--batch-size",
                                                network.batch, "--precision", precision, *plan, path))
                     for target in TARGETS if least <= CAPABILITIES[target] <= most}
            cases.append({**case, "precision": precision, "recipe": recipe, "capability": [least, most], "costs": costs})
        return cases

    def add_overflow(self, model, path, batch, data):
        """Starts with a scale so large that the first steps overflow and are skipped. In f32 more
        steps count, so its states are not a reference."""
        step = execute(self.tools / "amp-opt", path, "--amp-training-pipeline=precision=fp16")
        assert "value = 6.553600e+04" in step
        changed = self.folder / f"reference/{model}.mlir"
        changed.write_text(step.replace("value = 6.553600e+04", "value = 16777216.0"))
        case = self.emit(f"{model}-overflow", changed, batch, None)
        case.update(model=model, precision="fp16", overflow=True)
        low = self.train(case["name"], changed, batch, data)
        assert low[0]["loss_scale"] < 16777216.0, "no step overflows"
        self.compare(case, low, low[0], BOUNDS["fp16"], data)
        changed.unlink()
        self.cases.append(case)


def keep_loss(text):
    """The step of a perceptron without its accuracy and its predictions, which its PyTorch peer
    does not compute either."""
    text, count = re.subn(r', tensor<f32> \{amp.metric = "accuracy"\}, tensor<[^>]*> \{amp.prediction = "logits"\}', "", text)
    values, types = re.search(r"^ *return (.*) : (.*?)( loc\(.*\))?$", text, re.M).group(1, 2)
    shorter = f"{', '.join(values.split(', ')[:-2])} : {', '.join(types.split(', ')[:-2])}"
    assert count == 1 and values.split(", ")[-2].startswith("%accuracy"), text
    return text.replace(f"{values} : {types}", shorter)


def main():
    arguments = [argument for argument in sys.argv[1:] if argument != "--reduced"]
    is_reduced = "--reduced" in sys.argv
    tools, folder = map(pathlib.Path, arguments[:2])
    wanted = re.compile(arguments[2] if len(arguments) > 2 else "")
    if folder.exists():
        if any(folder.iterdir()) and not (folder / "run.py").exists():
            sys.exit(f"'{folder}' holds other files, expected a folder that generate.py wrote, or none")
        shutil.rmtree(folder)
    generator = Generator(tools, folder)
    models = root / "test/Models"
    # Programs are built without zlib there.
    with np.load(models / "data/digits.npz") as digits:
        np.savez(folder / "data/digits.npz", **digits)
    for name in filter(wanted.search, DIGITS):
        path = models / f"{name}.mlir"
        generator.add(name, path, 32, "data/digits.npz")
        generator.add_overflow(name, path, 32, "data/digits.npz")
    rng = np.random.default_rng(17)
    for name in filter(wanted.search, PERCEPTRONS):
        options, batch = PERCEPTRONS[name]
        path = folder / f"reference/{name}.mlir"
        path.write_text(keep_loss(execute(tools / "amp-model", "mlp", *options)))
        if name == "mlp-small":
            data = f"data/{name}.npz"
            np.savez(folder / data, x=rng.standard_normal((3 * batch, 784)).astype(np.float32),
                     labels=rng.integers(0, 10, 3 * batch))
            generator.add(name, path, batch, data)
        else:
            # A CPU would take minutes, so the losses are compared with those of f32.
            for precision in PRECISIONS:
                case = generator.emit(f"{name}-{precision}", path, batch, precision)
                generator.cases.append({**case, "model": name, "precision": precision})
                for variant, added in VARIANTS.items():
                    # Only weights of a low type have a copy. f32 is the reference.
                    if precision == "f32" or variant == "copy" and precision == "tf32":
                        continue
                    case = generator.emit(f"{name}-{precision}-{variant}", path, batch, precision, added)
                    generator.cases.append({**case, "model": name, "precision": precision, "variant": variant})
        path.unlink()
        # The widths from the features to the classes, for peers.
        layers = [int(width) for option in options for width in option.split("=")[1].split(",")]
        for case in generator.cases:
            if case["model"] == name:
                case["layers"] = layers
    for name in small_networks.NETWORKS:
        if wanted.search(f"{name}-small"):
            generator.add_small_network(name)
    large = list(filter(wanted.search, NETWORKS))
    if large:
        corpus.write(root, folder / "data/text.bin", REDUCED_VOCABULARY if is_reduced else corpus.VOCABULARY)
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for cases in pool.map(lambda name: generator.add_network(name, is_reduced), large):
            generator.cases += cases
    products = set().union(*(find_products((folder / case["source"]).read_text()) for case in generator.cases))
    write_products(folder / "products.inc", products)
    with open(folder / "cases.json", "w") as file:
        json.dump(generator.cases, file, indent=1)
    size = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
    print(f"{len(generator.cases)} cases, {size / 2**20:.1f} MiB in {folder}")
    if size > MOST_BYTES:
        sys.exit(f"'{folder}' takes {size} bytes, expected at most {MOST_BYTES}")


main()
