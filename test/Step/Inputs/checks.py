# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What every program owes its caller, by the interface in ctypes. `device` is how
memory and streams of the backend are made."""

import ctypes as c
import os
import subprocess

import numpy as np
import steps
from steps import Step

rng = np.random.default_rng(7)
BATCHES = [(rng.standard_normal((8, 4)).astype(np.float32), rng.integers(0, 3, 8).astype(np.int32)) for _ in range(6)]


class Host:
    """The memory and streams of a step of the CPU."""

    streams = False

    def __init__(self):
        self.alive = {}

    def allocate(self, bytes):
        array = np.full(bytes + 256, 0xFF, np.uint8)
        address = (array.ctypes.data + 255) // 256 * 256
        self.alive[address] = array
        return address

    def free(self, address):
        del self.alive[address]

    def put(self, array):
        address = self.allocate(array.nbytes)
        c.memmove(address, array.ctypes.data, array.nbytes)
        return address

    def fetch(self, address, shape, dtype):
        array = np.zeros(shape, dtype)
        c.memmove(array.ctypes.data, address, array.nbytes)
        return array

    def poke(self, address, array):
        c.memmove(address, array.ctypes.data, array.nbytes)


class Emulator(Host):
    """Those of the CUDA library that the program was linked with."""

    streams = True

    def __init__(self, library):
        self.library = library
        for name in ("cudaMalloc", "cudaFree", "cudaMemcpyAsync", "cudaStreamCreateWithFlags", "cudaStreamSynchronize",
                     "cudaStreamDestroy", "cudaDeviceSynchronize"):
            setattr(self, name, self.find(name))

    def find(self, name):
        function = getattr(self.library, name)

        def call(*arguments):
            code = function(*arguments)
            assert code == 0, (name, code)

        return call

    def allocate(self, bytes):
        address = c.c_void_p()
        self.cudaMalloc(c.byref(address), c.c_size_t(bytes))
        return address.value

    def free(self, address):
        self.cudaFree(c.c_void_p(address))

    def copy(self, to, start, bytes, kind, stream=None):
        self.cudaMemcpyAsync(c.c_void_p(to), c.c_void_p(start), c.c_size_t(bytes), c.c_int(kind), c.c_void_p(stream))

    def put(self, array):
        address = self.allocate(array.nbytes)
        self.poke(address, array)
        return address

    def poke(self, address, array):
        self.copy(address, array.ctypes.data, array.nbytes, 1)
        self.cudaDeviceSynchronize()

    def fetch(self, address, shape, dtype):
        array = np.zeros(shape, dtype)
        self.copy(array.ctypes.data, address, array.nbytes, 2)
        self.cudaDeviceSynchronize()
        return array

    def stream(self):
        made = c.c_void_p()
        self.cudaStreamCreateWithFlags(c.byref(made), c.c_uint(1))
        return made.value


def same(one, other):
    return one.keys() == other.keys() and all((one[name] == other[name]).all() for name in one)


def train(step, count=6, slots=1, send=None):
    """Runs a step on each batch. `send` puts a batch into a slot."""
    send = send or (lambda number, name, array, slot: step.set_batch(name, array, slot=slot))
    losses = []
    for number in range(count):
        x, y = BATCHES[number % len(BATCHES)]
        slot = number % slots
        alive = [send(number, name, array, slot) for name, array in (("x", x), ("y", y))]
        step.call("run", slot, 1)
        losses.append(step.metrics()["loss"] if slots == 1 else None)
        del alive
    step.call("synchronize")
    return losses


def check_lists(program):
    step = Step(program)
    described = steps.Tensor(size=c.sizeof(steps.Tensor))
    for kind, expected in ((steps.HYPERPARAMETERS, ["lr"]), (steps.BATCHES, ["x", "y"])):
        count = c.c_int32()
        assert program.count_tensors(c.byref(program), kind, c.byref(count)) == 0 and count.value == len(expected)
        assert list(step.tensors(kind)) == expected
    for kind in (steps.STATES, steps.METRICS, steps.BATCHES):
        for name, (index, tensor) in step.tensors(kind).items():
            assert program.describe_tensor(c.byref(program), kind, index, c.byref(described)) == 0
            assert described.name.decode() == name and described.data is None
            assert (tensor.data is None) == (kind == steps.BATCHES), name
    states = step.tensors(steps.STATES)
    weight = states["weight"][1]
    assert steps.shape_of(weight) == (4, 3) and weight.role == 0 and weight.bytes == 48 and weight.type == 9
    assert "loss" in step.tensors(steps.METRICS)
    y = step.tensors(steps.BATCHES)["y"][1]
    assert y.classes == 3 and y.role == 5 and y.type == 3
    memory = c.c_int64()
    step.call("get_memory", c.byref(memory))
    assert memory.value >= sum(tensor.bytes for _, tensor in states.values())
    step.destroy()
    print("lists")


def check_training(program, device):
    step = Step(program, seed=3)
    losses = train(step)
    assert losses[-1] == losses[-1] and len(set(losses)) > 1, losses
    states = step.states()
    count = c.c_int64()
    step.call("get_steps", c.byref(count))
    assert count.value == 6
    # Pointers: their contents, and writes of a caller through them.
    index, weight = step.tensors(steps.STATES)["weight"]
    assert (device.fetch(weight.data, (4, 3), np.float32) == states["weight"]).all()
    loss = step.tensors(steps.METRICS)["loss"][1]
    assert device.fetch(loss.data, (), np.float32) == np.float32(losses[-1])
    changed = (states["weight"] * 2).astype(np.float32)
    device.poke(weight.data, changed)
    assert (step.read(steps.STATES, "weight") == changed).all()
    step.call("write", steps.STATES, index, states["weight"].ctypes.data, 48)
    assert same(step.states(), states)
    assert step.tensors(steps.STATES)["weight"][1].data == weight.data
    # The same seed gives the same states.
    step.call("initialize", 3)
    assert train(step) == losses and same(step.states(), states)
    step.destroy()
    other = Step(program, seed=4)
    train(other)
    assert not same(other.states(), states)
    # All steps at once give the last state of one batch.
    one, all_at_once = Step(program, seed=3), Step(program, seed=3)
    for each in (one, all_at_once):
        each.set_batch("x", BATCHES[0][0])
        each.set_batch("y", BATCHES[0][1])
    for _ in range(4):
        one.call("run", 0, 1)
    all_at_once.call("run", 0, 4)
    assert same(one.states(), all_at_once.states())
    # A learning rate of 0 keeps the weights.
    before = one.read(steps.STATES, "weight")
    one.call("set_hyperparameter", b"lr", 0.0)
    one.call("run", 0, 1)
    assert (one.read(steps.STATES, "weight") == before).all()
    assert one.read(steps.HYPERPARAMETERS, "lr") == 0
    for each in (other, one, all_at_once):
        each.destroy()
    print("training")
    return states


def check_memory(program, device, states):
    """Device pointers, slots, streams and the caller's allocator change nothing."""
    sent = []

    def from_device(step, stream=None):
        def send(number, name, array, slot):
            sent.append(device.put(array))
            return step.set_batch(name, array, slot=slot, pointer=sent[-1], stream=stream)
        return send

    blocks = {}

    def allocate(context, bytes, ordinal, stream):
        assert context == 77 and ordinal == 0
        address = device.allocate(bytes)
        blocks[address] = bytes
        return address

    def deallocate(context, address, bytes, ordinal, stream):
        assert blocks.pop(address) == bytes and context == 77
        device.free(address)

    own = {"allocate": steps.ALLOCATE(allocate), "deallocate": steps.DEALLOCATE(deallocate), "context": 77}
    cases = [({}, False, False), ({"num_slots": 2}, False, False), ({"num_slots": 2}, True, False),
             ({"num_slots": 2, **own}, True, False), ({"flags": steps.NO_GRAPH | steps.POISON}, False, False)]
    if device.streams:
        for options in ({"num_slots": 2}, {"num_slots": 1}):
            for stream in (device.stream(), None):
                given = {"flags": steps.CALLER_STREAM, "stream": stream}
                cases += [({**options, **given}, True, False), ({**options, **given}, True, True),
                          ({**options, **given, **own}, False, True)]
    for options, is_device, copies in cases:
        step = Step(program, seed=3, **options)
        copy_stream = device.stream() if copies else None
        send = from_device(step, copy_stream)
        if not is_device:
            def send(number, name, array, slot):
                return step.set_batch(name, array, slot=slot, stream=copy_stream)
        train(step, slots=options.get("num_slots", 1), send=send)
        assert same(step.states(), states), options
        if "allocate" in options:
            held = c.c_int64()
            step.call("get_memory", c.byref(held))
            assert blocks and sum(blocks.values()) == held.value
            for _, tensor in step.tensors(steps.STATES).values():
                assert any(start <= tensor.data < start + bytes for start, bytes in blocks.items())
        step.destroy()
        assert not blocks
    if device.streams:
        # A batch may be overwritten as soon as its copy is done, and streams change.
        step = Step(program, seed=3, num_slots=2)
        buffers = {name: device.put(array) for name, array in zip("xy", BATCHES[0])}
        first, second = device.stream(), device.stream()
        for number in range(6):
            step.call("set_stream", (first, second, None)[number % 3])
            for name, array in zip("xy", BATCHES[number]):
                device.copy(buffers[name], array.ctypes.data, array.nbytes, 1, first)
                step.set_batch(name, array, slot=number % 2, pointer=buffers[name], stream=first)
            step.call("run", number % 2, 1)
        assert same(step.states(), states)
        step.destroy()
    # Memory that the caller does not have.
    none = {**own, "allocate": steps.ALLOCATE(lambda *_: None)}
    options, handle = steps.Options(size=c.sizeof(steps.Options), **none), c.c_void_p()
    assert program.create(c.byref(program), c.byref(options), c.byref(handle)) == steps.OUT_OF_MEMORY
    assert not handle.value and b"bytes" in program.last_error()
    # States that the caller writes by their pointers.
    step = Step(program, flags=steps.ZERO_STATES)
    assert all((value == 0).all() for value in step.states().values())
    for name, (_, tensor) in step.tensors(steps.STATES).items():
        device.poke(tensor.data, states[name])
    assert same(step.states(), states)
    step.destroy()
    for address in sent:
        device.free(address)
    print("memory")


def check_files(program, folder, states, amp_run):
    step = Step(program, seed=3)
    train(step)
    path = os.path.join(folder, "state.npz").encode()
    step.call("save", path)
    other = Step(program, seed=9)
    other.call("load", path)
    assert same(other.states(), states)
    for name, text in ((b"/nowhere/x.npz", "/nowhere/x.npz"), (os.fsencode(__file__), "not")):
        other.fails(steps.FILE, text, "load", name)
    other.fails(steps.INVALID, "the path is null", "load", None)
    assert same(other.states(), states)
    # amp-run goes on with the state.
    subprocess.run([*amp_run, "--load", path, "--steps", "0", "--save", folder + "/again.npz"], check=True,
                   capture_output=True)
    again = np.load(folder + "/again.npz")
    assert all((again[name] == value).all() for name, value in states.items())
    step.destroy()
    other.destroy()
    print("files")


def check_forward(program):
    assert program.has_forward == 1
    tolerance = 1e-5 if program.precision in (b"", b"f32") else 1e-2
    step = Step(program, seed=3)
    forward = step.forward()
    assert list(forward.tensors(steps.BATCHES)) == ["x"] and not forward.tensors(steps.METRICS)
    x = BATCHES[0][0]

    def predict():
        forward.set_batch("x", x)
        forward.call("run", 0, 1)
        return forward.read(steps.PREDICTIONS, "logits", (8, 3))

    def expect():
        return x @ step.read(steps.STATES, "weight") + step.read(steps.STATES, "bias")

    assert np.allclose(predict(), expect(), atol=tolerance)
    train(step)
    # The CPU shares the states.
    step_before = predict() if program.backend == b"cuda" else None
    forward.call("use_states", step.handle)
    assert np.allclose(predict(), expect(), atol=tolerance)
    if step_before is not None:
        assert not np.allclose(step_before, expect(), atol=2e-2)
    forward.fails(steps.INVALID, "is a forward function", "create_forward", c.byref(c.c_void_p()))
    step.fails(steps.INVALID, "expected a forward function", "use_states", forward.handle)
    forward.destroy()
    step.destroy()
    print("forward")


def check_no_predictions(program):
    """A step without predictions trains the same."""
    whole, part = (Step(program, seed=3, flags=flags) for flags in (0, steps.NO_PREDICTIONS))
    for step in (whole, part):
        train(step)
    assert same(part.states(), whole.states())
    if program.backend == b"cuda":
        held = []
        for step in (whole, part):
            held.append(c.c_int64())
            step.call("get_memory", c.byref(held[-1]))
        assert held[1].value < held[0].value
        for name, (index, tensor) in part.tensors(steps.PREDICTIONS).items():
            assert not tensor.data and whole.tensors(steps.PREDICTIONS)[name][1].data
            place = np.zeros(tensor.bytes, np.uint8)
            part.fails(steps.INVALID, "which the step was created without", "read", steps.PREDICTIONS, index,
                       place.ctypes.data, place.nbytes)
    # Only the last step of a run computes predictions and metrics.
    single, several = (Step(program, seed=3) for _ in range(2))
    for step in (single, several):
        step.call("set_hyperparameter", b"lr", 0.05)
        for name, array in zip("xy", BATCHES[0]):
            step.set_batch(name, array)
    for count in (1, 1, 1, 1, 1):
        single.call("run", 0, count)
    for count in (3, 2):
        several.call("run", 0, count)
    assert same(single.states(), several.states())
    for kind in (steps.METRICS, steps.PREDICTIONS):
        for name, (_, tensor) in single.tensors(kind).items():
            shape = [len(BATCHES[0][0]) if extent < 0 else extent for extent in steps.shape_of(tensor)]
            assert (single.read(kind, name, shape) == several.read(kind, name, shape)).all(), name
    for step in (whole, part, single, several):
        step.destroy()
    print("predictions")


def check_no_addresses(program):
    """A step that gives no addresses of states trains the same."""
    usual, hidden = (Step(program, seed=3, flags=flags) for flags in (0, steps.NO_STATE_ADDRESSES))
    for step in (usual, hidden):
        train(step)
    assert same(hidden.states(), usual.states())
    for name, (_, tensor) in hidden.tensors(steps.STATES).items():
        assert not tensor.data and usual.tensors(steps.STATES)[name][1].data
    assert all(tensor.data for _, tensor in hidden.tensors(steps.METRICS).values())
    for step in (usual, hidden):
        step.destroy()
    print("addresses")


def check_errors(program):
    null = c.POINTER(steps.Program)()
    handle, count = c.c_void_p(), c.c_int32(5)

    def create(text, code=steps.INVALID, size=c.sizeof(steps.Options), **options):
        given = steps.Options(size=size, **options)
        assert program.create(c.byref(program), c.byref(given), c.byref(handle)) == code, program.last_error()
        assert text in program.last_error().decode() and not handle.value, program.last_error()

    assert program.create(null, None, c.byref(handle)) == steps.INVALID
    assert program.create(c.byref(program), None, None) == steps.INVALID
    assert b"place for the result is null" in program.last_error()
    assert program.count_tensors(null, 0, c.byref(count)) == steps.INVALID and count.value == 5
    assert program.count_tensors(c.byref(program), 9, c.byref(count)) == steps.INVALID
    create("the size of amp_step_options is 8, expected at least 144", size=8)
    create("expected 1 or 2", num_slots=3)
    create("expected 1 or 2", num_slots=-1)
    create("unknown flags 0x80000000", steps.UNSUPPORTED, flags=1 << 31)
    create("the program is for 1 rank, but num_ranks is 2", num_ranks=2)
    create("rank 1 of 1, expected 0 to 0", rank=1)
    create("num_ranks is -3, expected at least 0", num_ranks=-3)
    create("a communicator", steps.UNSUPPORTED, communicator=64)
    create("a stream without the flag", stream=64)
    create("expected both or none", allocate=steps.ALLOCATE(lambda *_: None))
    create("reserved", steps.UNSUPPORTED, reserved=(c.c_uint64 * 4)(0, 0, 1))
    create("there is no device 5", steps.NO_DEVICE, device=5)
    create("there is no device -1", steps.NO_DEVICE, device=-1)
    # A structure of a later version: zeros are fine, other members unknown.
    later = (c.c_char * 200)()
    c.c_uint32.from_buffer(later).value = 200
    as_options = c.cast(later, c.POINTER(steps.Options))
    assert program.create(c.byref(program), as_options, c.byref(handle)) == steps.OK
    program.destroy(handle)
    handle.value = None
    later[180] = b"\x01"
    assert program.create(c.byref(program), as_options, c.byref(handle)) == steps.UNSUPPORTED
    assert b"beyond its first 144 bytes" in program.last_error()
    program.destroy(None)
    assert program.run(None, 0, 1) == steps.INVALID and program.get_tensor(None, 0, 0, None) == steps.INVALID

    step = Step(program)
    x, y = BATCHES[0]
    step.fails(steps.INVALID, "'x' has no value: set a batch first", "run", 0, 1)
    step.fails(steps.INVALID, "-5 steps to run", "run", 0, -5)
    step.fails(steps.INVALID, "slot 1 of a step with 1", "run", 1, 1)

    def wrong(text, name, array, code=steps.INVALID, **changes):
        batch, alive = step.batch(name, array, **changes)
        step.fails(code, text, "set_batch", c.byref(batch))

    wrong("expected ", "x", x[:, :3])
    wrong("expected ", "x", x.astype(np.float64))
    wrong("expected ", "x", x[0])
    wrong("expected ", "x", x[:0])
    wrong("tensor 2 of list 2, which has 2", 2, x)
    wrong("slot 1 of a step", "x", x, slot=1)
    wrong("memory 7", "x", x, memory=7)
    wrong("are null", "x", x, data=None)
    wrong("no shape", "x", x, shape=None)
    wrong("type 99", "x", x, type=99)
    wrong("rank -1", "x", x, rank=-1)
    wrong("unknown flags", "x", x, code=steps.UNSUPPORTED, flags=8)
    wrong("the size of amp_step_batch is 4", "x", x, size=4)
    wrong("value 3 at element 2 of 'y' is out of range, expected 0 to 2", "y", np.array([0, 1, 3, 0, 0, 0, 0, 0], np.int32))
    step.fails(steps.INVALID, "the amp_step_batch is null", "set_batch", None)
    step.set_batch("x", x)
    step.fails(steps.INVALID, "'y' has no value: set a batch first", "run", 0, 1)
    step.fails(steps.INVALID, "there is no hyperparameter 'rate'; the step has lr", "set_hyperparameter", b"rate", 1.0)
    step.fails(steps.INVALID, "the name is null", "set_hyperparameter", None, 1.0)
    data = np.zeros(64, np.float32)
    step.fails(steps.INVALID, "4 bytes for ", "read", steps.STATES, 0, data.ctypes.data, 4)
    step.fails(steps.INVALID, "are null", "read", steps.STATES, step.tensors(steps.STATES)["weight"][0], None, 48)
    step.fails(steps.INVALID, "cannot be read", "read", steps.BATCHES, 0, data.ctypes.data, 4)
    step.fails(steps.INVALID, "cannot be written", "write", steps.METRICS, 0, data.ctypes.data, 4)
    step.fails(steps.INVALID, "tensor 99 of list 0", "read", steps.STATES, 99, data.ctypes.data, 4)
    values = (c.c_double * 9)()
    step.fails(steps.INVALID, "metrics asked for", "read_metrics", values, 9)
    step.fails(steps.INVALID, "the amp_step_tensor is null", "get_tensor", 0, 0, None)
    step.fails(steps.INVALID, "expected at least", "get_tensor", 0, 0, c.byref(steps.Tensor(size=4)))
    step.set_batch("y", y)
    step.call("run", 0, 1)
    assert program.last_error() == b""
    step.destroy()
    print("errors")


def check_program(program, device, folder, amp_run):
    assert program.version == steps.VERSION and program.size == c.sizeof(steps.Program)
    check_lists(program)
    states = check_training(program, device)
    check_memory(program, device, states)
    check_files(program, folder, states, amp_run)
    check_forward(program)
    check_no_predictions(program)
    check_no_addresses(program)
    check_errors(program)
    return states
