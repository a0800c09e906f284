# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# One of several ranks is killed, stopped, out of step, or runs another step. Every process ends
# with a message that names its rank and the collective, not later than a second after the deadline.
#
# REQUIRES: full, mpi
# RUN: rm -rf %t && mkdir %t
# RUN: %host_cxx -shared -fPIC %S/Inputs/count-messages.cpp -o %t/counts.so -Wl,--no-as-needed -l:libmpi.so.40 -ldl
# RUN: %python %s %t %S/Inputs

import os
import pathlib
import re
import subprocess
import sys
import time

import numpy as np

sys.path.insert(0, sys.argv[2])
from rank_steps import BATCH, Runs, whole, write_data  # noqa: E402

folder = sys.argv[1] + "/"
# The deadline also covers differences in compile time between the ranks.
RANKS, FAULTY, DEADLINE = 3, 2, 15
runs = Runs(folder, 1)
write_data(folder, 30, np.random.default_rng(5))
model = runs.write("step.mlir", whole())
began = pathlib.Path(folder + "began")


def break_rank(signal="", options=""):
    """Trains with a faulty rank, which gets `signal` in the middle of the run, or other `options`.
    Returns what the ranks printed and the seconds from the fault to the end."""
    began.unlink(missing_ok=True)
    # The shell becomes amp-run, so it has the number of its process.
    send = f"(sleep 10; touch {began}; kill -{signal} $$) > /dev/null 2>&1 &" if signal else f"touch {began};"
    script = (f"more=; if [ $OMPI_COMM_WORLD_RANK = {FAULTY} ]; then {send} more='{options}'; fi; "
              f"exec amp-run {model} --data {folder}data.npz --batch-size {BATCH} --precision f32 --steps 10000000 --quiet "
              f"--rank-deadline {DEADLINE} $more")
    done = subprocess.run(["mpirun", "-n", str(RANKS), "sh", "-c", script], capture_output=True, text=True, timeout=120)
    seconds = time.time() - began.stat().st_mtime
    assert done.returncode != 0, done.stderr
    return done.stderr, seconds


def assert_said(text, ranks):
    """Each of `ranks` says what it did, with the number of the collective."""
    for rank in ranks:
        lines = re.findall(rf"amp-run: error: rank {rank}: (.*)", text)
        assert any(re.search(r"collective \d+, an? [a-z-]+ .*(elements|states|signals)|before the first collective", line) for line in lines), (rank, text)


others = [rank for rank in range(RANKS) if rank != FAULTY]

# The launcher ends the others, before or after they notice.
text, seconds = break_rank("KILL")
assert_said(text, others)
assert seconds < DEADLINE + 1, seconds

# The others name the rank that they wait for. The launcher wakes it up to end it.
text, seconds = break_rank("STOP")
assert re.search(rf"rank [01]: rank {FAULTY} has not (begun|finished) collective \d+, (an all-reduce sum of \d+ f32 elements|an exchange of signals) after {DEADLINE} s", text), text
assert_said(text, range(RANKS))
assert seconds < DEADLINE + 2, seconds

# Another collective, or one of other elements, is found at once.
for options, what in (("--check-ranks", "a check of \\d+ states"), ("--pipeline bucket-bytes=1", "an all-reduce sum of \\d+ f32 elements")):
    text, _ = break_rank(options=options)
    assert re.search(rf"rank [01]: this rank begins collective \d+, .*, but rank {FAULTY} begins collective \d+, {what}; expected the same on all ranks", text), text
    assert_said(text, range(RANKS))

# A rank that is done does not answer.
text, _ = break_rank(options="--steps 2")
assert re.search(rf"rank [01]: rank {FAULTY} has not begun collective 4, an exchange of signals after {DEADLINE} s", text), text

# A rank is killed while it sends a message: the first one, one of the last step, or one while rank 0 collects divided
# states. The library of MPI has a function that counts the messages.
run_steps = ["--data", folder + "data.npz", "--batch-size", BATCH, "--precision", "f32", "--steps", 4, "--quiet",
             "--rank-deadline", DEADLINE, "--save", folder + "state.npz"]


def count_and_kill(message, rank, *options):
    """Trains with a rank that is killed at its message of number `message`. Returns the process."""
    environment = {**os.environ, "AMP_MPI_LIBRARY": folder + "counts.so", "AMP_TEST_KILL": f"{rank}:{message}"}
    command = ["mpirun", "-n", str(RANKS), "amp-run", model, *map(str, run_steps), *options]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, env=environment)


for options in ([], ["--shard-optimizer", "--pipeline", "shard-min-elements=1"]):
    done = count_and_kill(0, 0, *options)
    assert done.returncode == 0, done.stderr
    (count,) = set(map(int, re.findall(r"sent (\d+) messages", done.stderr)))
    os.remove(folder + "state.npz")
    for rank, message in ((FAULTY, 1), (FAULTY, RANKS), (0, count // 2), (FAULTY, count - 2 * RANKS), (0, count - RANKS), (FAULTY, count - 1)):
        begin = time.monotonic()
        done = count_and_kill(message, rank, *options)
        assert done.returncode != 0 and time.monotonic() - begin < DEADLINE + 10, (rank, message, done.stderr)
        assert_said(done.stderr, [other for other in range(RANKS) if other != rank])
        assert not os.path.exists(folder + "state.npz"), (rank, message, options)

done = runs.run(1, model, "--data", folder + "data.npz", "--rank-deadline", 0, expect=1)
assert "--rank-deadline must be positive, got 0" in done.stderr, done.stderr
