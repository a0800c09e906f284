# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A device of amp_torch that runs the steps of a GPU on the CPU implementation of CUDA.
Its memory is tensors of torch for the CPU; batches, streams and order are of CUDA."""

import ctypes as c
import os

from amp_torch import step_interface
from amp_torch.runtime import HostDevice


class EmulatedDevice(HostDevice):
    backend = "cuda"
    memory = step_interface.DEVICE

    def __init__(self, cache):
        super().__init__()
        self.cache = cache
        self.libraries, self.streams, self.used, self.calls = {}, {}, [], []
        # The stream of torch, by number.
        self.number = 0

    def library(self, program):
        """The library of a program, which has its own CUDA."""
        address = c.addressof(program.table)
        for name in sorted(os.listdir(self.cache)):
            if address not in self.libraries and name.endswith(".so"):
                code, table, _, library = step_interface.load(os.path.join(self.cache, name))
                if code == 0 and c.addressof(table) == address:
                    self.libraries[address] = library
        return self.libraries[address]

    def stream(self, program):
        key = c.addressof(program.table), self.number
        if key not in self.streams:
            made = c.c_void_p()
            assert self.library(program).cudaStreamCreateWithFlags(c.byref(made), c.c_uint(1)) == 0
            self.streams[key] = made.value
        self.used.append(key)
        return self.streams[key]

    def calling(self, stream):
        """Waits for the work before a call. Operations of torch for the CPU run at once."""
        (address,) = [address for (address, _), made in self.streams.items() if made == stream]
        assert self.libraries[address].cudaStreamSynchronize(c.c_void_p(stream)) == 0
        self.calls.append((address, stream))
        return super().calling(stream)

    def order(self, instance):
        instance.call("synchronize")

    def place(self, tensor, program):
        """A copy in device memory, which waits in the stream until the step runs."""
        library, address, bytes = self.library(program), c.c_void_p(), tensor.numel() * tensor.element_size()
        assert library.cudaMalloc(c.byref(address), c.c_size_t(bytes)) == 0
        copied = library.cudaMemcpyAsync(address, c.c_void_p(tensor.data_ptr()), c.c_size_t(bytes), c.c_int(1),
                                         c.c_void_p(self.stream(program)))
        assert copied == 0
        return address.value, Allocation(library, address, tensor)


class Allocation:
    """Device memory of a batch. cudaFree waits for all work."""

    def __init__(self, library, address, tensor):
        self.library, self.address, self.tensor = library, address, tensor

    def __del__(self):
        self.library.cudaFree(self.address)


__all__ = ["EmulatedDevice"]
