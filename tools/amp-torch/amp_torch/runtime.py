# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Programs and steps of libAMPStep, with tensors of torch over the memory of a step."""

import contextlib
import ctypes
import functools
import os
import pathlib
import weakref

import torch

from . import step_interface as c
from .calls import CallError, Caller

LIBRARY = "libAMPStep.so"


class StepError(RuntimeError):
    """A step that cannot be compiled or run."""


def find_library():
    """The path of libAMPStep.so: AMP_STEP_LIBRARY of the environment, else that of the
    package, of the installation or build of `amp-run`, of the build of this tree, or of the
    installation that this package is in, as share/amp/python/amp_torch."""
    named = os.environ.get("AMP_STEP_LIBRARY")
    if named:
        return named
    here = pathlib.Path(__file__).resolve()
    folders = [here.parent / "lib"]
    for folder in os.environ.get("PATH", "").split(os.pathsep):
        tool = pathlib.Path(folder) / "amp-run"
        if folder and tool.exists():
            folders.append(tool.resolve().parent.parent / "lib")
    if len(here.parents) > 3:
        folders.append(here.parents[3] / "build" / "lib")
        if here.parts[-5:-2] == ("share", "amp", "python"):
            folders.append(here.parents[4] / "lib")
    for folder in folders:
        if (folder / LIBRARY).exists():
            return str(folder / LIBRARY)
    raise StepError(
        f"{LIBRARY} was not found; build the target AMPStep, and put amp-run of that build on the PATH or the "
        "path of the library into AMP_STEP_LIBRARY"
    )


@functools.cache
def load_library():
    path = find_library()
    try:
        return ctypes.CDLL(path)
    except OSError as error:
        raise StepError(f"cannot load the library of compiled steps: {error}") from None


class HostDevice:
    """Where the tensors of a step are: here in host memory."""

    backend = "cpu"
    ordinal = 0
    memory = c.HOST

    def __init__(self):
        self.torch_device = torch.device("cpu")

    def stream(self, program):
        """The stream that torch works on, or None."""
        return None

    def order(self, instance):
        """Makes operations of torch follow the work of a step."""

    def calling(self, stream):
        """A context for operations that a step calls. Their work follows that of `stream`."""
        return contextlib.nullcontext()

    def random_state(self):
        """The states of torch's generators."""
        return [torch.get_rng_state()]

    def set_random_state(self, states):
        torch.set_rng_state(states[0])

    def view(self, address, dtype, shape, owner):
        """A tensor over memory, which keeps `owner` alive."""
        count = 1
        for extent in shape:
            count *= extent
        if not count:
            return torch.empty(shape, dtype=dtype)
        memory = (ctypes.c_uint8 * (count * dtype.itemsize)).from_address(address)
        memory.owner = owner
        return torch.frombuffer(memory, dtype=dtype).view(shape)

    def place(self, tensor, program):
        """The address of the data of a batch, and what keeps it alive."""
        return tensor.data_ptr(), tensor


class CudaMemory:
    """Device memory as torch.as_tensor takes it."""

    def __init__(self, address, bytes, stream, owner):
        self.owner = owner
        self.__cuda_array_interface__ = {
            "shape": (bytes,), "typestr": "|u1", "data": (address, False), "version": 3, "stream": stream or 1
        }


class CudaDevice(HostDevice):
    """A GPU. Steps work on the current stream of torch."""

    backend = "cuda"
    memory = c.DEVICE

    def __init__(self, device):
        index = device.index if device.index is not None else torch.cuda.current_device()
        self.torch_device = torch.device("cuda", index)
        self.ordinal = index

    def stream(self, program=None):
        return torch.cuda.current_stream(self.torch_device).cuda_stream

    def calling(self, stream):
        # The step already runs on the current stream of torch.
        return torch.cuda.device(self.torch_device)

    def random_state(self):
        return [*super().random_state(), torch.cuda.get_rng_state(self.torch_device)]

    def set_random_state(self, states):
        super().set_random_state(states)
        torch.cuda.set_rng_state(states[1], self.torch_device)

    def view(self, address, dtype, shape, owner):
        count = 1
        for extent in shape:
            count *= extent
        if not count:
            return torch.empty(shape, dtype=dtype, device=self.torch_device)
        memory = CudaMemory(address, count * dtype.itemsize, self.stream(), owner)
        return torch.as_tensor(memory, device=self.torch_device).view(dtype).view(shape)


class Program:
    """A compiled module. `options` are options of amp_step_compile_options."""

    def __init__(self, text, **options):
        options = {name: value for name, value in options.items() if value}
        code, self.table, message = c.compile_module(load_library(), text, **options)
        if code != c.OK:
            raise StepError(f"the step cannot be compiled: {message}")
        # Handles refer to the program, so it is freed after them. The process may end
        # with handles that are alive.
        weakref.finalize(self, self.table.release, ctypes.byref(self.table)).atexit = False

    def check(self, code):
        if code != c.OK:
            raise StepError(self.table.last_error().decode())

    def describe(self, kind):
        """The tensors of a list, as (name, dtype, shape)."""
        count = ctypes.c_int32()
        self.check(self.table.count_tensors(ctypes.byref(self.table), kind, ctypes.byref(count)))
        found = []
        for index in range(count.value):
            tensor = c.Tensor(size=ctypes.sizeof(c.Tensor))
            self.check(self.table.describe_tensor(ctypes.byref(self.table), kind, index, ctypes.byref(tensor)))
            found.append((tensor.name.decode(), getattr(torch, c.NAMES[tensor.type]), c.shape_of(tensor)))
        return found


def note_numbers(text, **options):
    """Notes the numbers of the kernels of a module in the cache, with the options of a Program."""
    code, _, message = c.compile_module(load_library(), text, **{name: value for name, value in options.items() if value})
    if code != c.OK:
        raise StepError(f"the step cannot be translated: {message}")


class Handle:
    """A step of the C interface, which is destroyed with the last tensor over it."""

    def __init__(self, program, **options):
        self.program = program
        self.value = ctypes.c_void_p()
        settings = c.Options(size=ctypes.sizeof(c.Options), **options)
        program.check(program.table.create(ctypes.byref(program.table), ctypes.byref(settings), ctypes.byref(self.value)))

    def __del__(self):
        if self.value:
            self.program.table.destroy(self.value)
            self.value = None


class Instance:
    """A step of a program on a device, with its state as tensors."""

    def __init__(self, program, device, seed, calls=None, ranks=None, is_framed=False):
        self.program, self.device, self.ranks = program, device, ranks
        # The additional leading extents of the tensors of a batch in the program.
        self.frame = (1,) * is_framed
        self.caller = Caller(calls or {}, device)
        options = {"seed": seed, "device": device.ordinal, **self.caller.options()}
        if ranks is not None:
            options.update(rank=ranks.rank, num_ranks=ranks.size, exchange=ctypes.pointer(ranks.functions))
        self.current_stream = device.stream(program)
        if self.current_stream is not None:
            options.update(flags=c.CALLER_STREAM, stream=self.current_stream)
        self.handle = Handle(program, **options)
        # The states that the ranks divide have no memory of their shape.
        self.parts = {}
        self.states = self.tensors(c.STATES)
        self.metrics = self.tensors(c.METRICS)
        # Bytes are unsigned in torch and have no sign in the program.
        self.batches = [(name, torch.uint8 if dtype == torch.int8 else dtype, shape[len(self.frame):])
                        for name, dtype, shape in program.describe(c.BATCHES)]
        self.rates = {}

    def call(self, name, *arguments):
        code = getattr(self.program.table, name)(self.handle.value, *arguments)
        try:
            self.program.check(code)
        except StepError as error:
            if self.ranks is None or self.ranks.error is None:
                raise
            raise StepError(f"{error}{self.ranks.explain()}") from None

    def tensors(self, kind):
        """The tensors of a list by name."""
        found = {}
        for index, (name, dtype, shape) in enumerate(self.program.describe(kind)):
            tensor = c.Tensor(size=ctypes.sizeof(c.Tensor))
            self.call("get_tensor", kind, index, ctypes.byref(tensor))
            if kind == c.STATES and not tensor.data and self.ranks is not None:
                self.parts[name] = index, dtype, shape
                continue
            found[name] = self.device.view(tensor.data, dtype, shape, self.handle)
        return found

    def follow(self):
        """Moves the step to the stream that torch works on."""
        stream = self.device.stream(self.program)
        if stream != self.current_stream:
            self.call("set_stream", stream)
            self.current_stream = stream

    def run(self, tensors, rates):
        """Runs a step on a batch, with hyperparameters by name."""
        self.follow()
        alive = []
        for index, tensor in enumerate(tensors):
            tensor = tensor.detach().contiguous()
            tensor = tensor.view(torch.int8) if tensor.dtype == torch.uint8 else tensor
            address, kept = self.device.place(tensor, self.program)
            extents = (*self.frame, *tensor.shape)
            shape = (ctypes.c_int64 * len(extents))(*extents)
            batch = c.Batch(size=ctypes.sizeof(c.Batch), index=index, memory=self.device.memory,
                            type=c.TYPES[str(tensor.dtype).removeprefix("torch.")], rank=len(extents), shape=shape,
                            data=address)
            self.call("set_batch", ctypes.byref(batch))
            alive.append((kept, shape))
        for name, rate in rates.items():
            if self.rates.get(name) != rate:
                self.call("set_hyperparameter", name.encode(), rate)
                self.rates[name] = rate
        try:
            self.call("run", 0, 1)
        except StepError:
            error = self.caller.take_error()
            if isinstance(error, CallError):
                raise StepError(str(error)) from None
            if error is not None:
                raise error from None
            raise
        self.device.order(self)

    def report_watched(self, form, title):
        """Returns the report of watched values as text."""
        text = ctypes.c_char_p()
        self.call("report_watched", form, title.encode(), ctypes.byref(text))
        return text.value.decode()

    def copy_states(self, other):
        """Takes the states of another instance."""
        other.device.order(other)
        for name, tensor in self.states.items():
            tensor.copy_(other.states[name])
        if self.parts:
            for name, whole in other.gather_parts().items():
                self.ranks.broadcast([whole])
                self.write_part(name, whole)

    def gather_parts(self):
        """The states that the ranks divide, by name. All ranks call this. Only rank 0 gets the values."""
        self.call("gather_states")
        found = {}
        for name, (index, dtype, shape) in self.parts.items():
            found[name] = torch.empty(shape, dtype=dtype)
            if self.ranks.rank == 0:
                self.call("read", c.STATES, index, found[name].data_ptr(), found[name].nbytes)
        return found

    def write_part(self, name, whole):
        """Takes the part of this rank from the whole value of a state that the ranks divide."""
        whole = whole.detach().cpu().contiguous()
        self.call("write", c.STATES, self.parts[name][0], whole.data_ptr(), whole.nbytes)
