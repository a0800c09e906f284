# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The timings of run.py: own steps, and those of PyTorch in the same rounds."""

import math
import statistics
import time

from results import Results, read_run

TIMED_RATE = 0.01  # of those that are timed, here and in PyTorch
SAMPLE_SECONDS = 0.5
# Until a sample of a peer is there, of perceptrons and of networks.
MOST_SECONDS = {(peer, is_network): seconds for peer, both in {"eager": (90, 180), "graph": (90, 180), "compile": (300, 560)}.items()
                for is_network, seconds in zip((False, True), both)}
# Operations per second that determine the number of steps of the first sample.
EXPECTED_RATES = {"f32": 3e13, "tf32": 2e14, "bf16": 4e14, "fp16": 4e14}


def compare_rounds(entry, base):
    """The ratio of the times of two steps: the median over the rounds that have both, or None."""
    other = {sample["round"]: sample["ms"] for sample in base["samples"]}
    ratios = [sample["ms"] / other[sample["round"]] for sample in entry["samples"] if sample["round"] in other]
    return statistics.median(ratios) if ratios else None


def has_overflows(sample):
    """Whether steps of a sample, or after it, were skipped, which do less work. A single one does
    not count: the scale grows until a step overflows."""
    loss, before, after = (sample.get(key) for key in ("loss", "scale before", "scale after"))
    return sample.get("skipped", 0) > 1 or isinstance(loss, str) or (loss is not None and not math.isfinite(loss)) or (
        before is not None and after is not None and after < before / 2)


def order_of(case):
    """The rank of a case: the most important precisions come first."""
    return ["fp16", "bf16", "tf32", "f32"].index(case["precision"])


def has_peer(case):
    return "variant" not in case and ("layers" in case or "network" in case)


def describe_to_peers(case):
    """The part of a request that tells peers what a case is."""
    shared = {"batch": case["batch"], "precision": case["precision"]}
    return {**shared, "network": case["network"]} if "network" in case else {
        **shared, "layers": case["layers"], "rate": TIMED_RATE}


class Times(Results):
    def time_own(self, case, round):
        """A sample of a case, in a separate process."""
        name = case["name"]
        entry = self.results["times"].setdefault(name, {
            "model": case["model"], "precision": case["precision"], "variant": case.get("variant"), "batch": case["batch"],
            "samples": []})
        if any(sample["round"] == round for sample in entry["samples"]):
            return
        if entry["samples"]:
            steps = SAMPLE_SECONDS * 1e3 / max(entry["samples"][-1]["ms"], 1e-6)
        else:
            steps = SAMPLE_SECONDS * EXPECTED_RATES.get(case["precision"], 4e14) / max(case["operations"], 1)
        steps = 1 if self.options.emulator else int(min(20000, max(10, steps)))
        path = self.out / f"{name}.time.json"
        command = [self.program(case), "--synthetic", "--seed", 3, "--quiet", "--steps", 0, "--time", steps, "--metrics-json", path]
        if "layers" in case:
            command += ["--set", f"lr={TIMED_RATE}"]
        if self.options.tune:
            command += ["--tune", "--tune-cache", self.out / f"{name}.tune"]
        since = time.monotonic()
        status, text = self.execute(command, 240)
        if status:
            self.broken.add(name)
            raise RuntimeError(text.strip())
        values = read_run(path)["results"]
        sample = {"round": round, "ms": values["ms per step on the device"]}
        for key, name_there in {"steps": "timed steps", "seconds of warm-up": "seconds of warm-up", "steady": "steady after warm-up",
                                "loss": "loss after timed steps", "skipped": "skipped of 10 steps after timed ones",
                                "bytes": "bytes of device memory", "scale before": "loss scale before timed steps", "scale after": "loss scale after timed steps",
                                }.items():
            if name_there in values:
                sample[key] = values[name_there]
        self.add_sample(entry, sample, since)

    def time_peer(self, case, peer, round):
        name = f"{case['name']}-{peer}"
        entry = self.results["peers"].setdefault(name, {
            "model": case["model"], "precision": case["precision"], "peer": peer, "samples": []})
        if "error" in entry or not self.peers.usable or any(sample["round"] == round for sample in entry["samples"]):
            return
        since = time.monotonic()
        answer = self.ask(MOST_SECONDS[peer, "network" in case], do="time", peer=peer, seconds=SAMPLE_SECONDS,
                          **describe_to_peers(case))
        if "error" in answer:
            # This answer concerns one peer. The others get a new process if this one ended.
            entry["error"] = answer["error"]
            self.note_not_run(case["name"], f"torch {peer}", answer["error"])
        else:
            self.add_sample(entry, {"round": round, **answer}, since)

    def add_sample(self, entry, sample, since):
        sample.update(self.monitor.highest(since))
        entry["samples"].append(sample)
        # An earlier stage had no time for it.
        name, check = f"{entry['model']}-{entry['precision']}", f"torch {entry['peer']}" if "peer" in entry else "time"
        if entry.get("variant"):
            name += f"-{entry['variant']}"
        self.results["not run"] = [item for item in self.results["not run"] if (item["case"], item["check"]) != (name, check)]
        self.summarize()
        self.save()

    def time_rounds(self, label, cases, peers=(), rounds=None):
        """Runs rounds in which each case and its peers run in turns, as many as fit."""
        took = 2.0
        for round in range(rounds or self.options.rounds):
            began = time.monotonic()
            if round and self.seconds_left < took:
                break
            for case in cases:
                if case["name"] in self.broken:
                    continue
                if not self.options.peers_only:
                    self.attempt(case["name"], "time", lambda: self.time_own(case, f"{label} {round + 1}"))
                if peers == ("compile",) and "error" in self.results["peers"].get(f"{case['name']}-compile", {}):
                    return
                for peer in peers if has_peer(case) and self.peers.usable else ():
                    self.attempt(case["name"], f"torch {peer}", lambda: self.time_peer(case, peer, f"{label} {round + 1}"))
                if round and self.seconds_left < 1:
                    return
            # The first round compiles and loads libraries.
            took = time.monotonic() - began if round else 2.0

    def time_groups(self, label, groups, peers):
        """Runs the groups in sequence, each with an equal part of the remaining time."""
        end = self.stage_end
        for number, (name, cases) in enumerate(groups):
            now = time.monotonic()
            self.stage_end = now + max(0.0, end - now) / (len(groups) - number)
            self.time_rounds(f"{label} {name}", cases, peers)
            self.free_peers()
        self.stage_end = end

    def summarize(self):
        """Medians, and ratios of samples of the same rounds."""
        results = self.results
        for entry in [*results["times"].values(), *results["peers"].values()]:
            if entry["samples"]:
                entry["ms per step"] = statistics.median(sample["ms"] for sample in entry["samples"])
                entry["overflows"] = any(map(has_overflows, entry["samples"]))
        for case in self.cases:
            entry = results["times"].get(case["name"])
            if not entry or not entry["samples"]:
                continue
            entry["TFLOP/s"] = case["operations"] / entry["ms per step"] / 1e9
            base = results["times"].get(f"{case['model']}-{case['precision']}")
            if case.get("variant") and base and (ratio := compare_rounds(entry, base)):
                entry["times the plain step"] = ratio
            wide = results["times"].get(f"{case['model']}-f32")
            if not case.get("variant") and case["precision"] != "f32" and wide and (ratio := compare_rounds(entry, wide)):
                results["ratios"].setdefault(case["model"], {})[case["precision"]] = 1 / ratio
        for entry in results["peers"].values():
            own = results["times"].get(f"{entry['model']}-{entry['precision']}")
            if own and (ratio := compare_rounds(entry, own)):
                entry["times the own step"] = ratio

    def show_times(self):
        for name, entry in self.results["times"].items():
            if entry["samples"]:
                more = f", {entry['times the plain step']:.2f} times the plain one" if "times the plain step" in entry else ""
                mark = ", STEPS OVERFLOW" if entry["overflows"] else ""
                print(f"{name}: {entry['ms per step']:.4g} ms per step, {entry['TFLOP/s']:.1f} TFLOP/s{more}{mark}")
        for entry in self.results["peers"].values():
            if entry["samples"]:
                more = f", {entry['times the own step']:.2f} times the own" if "times the own step" in entry else ""
                mark = ", STEPS OVERFLOW" if entry["overflows"] else ""
                print(f"{entry['model']}-{entry['precision']}: torch {entry['peer']} {entry['ms per step']:.4g} ms per step{more}{mark}")

    def time_own_large(self):
        large = [case for case in self.perceptrons if "reference" not in case]
        large.sort(key=lambda case: (order_of(case), "variant" in case))
        self.time_rounds("own", large, rounds=1 if "peers" in self.options.stages else self.options.rounds)

    @property
    def perceptrons(self):
        """The cases that are not large networks of amp-model."""
        return [case for case in self.cases if "network" not in case and not case.get("small")]

    def groups(self, is_large):
        timed = sorted((case for case in self.perceptrons if not case.get("overflow") and "variant" not in case
                        and ("reference" not in case) == is_large), key=order_of)
        return [(model, [case for case in timed if case["model"] == model]) for model in sorted({case["model"] for case in timed})]

    def time_compiled(self):
        """torch.compile takes a minute per model. Each runs separately, again in turns with the
        own step, the main types first."""
        cases = [case for case in self.cases if "layers" in case and "variant" not in case]
        cases.sort(key=lambda case: ("reference" in case, order_of(case)))
        for case in cases if self.peers.usable else ():
            if self.seconds_left < 1:
                self.note_not_run(case["name"], "torch compile", "no time left")
                continue
            self.time_rounds(f"compile {case['name']}", [case], ("compile",))
            self.free_peers()
