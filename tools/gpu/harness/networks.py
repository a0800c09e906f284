# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The stages of run.py for large networks: ceilings of the machine, the table of products, times in turns with PyTorch,
curves of losses from the same weights and data, and the times of launches."""

import json
import re
import statistics

from products import find_products, read_answers
from results import NotRun, folder, read_run
from text import make_samples, order_samples, write_arrays
from times import Times

SEED = 3
CURVE_STEPS = 200
WINDOW = 10  # steps of a mean loss
LAUNCH = re.compile(r"^ *([\d.]+) +([\d.]+|-) +([\d.]+|-)  (\S+)(?: \((.*)\))?$", re.M)
GPU = re.compile(r'\{"([^"]+)", (?:"(\w+)"|nullptr), ([\d.e]+), ([\d.e]+), ([\d.e]+), ([\d.e]+)\}')


def find_model(device):
    """The target and the peak rates of a GPU by the name of its driver, from GPUModels.h: the first
    entry that is a part of the name counts. None for an unknown GPU."""
    text = (folder / "include/amp/Runtime/Host/GPUModels.h").read_text()
    name = device["name"] if isinstance(device, dict) else ""
    for part, target, _, tf32, half, bandwidth in GPU.findall(text):
        if " MIG " not in name and f" {part}" in f" {name}":
            return {"target": target or None, "tf32": float(tf32), "half": float(half), "bandwidth": float(bandwidth)}
    return None


def smooth(losses):
    """Means over the last steps."""
    return [statistics.mean(losses[max(0, i + 1 - WINDOW) : i + 1]) for i in range(len(losses))]


def steps_to(losses, target):
    """The steps after which the mean loss is at most the target, or None."""
    return next((i + 1 for i, loss in enumerate(smooth(losses)) if loss <= target), None)


def read_launches(text):
    """The table of --profile, without its sum."""
    rows = []
    for us, bound, _, name, operations in LAUNCH.findall(text):
        if operations:
            rows.append({"launch": name, "us": float(us), "roofline us": None if bound == "-" else float(bound),
                         "operations": operations})
    return rows


class Networks(Times):
    def networks(self, variants=False):
        """Large networks, the smallest step first. Steps with 8-bit products have a stage of their own, as PyTorch
        has no such peer here."""
        cases = [case for case in self.cases if "network" in case and "recipe" not in case and (variants or "variant" not in case)]
        return sorted(cases, key=lambda case: (case["needed"], case["name"]))

    # Ceilings.

    def measure_ceilings(self):
        """The rates of a copy and of a large product, by an own program and by PyTorch."""
        found = self.results.setdefault("ceilings", {})
        if "own" not in found and not self.options.peers_only:
            self.attempt("machine", "ceilings", lambda: found.update(own=self.run_ceilings()))
        if "torch" not in found and self.peers.usable:
            answer = self.ask(120, do="ceilings")
            if "error" in answer:
                self.note_not_run("machine", "ceilings of torch", answer["error"])
            else:
                found["torch"] = answer
        for side, rates in found.items():
            print(f"ceilings, {side}: " + ", ".join(f"{name} {rate / 1e12:.4g} T/s" for name, rate in rates.items()), flush=True)
        self.save()

    def run_ceilings(self):
        program = self.out / "ceilings"
        status, text = self.compile_source(folder / "ceilings.cu", program)
        if status == 0:
            status, text = self.execute([program, *(["64", "4096"] if self.options.emulator else [])], 120)
        if status:
            raise RuntimeError(text.strip())
        return {name: float(rate) for name, rate in re.findall(r"^(.+): ([\d.e+]+)$", text, re.M)}

    # The library.

    def build_tools(self):
        """The programs of stages that run no case."""
        for name in ("ceilings", "probe"):
            status, text = self.compile_source(folder / f"{name}.cu", self.out / name)
            if status:
                self.note("machine", f"build of {name}", False, text)
                self.failed_builds.append(name)

    def probe(self):
        """Asks the heuristics of cuBLASLt for every product of every case and for a grid, and writes
        the table next to the results."""
        program = self.out / "probe"
        status, text = self.compile_source(folder / "probe.cu", program)
        if status == 0:
            status, text = self.execute([program], 180)
        if status:
            raise RuntimeError(text.strip())
        table = read_answers(text)
        path = self.options.output.with_name("cublaslt.json")
        path.write_text(json.dumps(table, indent=1, sort_keys=True) + "\n")
        # Those of recipes of other GPUs are refused here.
        cases = [case for case in json.loads((folder / "cases.json").read_text())
                 if not self.architectures or any(self.has_products(case, a) for a in self.architectures)]
        asked = set().union(*(find_products((folder / case["source"]).read_text()) for case in cases))
        refused = [name for name, answer in table["products"].items() if name in asked and not answer["algorithms"]]
        self.note("machine", "probe", not refused, f"{len(table['products'])} products, {len(table['grid'])} of the grid, "
                  f"{len(table['scaled'])} in 8 bits; {path}" + "".join(f"\nno algorithm for {name}" for name in refused))

    # Times.

    def time_networks(self):
        cases = self.networks()
        groups = [(case["name"], [case]) for case in cases]
        self.time_groups("networks", groups, ("eager",))
        # A second way to compute the same.
        self.time_groups("variants", [(case["name"], [case]) for case in self.networks(True) if "variant" in case], ())

    def compile_networks(self):
        """torch.compile takes minutes, so each case runs alone, again in turns with the own step."""
        for case in self.networks() if self.peers.usable else ():
            if not case["compiles"]:
                continue
            if self.seconds_left < 1:
                self.note_not_run(case["name"], "torch compile", "no time left")
                continue
            self.time_rounds(f"compile {case['name']}", [case], ("compile",), rounds=min(3, self.options.rounds))
            self.free_peers()

    # Curves.

    def draw_curves(self):
        for case in self.networks():
            self.attempt(case["name"], "curves", lambda: self.draw_curve(case))
            self.free_peers()

    def draw_curve(self, case):
        network, name = case["network"], case["name"]
        entry = self.results.setdefault("curves", {}).setdefault(name, {})
        sides = [] if self.options.peers_only or self.lacks_library(case) else ["own"]
        if self.peers.usable:
            # On a CPU, compiling takes minutes and shows nothing.
            sides += ["eager", "compile"] if case["compiles"] and self.options.torch_device == "cuda" else ["eager"]
        missing = [side for side in sides if side not in entry]
        if not missing:
            return
        steps = self.options.curve_steps
        from network_cases import complete

        count, arrays = make_samples(complete(network), case["batch"], steps, folder / "data/text.bin")
        data, weights = self.out / f"{name}.data.npz", self.out / f"{name}.weights.npz"
        write_arrays(data, arrays)
        del arrays
        order = order_samples(count, case["batch"], steps, SEED)
        shared = {"network": network, "batch": case["batch"], "precision": case["precision"]}
        answer = self.ask(120, do="weights", path=str(weights), **shared) if self.peers.usable else {}
        if "error" in answer:
            raise NotRun(answer["error"])
        for side in missing:
            if side == "own":
                found = self.train_curve(case, data, weights if self.peers.usable else None, steps)
            else:
                found = self.ask(600, do="curve", peer=side, data=str(data), weights=str(weights), order=order, **shared)
            if "error" in found:
                self.note_not_run(name, f"curve of {side}", found["error"])
            else:
                entry[side] = found
                print(f"{name}: loss of {side} {found['losses'][0]} to {found['losses'][-1]} in {steps} steps", flush=True)
            self.save()
        for path in (data, weights):
            path.unlink(missing_ok=True)
        self.compare_curves()
        self.save()

    def train_curve(self, case, data, weights, steps):
        path = self.out / f"{case['name']}.curve.json"
        command = [self.program(case), "--data", data, "--seed", SEED, "--quiet", "--steps", steps, "--metrics-json", path]
        status, text = self.execute(command + (["--init", weights] if weights else []), 300)
        if status:
            raise RuntimeError(text.strip())
        run = read_run(path)
        return {"losses": [step["loss"] for step in run["steps"]], "bytes": run["results"].get("bytes of device memory")}

    def compare_curves(self):
        """Steps and seconds to the least mean loss that every side reaches. Seconds come from timed
        steps: a curve reads the loss of each step."""
        for name, curves in self.results.get("curves", {}).items():
            whole = {side: curve["losses"] for side, curve in curves.items()
                     if side != "equal loss" and curve["losses"] and all(isinstance(loss, float) for loss in curve["losses"])}
            if len(whole) < 2:
                continue
            target = max(min(smooth(losses)) for losses in whole.values())
            found = {"loss": target, "steps": {}, "seconds": {}}
            for side, losses in whole.items():
                entry = self.results["times"].get(name) if side == "own" else self.results["peers"].get(f"{name}-{side}")
                found["steps"][side] = steps_to(losses, target)
                if entry and "ms per step" in entry:
                    found["seconds"][side] = found["steps"][side] * entry["ms per step"] / 1e3
            curves["equal loss"] = found

    # Launches.

    def profile_networks(self):
        """The time of each launch of a step."""
        for case in self.networks(True):
            if case["name"] not in self.results.setdefault("launches", {}):
                self.attempt(case["name"], "profile", lambda: self.profile(case))

    def profile(self, case):
        if self.lacks_library(case):
            raise NotRun("there is no library over cuDNN")
        command = [self.program(case), "--synthetic", "--seed", SEED, "--quiet", "--steps", 0, "--profile"]
        status, text = self.execute(command, 180)
        if status:
            raise RuntimeError(text.strip())
        rows = read_launches(text)
        if not rows:
            raise RuntimeError(f"the program printed no table of launches: {text[:200]}")
        self.results["launches"][case["name"]] = rows
        self.save()

    # Summaries.

    def summarize(self):
        super().summarize()
        networks = self.networks()
        gpu = find_model(self.results.get("device")) if networks else None
        for case in networks:
            name = case["name"]
            entries = [self.results["times"].get(name), *(self.results["peers"].get(f"{name}-{peer}") for peer in ("eager", "compile"))]
            for entry in entries:
                if entry and "ms per step" in entry:
                    self.describe_speed(case, entry, gpu)
        self.compare_curves()

    def describe_speed(self, case, entry, gpu):
        seconds = entry["ms per step"] / 1e3
        entry[f"{case['units']} per second"] = case["per step"] / seconds
        if gpu:
            entry["MFU"] = {way: case[way] / seconds / gpu["half"] for way in ("nominal", "needed")}
            if gpu["target"] in case["costs"]:
                entry["of the roofline"] = case["costs"][gpu["target"]]["roofline us"] / (seconds * 1e6)
        for key in ("bytes", "peak bytes"):
            found = [sample[key] for sample in entry["samples"] if sample.get(key)]
            if found:
                entry["memory"] = max(found)

    def lacks_library(self, case):
        """Whether the case needs the library over cuDNN, which is missing."""
        return case.get("needs") == "cudnn" and not self.cudnn and not self.options.emulator
