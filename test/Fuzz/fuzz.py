# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# The readers of external input, on the inputs of the corpus. Each of them was once a
# fault or reaches a part that others miss. A build with AMP_BUILD_FUZZERS also
# looks for faults with libFuzzer: in the long tier for ten minutes a target, or
# for AMP_FUZZ_SECONDS.
#
# RUN: rm -rf %t && mkdir %t
# RUN: %python %s %amp_obj_root %t %fuzzers
"""Usage: fuzz.py <build folder> <folder> <on|off> [target...]

Keeps new inputs in <folder>/<target>, and faults in <folder>.
"""

import os
import pathlib
import re
import subprocess
import sys

TARGETS = ("policy", "options", "module", "arrays", "state")
# Modules of the tests, as seeds for every pipeline.
PIPELINES = "0123456789"
LARGEST = 4096

here = pathlib.Path(__file__).parent


def seeds_of(target, folder):
    """Seeds in addition to the corpus, from other files of the repository."""
    root = here.parent.parent
    folder.mkdir(parents=True, exist_ok=True)
    if target == "policy":
        for path in (root / "lib/Precision/Policy/presets").glob("*.yaml"):
            (folder / path.name).write_text(path.read_text())
    if target != "module":
        return
    count = 0
    for path in sorted((root / "test").rglob("*.mlir")):
        if not {"Transforms", "Dialect", "Target", "Pipelines", "JAX"} & set(path.parts):
            continue
        for part in path.read_text(errors="replace").split("// -----"):
            text = "\n".join(x for x in part.split("\n") if not x.strip().startswith("//")).strip()
            if not 0 < len(text) < LARGEST:
                continue
            # Every fifth pipeline for each, so that all of them get their share.
            for pipeline in PIPELINES[count % 5 :: 5]:
                (folder / f"{path.stem}-{count}-{pipeline}").write_text(pipeline + text)
            count += 1


def replay(tool, target, environment):
    inputs = sorted(str(path) for path in (here / "corpus" / target).iterdir())
    assert inputs, f"no corpus of {target}"
    result = subprocess.run(
        [tool, f"--target={target}", *inputs], capture_output=True, text=True, env=environment
    )
    assert result.returncode == 0, (target, result.stdout[-500:], result.stderr[-3000:])
    print(f"{target}: {len(inputs)} inputs of the corpus")


def fuzz(tool, target, folder, environment, seconds):
    found, seeds = folder / target, folder / f"{target}-seeds"
    found.mkdir(exist_ok=True)
    seeds_of(target, seeds)
    log = folder / f"{target}.log"
    with open(log, "w") as file:
        result = subprocess.run(
            [
                tool, f"--target={target}", f"-max_total_time={seconds}", f"-max_len={LARGEST}",
                "-rss_limit_mb=4096", "-timeout=60", "-close_fd_mask=3", "-print_final_stats=1",
                f"-artifact_prefix={folder}/fault-{target}-", str(found), str(seeds),
                str(here / "corpus" / target),
            ],
            stdout=file, stderr=subprocess.STDOUT, env=environment,
        )  # fmt: skip
    text = log.read_text(errors="replace")
    runs = re.search(r"number_of_executed_units: *(\d+)", text)
    print(f"{target}: {runs[1] if runs else '?'} executions in {seconds} s")
    if result.returncode:
        print(text[-6000:])
    return result.returncode == 0


def main(build, folder, fuzzers, *targets):
    tool = os.path.join(build, "bin", "amp-fuzz")
    environment = {**os.environ, "TMPDIR": folder}
    seconds = int(os.environ.get("AMP_FUZZ_SECONDS", 0))
    if not seconds and os.environ.get("AMP_LONG_TESTS"):
        seconds = 600
    good = True
    for target in targets or TARGETS:
        replay(tool, target, environment)
        if fuzzers == "on" and seconds:
            good &= fuzz(tool, target, pathlib.Path(folder), environment, seconds)
    sys.exit(0 if good else 1)


if __name__ == "__main__":
    main(*sys.argv[1:])
