# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The C interface over cuDNN (include/amp/Runtime/CuDNN), without a GPU."""

import ctypes
import os
import re
import sys

OK, INVALID, UNAVAILABLE, UNSUPPORTED, UNKNOWN, FAILED = range(6)
CAPABILITIES = (80, 90, 100)
_TYPES = {"AMP_CUDNN_F32": 0, "AMP_CUDNN_F16": 1, "AMP_CUDNN_BF16": 2, "AMP_CUDNN_NO_BIAS": -1}
KINDS = {f"AMP_CUDNN_CONVOLUTION_{name}": i for i, name in enumerate(("FORWARD", "INPUT_GRAD", "FILTER_GRAD"))}
_POINTERS = ("QUERY", "KEY", "VALUE", "OUTPUT", "LOG_SUM_EXP", "OUTPUT_GRAD", "QUERY_GRAD", "KEY_GRAD", "VALUE_GRAD")


class Attention(ctypes.Structure):
    """amp_cudnn_attention."""

    _fields_ = [(name, ctypes.c_int64) for name in (
        "batch", "heads", "key_heads", "value_heads", "queries", "keys", "head_size", "value_size")] + [
        ("type", ctypes.c_int32), ("backward", ctypes.c_int32), ("scale", ctypes.c_double),
        ("strides", ctypes.c_int64 * 3 * len(_POINTERS)), ("left_bound", ctypes.c_int64),
        ("right_bound", ctypes.c_int64), ("bias_type", ctypes.c_int32), ("bias_batch", ctypes.c_int64),
        ("bias_heads", ctypes.c_int64), ("has_lengths", ctypes.c_int32), ("deterministic", ctypes.c_int32),
        ("dropout", ctypes.c_double), ("has_offsets", ctypes.c_int32), ("positions", ctypes.c_int64)]


class Convolution(ctypes.Structure):
    """amp_cudnn_convolution."""

    _fields_ = [(name, ctypes.c_int64) for name in (
        "batch", "height", "width", "channels", "kernel_height", "kernel_width", "features")] + [
        ("strides", ctypes.c_int64 * 2), ("padding", ctypes.c_int64 * 4), ("dilations", ctypes.c_int64 * 2),
        ("groups", ctypes.c_int64), *((name, ctypes.c_int32) for name in (
            "type", "result_type", "kind", "has_bias", "relu", "deterministic"))]


def run_with_stub(stub, folder):
    """Starts this process again with the stub of a driver, which cuDNN looks for by the name of the driver."""
    if os.environ.get("AMP_CUDNN_STUB"):
        return
    link = os.path.join(folder, "libcuda.so.1")
    if not os.path.exists(link):
        os.symlink(stub, link)
    os.environ["AMP_CUDNN_STUB"] = "1"
    os.environ["LD_LIBRARY_PATH"] = folder + os.pathsep + os.environ.get("LD_LIBRARY_PATH", "")
    os.execv(sys.executable, [sys.executable, *sys.argv])


class Library:
    def __init__(self, path):
        self.library = ctypes.CDLL(path)
        self.library.amp_cudnn_last_error.restype = ctypes.c_char_p
        self.library.amp_cudnn_version.restype = ctypes.c_int64

    def version(self):
        return self.library.amp_cudnn_version()

    def check(self, description, capability):
        """The code and the first line of the message."""
        kind = type(description).__name__.lower()
        code = getattr(self.library, f"amp_cudnn_check_{kind}")(ctypes.byref(description), capability)
        return code, self.library.amp_cudnn_last_error().decode(errors="replace").split("\n")[0]


_FUNCTION = re.compile(r"^int32_t plan_(\w+)\(amp_cudnn_plan \*\*plan\) \{\n  amp_cudnn_(\w+) .*?\n(.*?)^\}", re.M | re.S)


def read_convolutions(source):
    """The convolutions in an emitted source, by the names of their plans."""
    plans = {}
    for name, kind, body in _FUNCTION.findall(source):
        if kind != "convolution":
            continue
        plan = plans[name] = Convolution()
        body = body.replace("c.type = c.result_type =", "c.result_type =")
        for field, place, value in re.findall(r"\bc\.(\w+)(?:\[(\d)\])? = ([-\w]+)", body):
            number = {**_TYPES, **KINDS}[value] if value.startswith("AMP_") else int(value)
            if place:
                getattr(plan, field)[int(place)] = number
            else:
                setattr(plan, field, number)
        plan.type = plan.result_type
    return plans


def read_plans(source):
    """The attentions in an emitted source, by the names of their plans."""
    plans = {}
    for name, kind, body in _FUNCTION.findall(source):
        if kind != "attention":
            continue
        attention = Attention()
        body = body.replace("a.key_heads = a.value_heads =", "a.key_heads =")
        for field, value in re.findall(r"\ba\.(\w+) = ([-\w.+]+)[,;]", body):
            kind = type(getattr(attention, field))
            setattr(attention, field, _TYPES[value] if value in _TYPES else kind(float(value) if kind is float else int(value)))
        attention.value_heads = attention.key_heads
        for pointer, values in re.findall(r"a\.strides\[AMP_CUDNN_(\w+)\] = \{([^}]*)\}", body):
            for i, value in enumerate(values.split(",")):
                attention.strides[_POINTERS.index(pointer)][i] = int(value)
        plans[name] = attention
    return plans
