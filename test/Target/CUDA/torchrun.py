# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# torchrun starts an emitted program, whose ranks meet in the store of torchrun. The states
# equal those of a start with mpirun. A second run in the same job finds no old message.
#
# REQUIRES: full, mpi, torch-export
# RUN: rm -rf %t && mkdir %t
# RUN: %python %s %t '%cuda_host_cxx' '%cuda_host_lib' %models %digits %torch_python

import os
import re
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "Inputs"))
from program import Builder

folder, compiler, library, models, digits, python = sys.argv[1:7]
builder = Builder(compiler, library, folder)
builder.build_all({"step": (f"{models}/digits-mlp.mlir", "--precision", "fp16", "--batch-size", "32", "--ranks", "2")})
ENVIRONMENT = {**os.environ, "AMP_NCCL_HOST_ORDER": "rank", "OMP_NUM_THREADS": "1"}
OPTIONS = f"--data {digits} --steps 4 --seed 3 --deadline 60"


def start(command):
    return subprocess.run(command, capture_output=True, text=True, timeout=240, env=ENVIRONMENT)


def read(name):
    with open(f"{folder}/{name}.npz", "rb") as file:
        return file.read()


torchrun = [python, "-m", "torch.distributed.run", "--standalone", "--no-python", "--nproc-per-node", "2"]
# The ranks of the second run would use the message of the first one, if it were still there.
script = f"{folder}/step {OPTIONS} --save {folder}/one.npz && {folder}/step {OPTIONS} --save {folder}/two.npz"
done = start([*torchrun, "sh", "-c", script])
assert done.returncode == 0, done.stderr
done = start(["mpirun", "-n", "2", f"{folder}/step", *OPTIONS.split(), "--save", f"{folder}/mpi.npz"])
assert done.returncode == 0, done.stderr
assert read("one") == read("two") == read("mpi")

# Both ranks name the option that differs.
done = start([*torchrun, "sh", "-c", f'{folder}/step {OPTIONS} --seed=$RANK; code=$?; sleep 2; exit $code'])
found = re.findall(r"'--seed' is 1 on rank 1 of 2, but 0 on rank 0; expected the same program and options on all ranks", done.stderr)
assert done.returncode != 0 and len(found) == 2, done.stderr

# Nothing listens at the port after that of the store.
done = start([*torchrun, "sh", "-c", f"{folder}/step {OPTIONS} --deadline 2 --rendezvous=torch://$MASTER_ADDR:$((MASTER_PORT + 1))"])
assert done.returncode != 0 and re.search(r"rank \d of 2: the store of torchrun does not answer at 'torch://\w+:\d+'", done.stderr), done.stderr
