# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The C interface of compiled steps, and steps whose calls assert."""

import ctypes as c
import os
import sys

import numpy as np

# The package itself needs torch, this module of it does not.
sys.path.append(os.path.join(os.path.dirname(__file__), "../../../tools/amp-torch/amp_torch"))
from step_interface import *  # noqa: E402, F401, F403
from step_interface import BATCHES, COPY_STREAM, DEVICE, HOST, METRICS, NAMES, OK, STATES, TYPES, Batch, Options, Tensor, shape_of


class Step:
    """An instance of a program. Calls assert that there is no error."""

    def __init__(self, program, handle=None, **options):
        self.program, self.handle = program, handle
        if handle is None:
            self.handle = c.c_void_p()
            self.options = Options(size=c.sizeof(Options), **options)
            self.check(program.create(c.byref(program), c.byref(self.options), c.byref(self.handle)))

    def check(self, code):
        assert code == OK, (code, self.program.last_error())

    def call(self, name, *arguments):
        self.check(getattr(self.program, name)(self.handle, *arguments))

    def fails(self, code, text, name, *arguments):
        """A call that is an error with this code and message."""
        got = getattr(self.program, name)(self.handle, *arguments)
        message = self.program.last_error().decode()
        assert got == code and text in message, (name, got, message)

    def tensors(self, kind):
        """The tensors of a list, by name and with their index."""
        count = c.c_int32()
        found = {}
        index = 0
        while True:
            tensor = Tensor(size=c.sizeof(Tensor))
            if self.program.get_tensor(self.handle, kind, index, c.byref(tensor)) != OK:
                return found
            found[tensor.name.decode()] = (index, tensor)
            index += 1

    def read(self, kind, name, shape=None):
        index, tensor = self.tensors(kind)[name]
        array = np.zeros(shape or shape_of(tensor), NAMES[tensor.type])
        self.call("read", kind, index, array.ctypes.data, array.nbytes)
        return array

    def states(self):
        return {name: self.read(STATES, name) for name in self.tensors(STATES)}

    def metrics(self):
        names = list(self.tensors(METRICS))
        values = (c.c_double * len(names))()
        self.call("read_metrics", values, len(names))
        return dict(zip(names, values))

    def batch(self, name, array, slot=0, pointer=None, stream=None, **changes):
        """The description of a batch, and what keeps it alive."""
        index = self.tensors(BATCHES)[name][0] if isinstance(name, str) else name
        shape = (c.c_int64 * array.ndim)(*array.shape)
        batch = Batch(size=c.sizeof(Batch), slot=slot, index=index, memory=HOST if pointer is None else DEVICE,
                      type=TYPES[str(array.dtype)], rank=array.ndim, shape=shape,
                      data=array.ctypes.data if pointer is None else pointer,
                      flags=COPY_STREAM if stream is not None else 0, stream=stream or None)
        for key, value in changes.items():
            setattr(batch, key, value)
        return batch, (shape, array)

    def set_batch(self, *arguments, **options):
        batch, alive = self.batch(*arguments, **options)
        self.call("set_batch", c.byref(batch))
        return alive

    def forward(self):
        handle = c.c_void_p()
        self.call("create_forward", c.byref(handle))
        return Step(self.program, handle)

    def destroy(self):
        self.program.destroy(self.handle)
        self.handle = None
