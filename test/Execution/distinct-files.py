# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# No output takes the place of an input or of another output, however the paths
# are spelled, and this is found before anything is trained.
#
# RUN: rm -rf %t && mkdir -p %t/inner
# RUN: %python %s %t

import os
import shutil
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "Inputs"))
import numpy as np
from runner import MODEL, fails, load, make_data, ok

folder = sys.argv[1] + "/"
np.savez(folder + "data.npz", **make_data())
np.savez(folder + "weights.npz", weight=np.zeros((4, 3), np.float32))
shutil.copy(MODEL, folder + "model.mlir")
os.symlink("data.npz", folder + "link.npz")
os.link(folder + "data.npz", folder + "hard.npz")
os.symlink("inner", folder + "other")
data = ("--data", folder + "data.npz", "--batch-size", 10, "--steps", 1)
model = {"model": folder + "model.mlir"}
contents = {name: open(folder + name, "rb").read() for name in ("data.npz", "weights.npz", "model.mlir")}


def refused(message, *options):
    before = set(os.listdir(folder))
    fails(message, *data, *options, **model)
    for name, content in contents.items():
        assert open(folder + name, "rb").read() == content, name
    assert set(os.listdir(folder)) == before, os.listdir(folder)


new = folder + "new.npz"
refused("--predict '" + new + "' would overwrite --save", "--save", new, "--predict", new)
refused("--plot '", "--metrics-json", folder + "inner/m", "--plot", folder + "other/../inner/m")
refused("would overwrite --metrics-csv", "--metrics-csv", folder + "inner/m", "--plot", folder + "other/m")
refused("would overwrite the module", "--metrics-csv", folder + "model.mlir")
for name in ("data.npz", "inner/../data.npz", "link.npz", "hard.npz"):
    refused("would overwrite --data", "--save", folder + name)
refused("would overwrite --init", "--init", folder + "weights.npz", "--save", folder + "weights.npz")
ok(*data, "--save", folder + "state.npz", **model)
contents["state.npz"] = open(folder + "state.npz", "rb").read()
refused("would overwrite --load", "--load", folder + "state.npz", "--predict", folder + "state.npz")

# A run may go on in its own file, and different files of one name are two.
ok(*data, "--load", folder + "state.npz", "--save", folder + "state.npz", **model)
assert load(folder + "state.npz")["__amp_progress__"][1] == 2
ok(*data, "--save", folder + "same.npz", "--predict", folder + "inner/same.npz", **model)
