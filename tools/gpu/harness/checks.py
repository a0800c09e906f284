# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The checks of run.py: states, memory, losses."""

import math
import re

import machine
from machine import distance, read_arrays
from results import NotRun, Results, folder, last_line, read_run

LOSS_BOUND = 0.02  # of each loss of a large model, to that of f32
COMPARED_RATE = 0.05  # of the steps whose losses are compared
# Kernels of the library. Their races are not the project's, and they take most of the time.
LIBRARY_KERNELS = ",".join(f"kns={name}" for name in ("cublas", "nvjet", "cutlass", "xmma", "gemm", "gemv", "splitK"))


def read_losses(path):
    """The losses of the steps. None for a NaN or an infinity, which is a string."""
    return [None if isinstance(step["loss"], str) else step["loss"] for step in read_run(path)["steps"]]


class Checks(Results):
    def train(self, case, label, *arguments):
        """Runs the steps of a case and returns the checkpoint, or None."""
        saved = self.out / f"{case['name']}.{label.replace(' ', '-')}.npz"
        command = [self.program(case), "--data", folder / case["data"], "--seed", 3, "--quiet", "--steps", case["steps"],
                   "--save", saved, *arguments]
        status, text = self.execute(command, 120)
        if status:
            self.note(case["name"], label, False, text.strip())
            return None
        return saved

    def check_states(self, case):
        """Compares the states after some steps with those of the CPU. They must be equal in two
        runs, with a graph and without one."""
        if case.get("needs") == "cudnn" and not self.cudnn and not self.options.emulator:
            raise NotRun("there is no library over cuDNN")
        saved = self.train(case, "states", "--poison")
        if not saved:
            return
        actual, expected = read_arrays(saved), read_arrays(folder / case["reference"])
        worst, where = 0.0, ""
        for state, limit in case["limits"].items():
            apart = distance(actual.get(state, ()), expected[state])
            # In units of the permitted distance. A limit of 0 requires equal bits.
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

    def check_all_states(self):
        for case in self.cases:
            if "reference" in case:
                self.attempt(case["name"], "states", lambda: self.check_states(case))

    def check_memory(self):
        """compute-sanitizer must find nothing in two steps of the smallest models."""
        cases = [case for case in self.cases if case["model"].startswith("digits") and case["precision"] in ("f32", "fp16")
                 or case.get("small") and case["precision"] == "bf16"]
        sanitizer = None if self.options.emulator and not self.options.sanitizer else machine.find_tool(
            "compute-sanitizer", self.options.sanitizer)
        self.sanitizer_fails = None if sanitizer else "there is no compute-sanitizer"
        for case in sorted(cases, key=lambda case: (case["precision"] == "f32", case.get("small", False))):
            for tool in ("memcheck", "racecheck"):
                self.attempt(case["name"], f"compute-sanitizer {tool}", lambda: self.sanitize(sanitizer, tool, case))

    def sanitize(self, sanitizer, tool, case):
        if self.sanitizer_fails:
            raise NotRun(self.sanitizer_fails)
        rest = ["--error-exitcode=9", self.program(case), "--data", folder / case["data"], "--steps", 2, "--quiet", "--no-graph"]
        # Versions before 2023 lack the filter.
        for only_own in ([f"--kernel-name-exclude={LIBRARY_KERNELS}"] if tool == "racecheck" else [], []):
            status, text = self.execute([sanitizer, f"--tool={tool}", *only_own, *rest], 60)
            if not re.search("(?i)(unknown|unrecogni[sz]ed|invalid) .*option", text):
                break
        refusal = re.search("(?im)^.*(device not supported|failed to initialize|unable to find|permission denied).*$", text)
        if refusal or status == 127:
            self.sanitizer_fails = refusal[0].strip() if refusal else text
            raise NotRun(self.sanitizer_fails)
        if status not in (0, 9):
            # The exit status is 9 if it finds an error.
            raise NotRun(f"ended with status {status}: {last_line(text)}")
        self.note(case["name"], f"compute-sanitizer {tool}", status == 0, last_line(text))

    def losses(self, case, steps=5):
        path = self.out / f"{case['name']}.json"
        command = [self.program(case), "--synthetic", "--seed", 3, "--quiet", "--steps", steps, "--metrics-json", path]
        status, text = self.execute(command, 120)
        if status:
            raise RuntimeError(text.strip())
        return read_losses(path)

    def read_wide_losses(self, case):
        losses = self.losses(case)
        self.note(case["name"], "losses", None not in losses, str(losses))
        return losses

    def compare_losses(self, case, wide):
        losses = self.losses(case)
        if None in losses or not wide or None in wide:
            self.note(case["name"], "losses", None not in losses, str(losses))
            return
        apart = max(abs(a - b) / abs(b) for a, b in zip(losses, wide))
        self.note(case["name"], "losses as in f32", apart <= LOSS_BOUND, f"{apart:.1e} of at most {LOSS_BOUND:.0e}")

    def check_losses(self):
        """The losses of models that take a CPU too long must be those of f32. Those of
        perceptrons, from the same batch and weights, must be those of PyTorch."""
        large = [case for case in self.perceptrons if "reference" not in case]
        plain = [case for case in large if "variant" not in case]
        wide = {case["model"]: self.attempt(case["name"], "losses", lambda: self.read_wide_losses(case))
                for case in plain if case["precision"] == "f32"}

        def compare(cases):
            for case in cases:
                self.attempt(case["name"], "losses", lambda: self.compare_losses(case, wide.get(case["model"])))

        compare(case for case in plain if case["precision"] != "f32")
        for case in self.cases:
            if "layers" in case and "variant" not in case and self.peers.usable:
                self.attempt(case["name"], "losses as in torch", lambda: self.check_peer_losses(case))
        compare(case for case in large if "variant" in case)
        self.free_peers()

    def check_peer_losses(self, case):
        data, weights, path = (self.out / f"{case['name']}.peer.{end}" for end in ("data.npz", "npz", "json"))
        shared = {"layers": case["layers"], "batch": case["batch"], "precision": case["precision"]}
        answer = self.ask(60, do="data", path=str(data), **shared)
        common = [self.program(case), "--data", data, "--seed", 3, "--quiet", "--set", f"lr={COMPARED_RATE}", "--steps"]
        if "error" not in answer:
            for arguments in ([0, "--save", weights], [5, "--metrics-json", path]):
                status, text = self.execute([*common, *arguments], 120)
                if status:
                    raise RuntimeError(text.strip())
            answer = self.ask(120, do="losses", weights=str(weights), data=str(data), steps=5, rate=COMPARED_RATE, **shared)
        if "error" in answer:
            raise NotRun(answer["error"])
        apart = max(abs(a - b) / abs(b) if a is not None else math.inf for a, b in zip(read_losses(path), answer["losses"]))
        self.note(case["name"], "losses as in torch", apart <= LOSS_BOUND, f"{apart:.1e} of at most {LOSS_BOUND:.0e}")
