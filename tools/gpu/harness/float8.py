# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The stage of run.py for 8-bit products: the step of each recipe in turns with that in bf16, next to
the estimates, and the losses of both from the same weights and data."""

import math
import statistics

from networks import SEED, WINDOW, Networks
from results import folder
from text import make_samples, write_arrays
from times import compare_rounds

LOSS_BOUND = 0.02  # of the mean of the last losses, to that of bf16


class Float8(Networks):
    def float8_groups(self):
        """Networks with recipes: the case in bf16, and those of the recipes."""
        for wide in self.networks():
            low = [case for case in self.cases if case["model"] == wide["model"] and "recipe" in case and "network" in case]
            if low and wide["precision"] == "bf16":
                yield wide, low

    def time_float8(self):
        groups = list(self.float8_groups())
        for wide, low in groups:
            self.attempt(wide["name"], "losses in 8 bits", lambda: self.compare_low_losses(wide, low))
        self.time_groups("float8", [(wide["model"], [wide, *low]) for wide, low in groups], ())
        for wide, low in groups:
            for case in low:
                self.show_gain(wide, case)

    def compare_low_losses(self, wide, low):
        """The mean of the last losses of each recipe must be that of bf16, within a bound that was chosen before
        any run."""
        from network_cases import complete

        steps = self.options.curve_steps
        data = self.out / f"{wide['model']}.float8.npz"
        _, arrays = make_samples(complete(wide["network"]), wide["batch"], steps, folder / "data/text.bin")
        write_arrays(data, arrays)
        found = self.results.setdefault("float8 losses", {}).setdefault(wide["model"], {"seed": SEED})
        for case in (wide, *low):
            if case["precision"] not in found:
                curve = self.attempt(case["name"], "losses", lambda: self.train_curve(case, data, None, steps))
                found[case["precision"]] = curve["losses"] if curve else None
                self.save()
        data.unlink(missing_ok=True)
        base = found[wide["precision"]]
        for case in low:
            losses = found[case["precision"]]
            if not base or not losses:
                continue
            last = [statistics.mean(float(loss) for loss in curve[-WINDOW:]) for curve in (losses, base)]
            apart = abs(last[0] - last[1]) / abs(last[1])
            self.note(case["name"], "losses as in bf16", math.isfinite(apart) and apart <= LOSS_BOUND,
                      f"{apart:.1e} of at most {LOSS_BOUND:.0e}")

    def show_gain(self, wide, case):
        """The gain over bf16, measured and estimated."""
        entry, base = (self.results["times"].get(it["name"]) for it in (case, wide))
        ratio = compare_rounds(entry, base) if entry and base else None
        if not ratio:
            return
        entry["gain over bf16"] = 1 / ratio
        entry["estimated gain"] = {
            target: wide["costs"][target]["estimate us"] / costs["estimate us"] for target, costs in case["costs"].items()}
        estimates = ", ".join(f"{target} {gain:.2f}" for target, gain in entry["estimated gain"].items())
        print(f"{case['name']}: {1 / ratio:.2f} times as fast as in bf16, estimates: {estimates}", flush=True)
        self.save()
