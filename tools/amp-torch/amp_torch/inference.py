# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A trained model as a forward function with weights in low precision."""

import os
import pathlib
import re
import shutil
import subprocess

from .builder import TORCH_DTYPES, precision_name
from .export import UnsupportedModel, replace, trace
from .runtime import StepError, find_library
from .state_files import write

#: A parameter or statistic in the signature of a forward function: element type and name.
ARGUMENT = re.compile(r'%\w+: tensor<(?:\d+x)*(\w+)> \{[^{}]*?amp\.name = "((?:[^"\\]|\\.)*)", amp\.role = "(\w+)"')


def find_tool(name):
    """The path of a tool, on the PATH or of the build that has the library."""
    found = shutil.which(name)
    if found is None:
        found = str(pathlib.Path(find_library()).parent.parent / "bin" / name)
        if not os.path.exists(found):
            raise StepError(f"{name} was not found; put the folder of the tools on the PATH")
    return found


def export_inference(model, loss_fn, optimizer, batch, out, *, precision="bf16", policy=None, dynamic_batch=None,
                     names=None):
    """Writes the forward function of a trained model for `amp-run --predict`:
    `forward.mlir`, without dropout, labels and optimizer, and `weights.npz`, whose weights
    are cast once to the types that the function reads.

    model, loss_fn, optimizer, batch, dynamic_batch, names
               as for `export`; the model is in training mode, but the function computes
               evaluation mode.
    out        the folder of the two files.
    precision  "f32", "bf16", "fp16", or their types of torch.
    policy     as for `compile`.

    Returns the paths of the two files."""
    traced = trace(model, loss_fn, optimizer, batch, dynamic_batch=dynamic_batch, names=names)
    if "amp.prediction" not in traced.text:
        raise UnsupportedModel([("", "the model's output", "is not one float tensor with a row for each sample")])
    options = f"mode=inference precision={precision_name(precision)}" + (f" policy={policy}" if policy else "")
    run = subprocess.run([find_tool("amp-opt"), "-", f"--amp-training-pipeline={options}"], input=traced.text,
                         capture_output=True, text=True)
    if run.returncode:
        raise StepError(f"the forward function cannot be made: {run.stderr.strip()}")
    types = {name: TORCH_DTYPES[kind] for kind, name, role in ARGUMENT.findall(run.stdout) if role != "batch"}
    weights = {state.name: state.array.to(types[state.name]) for state in traced.states if state.name in types}
    folder = pathlib.Path(out)
    folder.mkdir(parents=True, exist_ok=True)
    replace(folder / "forward.mlir", lambda path: path.write_text(run.stdout))
    write(folder / "weights.npz", weights)
    return folder / "forward.mlir", folder / "weights.npz"


__all__ = ["export_inference"]
