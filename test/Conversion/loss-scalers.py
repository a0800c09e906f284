# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# The scale and the counters that `scaler=<framework>` gives follow an
# independent model of that framework's machine, step by step, over random
# patterns of overflows; and the cases in which frameworks go wrong.
#
# REQUIRES: full
# RUN: rm -rf %t && mkdir %t
# RUN: %python %s %t %S/Inputs

import os
import re
import subprocess
import sys

import numpy as np

folder = sys.argv[1]
sys.path.insert(0, sys.argv[2])
from oracle import Step, tensor  # noqa: E402
from scalers import DEFAULTS, MODELS  # noqa: E402

PATTERNS = 1000 if os.environ.get("AMP_LONG_TESTS") else 40
STEPS = 500

STEP = """
func.func @step(%w: tensor<4xf32> {amp.role = "parameter", amp.name = "w"}) -> (tensor<4xf32> {amp.updates = "w"}) {
  %seed = amp.gradient_seed "loss" : tensor<f32>
  %g = train.mul %w, %seed {amp.gradient_of = ["w"]} : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %n = train.sub %w, %g : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %n : tensor<4xf32>
}
"""


def insert(options):
    """The attributes of the update and the initial state that the pass gives."""
    result = subprocess.run(
        ["amp-opt", "-", f"--amp-insert-loss-scaling={options}"],
        input=STEP, capture_output=True, text=True,
    )
    assert result.returncode == 0, result.stderr
    attributes = re.search(r"amp\.update_scale [^{\n]*(\{.*\})?", result.stdout).group(1) or ""
    # MLIR prints numbers that six digits do not give exactly by their bits.
    number = lambda text: (
        float(np.uint64(int(text, 16)).view(np.float64)) if text.startswith("0x") else float(text or 0)
    )
    init = [
        number(value)
        for value in re.findall(
            r"amp\.init = #amp\.init<(?:constant, value = ([^ >,]+)(?: : f64)?|zeros)>", result.stdout
        )
    ]
    return attributes, init, result.stdout


class CompiledScaler:
    """amp.update_scale with these attributes, compiled: all patterns in one call."""

    def __init__(self, attributes, name, patterns, steps):
        self.step = step = Step()
        flags = step.input((np.zeros((patterns, steps), np.bool_), "i1"))
        starts = [step.input(tensor(np.zeros(patterns), t)) for t in ("f32", "i32", "i32")]
        out = "f32", "i32", "i32"
        sizes = f"{patterns}x{steps}x"
        tensors = ", ".join(f"tensor<{sizes}{t}>" for t in out)
        state = ", ".join(f"tensor<{t}>" for t in out)
        line = step.line
        for i, value in enumerate((0, 1, patterns, steps)):
            line(f"%c{i} = arith.constant {value} : index")
        for i, t in enumerate(out):
            line(f"%e{i} = tensor.empty() : tensor<{sizes}{t}>")
        line(f"%r:3 = scf.for %p = %c0 to %c2 step %c1 iter_args(%a0 = %e0, %a1 = %e1, %a2 = %e2) -> ({tensors}) {{")
        for i, t in enumerate(out):
            line(f"  %x{i} = tensor.extract {starts[i]}[%p] : tensor<{patterns}x{t}>")
            line(f"  %i{i} = tensor.from_elements %x{i} : tensor<{t}>")
        line("  %q:6 = scf.for %t = %c0 to %c3 step %c1 iter_args(%b0 = %a0, %b1 = %a1, %b2 = %a2, "
             f"%s = %i0, %g = %i1, %h = %i2) -> ({tensors}, {state}) {{")
        line(f"    %f = tensor.extract {flags}[%p, %t] : tensor<{sizes}i1>")
        line("    %ft = tensor.from_elements %f : tensor<i1>")
        line(f"    %n0, %n1, %n2 = amp.update_scale %s, %g, %h, %ft {attributes}")
        for i, t in enumerate(out):
            line(f"    %y{i} = tensor.extract %n{i}[] : tensor<{t}>")
            line(f"    %d{i} = tensor.insert %y{i} into %b{i}[%p, %t] : tensor<{sizes}{t}>")
        line(f"    scf.yield %d0, %d1, %d2, %n0, %n1, %n2 : {tensors}, {state}")
        line("  }")
        line(f"  scf.yield %q#0, %q#1, %q#2 : {tensors}")
        line("}")
        for i, t in enumerate(out):
            step.output(f"%r#{i}", (patterns, steps), t)
        step.compile(f"{folder}/{name}")

    def run(self, flags, scales, trackers, hysteresis):
        self.step.arrays = [(flags, "i1"), tensor(scales, "f32"), tensor(trackers, "i32"),
                            tensor(hysteresis, "i32")]
        _, results = self.step.call()
        return [array for array, _ in results]


def compile_scaler(options, name, patterns, steps):
    attributes, _, _ = insert(options)
    return CompiledScaler(attributes, name, patterns, steps)


# The presets as they come: constants, and the state that a run starts with.
for name, (scale, interval, hysteresis) in DEFAULTS.items():
    attributes, init, text = insert(f"scaler={name}")
    assert init == [scale, 0, hysteresis], (name, init)
    found = re.search(r"growth_interval = (\d+)", attributes)
    assert int(found.group(1) if found else 2000) == interval, (name, attributes)
    assert (" strict" in text) == (name == "tf-keras"), name

rng = np.random.default_rng(61)
for name, model in MODELS.items():
    scale, interval, hysteresis = DEFAULTS[name]
    configurations = [(n, hysteresis) for n in (1, 2, 3, 7, interval)]
    if hysteresis > 1 or name == "paddle":
        configurations += [(2, 1), (3, 4), (5, 3)]
    compared = grown = 0
    count = -(-PATTERNS // len(configurations))
    for index, (n, h) in enumerate(configurations):
        tested = compile_scaler(f"scaler={name} growth-interval={n} hysteresis={h}", f"{name}-{index}", count, STEPS)
        rate = rng.choice([0.002, 0.05, 0.2, 0.4], (count, 1))
        flags = rng.random((count, STEPS)) >= rate
        # Restored trackers too, in torch's case beyond the interval.
        limit = n + 2 if name in ("pytorch", "tf-keras", "paddle") else n
        trackers = rng.integers(0, limit, count) if n < 100 else n - rng.integers(1, 200, count)
        scales = np.where(rng.random(count) < 0.7, scale, rng.uniform(1, 1e5, count))
        scales = scales.astype(np.float32)
        result = tested.run(flags, scales, trackers, np.full(count, h))
        for p in range(count):
            reference = model(scales[p], int(trackers[p]), n, h)
            for t in range(STEPS):
                with np.errstate(over="ignore"):
                    reference.step(bool(flags[p, t]))
                # A framework that keeps the scale in a double goes beyond f32.
                if reference.double and not 2.0**-126 <= reference.scale < 2.0**128:
                    break
                expected = [np.float32(reference.scale), reference.tracker, reference.hysteresis]
                got = [array[p, t] for array in result]
                assert got == expected, (name, n, h, p, t, got, expected)
                compared += 1
        grown += int((result[0] > scales[:, None]).sum())
    assert compared > 0.5 * count * len(configurations) * STEPS, (name, compared)
    assert grown, name
    print(f"{name}: {compared} steps of {count * len(configurations)} patterns")

# A model that never gives finite gradients: some stop at a floor of 1, others
# fall through the range of f32, torch to 2^-128 after 144 steps.
never = np.zeros((1, STEPS), np.bool_)
for name in ("amp", *MODELS):
    h = DEFAULTS[name][2] if name in DEFAULTS else 1
    scales, _, _ = compile_scaler(f"scaler={name}", f"never-{name}", 1, STEPS).run(never, [2.0**16], [0], [h])
    floor = 1 if name in ("amp", "deepspeed", "megatron", "tf-keras", "paddle") else 0
    assert scales[0, -1] == floor, (name, scales[0, -1])
    if name == "pytorch":
        assert scales[0, 143] == np.float32(2.0**-128)

# Growth at the end of the range: refused where it is guarded, and the counter restarts in both
# cases.
always = np.ones((1, 4), np.bool_)
for name, guarded in (("amp", True), ("pytorch", True), ("tf-keras", True), ("paddle", True),
                      ("keras", False), ("megatron", False)):
    scales, trackers, _ = compile_scaler(f"scaler={name} growth-interval=2", f"end-{name}", 1, 4).run(
        always, [2.0**127], [0], [1])
    assert scales[0, 1] == (2.0**127 if guarded else np.inf), (name, scales)
    assert trackers[0].tolist() == [1, 0, 1, 0], (name, trackers)

# A tracker that was restored above a shorter interval never grows again where
# it is compared for equality.
always = np.ones((1, 50), np.bool_)
for name in ("amp", *MODELS):
    if name == "deepspeed":  # It has no tracker, but the step of the last overflow.
        continue
    h = DEFAULTS[name][2] if name in DEFAULTS else 1
    scales, _, _ = compile_scaler(f"scaler={name} growth-interval=10", f"restored-{name}", 1, 50).run(
        always, [4], [11], [h])
    assert (scales[0, -1] > 4) == (name in ("amp", "tf-keras")), (name, scales)

# Keras' own tests: 400 halves to 25 in four steps; 2 with an interval of 2 is 32
# after eight clean steps.
scales, _, _ = compile_scaler("scaler=keras", "keras-down", 1, 4).run(np.zeros((1, 4), np.bool_), [400], [0], [1])
assert scales[0, -1] == 25
scales, _, _ = compile_scaler("scaler=keras growth-interval=2", "keras-up", 1, 8).run(
    np.ones((1, 8), np.bool_), [2], [0], [1])
assert scales[0, -1] == 32

# Each option changes only its own behaviour: consecutive_hysteresis of DeepSpeed is
# a refill by every clean step, and Apex' hysteresis kernel counts on.
for index, (options, flags, expected) in enumerate([
    ("scaler=deepspeed hysteresis-refill=clean", [0, 1, 0, 0], [8, 8, 8, 4]),
    ("scaler=deepspeed", [0, 1, 0, 0], [8, 8, 4, 2]),
    ("hysteresis=2", [0, 0, 0, 1, 0, 0], [8, 4, 2, 2, 2, 1]),
    ("hysteresis=2 after-backoff=refill", [0, 0, 0, 0], [8, 4, 4, 2]),
    ("hysteresis=3 after-backoff=hold", [0, 0, 0, 0], [8, 8, 4, 2]),
    ("growth-interval=1 max-scale=65537 init-scale=8 growth-factor=5000", [1, 1, 1], [40000, 65537, 65537]),
    ("growth-interval=1 growth-factor=3e38", [1, 1], [8, 8]),
    ("growth-interval=1 growth-factor=3e38 growth-guard=off max-scale=inf", [1], [np.inf]),
    ("min-scale=3 backoff-factor=0.25", [0, 0], [3, 3]),
]):
    full = int((re.search(r"(?<![-\w])hysteresis=(\d)", options) or [0, 2 if "deepspeed" in options else 1])[1])
    flags = np.array([flags], np.bool_)
    scales, _, _ = compile_scaler(options, f"option-{index}", 1, flags.size).run(flags, [8], [0], [full])
    expected = np.array(expected, np.float32)
    assert scales[0].tolist() == expected.tolist(), (options, scales, expected)
