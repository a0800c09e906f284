# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# The estimates of networks on the page of benchmarks come from amp-translate. An independent sum over the
# launches, from their operations and bytes and the data sheet of the H200, agrees with the printed
# bound and estimate. Times, memory and launches are within the limits that the networks must keep.
#
# REQUIRES: full
# RUN: rm -rf %t && mkdir %t
# RUN: %python %s %t %amp_src_root/docs/benchmarks/README.md

import re
import sys

sys.path.insert(0, __file__.rsplit("/", 1)[0] + "/Inputs")
from program import run

folder, page = sys.argv[1:3]
HALF, F32, BANDWIDTH = 989.4e12, 66.9e12, 4.8e12
# The most milliseconds, gigabytes and launches.
LIMITS = {
    "gpt2 --sequence=1024": (104, 26, 260),
    "gpt2 --sequence=8192 --positions=8192": (195, 26, 260),
    "bert --sequence=512": (43, 11, 320),
    "vit": (58, 15, 300),
    "resnet50 --batch=256": (34, 9, 370),
}
ROW = re.compile(r"^\| `([^`]*)`([^|]*)\| +(\d+) \| +([\d,]+) \| +(\d+) GB \| +([\d.]+) ms \| +([\d.]+) ms \| +([\d.]+) GB \|$", re.M)
with open(page) as file:
    rows = ROW.findall(file.read())
assert {name for name, *_ in rows} >= set(LIMITS), rows
failures = []
for name, choice, batch, launches, size, bound, estimate, memory in rows:
    model = f"{folder}/{re.sub(r'[^a-z0-9]+', '-', name)}.mlir"
    run(["amp-model", *name.split(), "-o", model])
    options = re.findall(r"`(--[^`]*)`", choice)
    fixed = [] if "--batch=" in name else ["--batch-size", batch]
    text = run(["amp-translate", "--cuda-costs", "--target=h200", *fixed, "--precision", "bf16", "--attention=cudnn",
                "--convolutions=cudnn", *options, model])
    table = [(launch, int(ops), int(moved), by, float(least), float(taken)) for launch, ops, moved, by, least, taken in
             re.findall(r"^(\S+) +(\d+) +(\d+) +(memory|compute) +(\S+) +(\S+)$", text, re.M)]
    # A launch that the memory does not bound has the rate of tensor cores, or that of f32.
    sums = [0.0, 0.0]
    for launch, ops, moved, by, least, taken in table:
        times = [max(ops / rate, moved / BANDWIDTH) * 1e6 for rate in (HALF, F32)]
        own = min(times, key=lambda time: abs(time - least))
        sums[0] += own
        sums[1] += taken
        if abs(own - least) > 0.03 * least + 1e-2:
            failures.append(f"{name}: {launch} is bound by {own:.3f} us, printed {least}")
    printed_bound = float(re.search(r"^roofline bound as written (\S+) us", text, re.M)[1])
    printed, count = re.search(r"^estimate (\S+) us, up to 8 % more; (\d+) launches$", text, re.M).groups()
    arena = int(re.search(r"^memory (\d+) bytes", text, re.M)[1])
    found = (count, f"{sum(row[2] for row in table) / 1e9:.0f}", f"{printed_bound / 1e3:.1f}", f"{float(printed) / 1e3:.1f}",
             f"{arena / 1e9:.1f}")
    print(f"{name} {' '.join(options)}: | {found[0]} | {found[1]} GB | {found[2]} ms | {found[3]} ms | {found[4]} GB |", flush=True)
    if found != (launches.replace(",", ""), size, bound, estimate, memory):
        failures.append(f"{name} {options}: the page has {(launches, size, bound, estimate, memory)}, found {found}")
    for own, other in ((sums[0], printed_bound), (sums[1], float(printed))):
        if abs(own - other) > 0.03 * other:
            failures.append(f"{name}: the launches sum to {own:.1f} us, printed {other:.1f} us")
    limits = LIMITS.get(name)
    if limits and not options and (float(printed) > limits[0] * 1e3 or arena > limits[1] * 1e9 or int(count) > limits[2]):
        failures.append(f"{name}: {printed} us, {arena} bytes, {count} launches, expected at most {limits}")
print(*failures, sep="\n")
sys.exit(1 if failures else 0)
