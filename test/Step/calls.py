# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# A step calls operations of this program, through the C interface: on the CPU and as a program
# for a GPU, on the CPU implementation of CUDA, with and without graphs. On the CPU, the states are
# equal bit for bit to those of the same step with the operation as a part of the graph. Those of
# CUDA agree with them to 1e-6. A call that fails leaves the
# parameters unchanged, and the step goes on after it. A step without a caller is an error.
#
# UNSUPPORTED: sanitizer
# RUN: rm -rf %t && mkdir %t
# RUN: %python %s %t '%cuda_host_cxx' '%cuda_host_lib' %amp_src_root %amp_obj_root
"""Usage: calls.py <folder> <compiler> <library> <root of the source tree> <root of the build>"""

import ctypes as c
import os
import shlex
import sys

here = os.path.dirname(__file__)
sys.path[:0] = [os.path.join(here, "Inputs"), os.path.join(here, "../Target/CUDA/Inputs")]
import numpy as np
import steps
from program import run
from steps import Step

folder, compiler, library, root, build = sys.argv[1:6]

SIGNATURE = """func.func @step(%w: tensor<4x3xf32> {{amp.role = "parameter", amp.name = "w", amp.init = #amp.init<xavier_uniform>}},
    %b: tensor<3xf32> {{amp.role = "parameter", amp.name = "b", amp.init = #amp.init<zeros>}},
    %x: tensor<?x4xf32> {{amp.role = "batch", amp.name = "x"}}, %y: tensor<?x3xf32> {{amp.role = "batch", amp.name = "y"}},
    %lr: tensor<f32> {{amp.role = "hyperparameter", amp.name = "lr", amp.init = #amp.init<constant, value = 0.125>}})
    -> (tensor<4x3xf32> {{amp.updates = "w"}}, tensor<3xf32> {{amp.updates = "b"}}, tensor<f32> {{amp.metric = "loss"}}) {{
  %h = train.linear %x, %w, %b : (tensor<?x4xf32>, tensor<4x3xf32>, tensor<3xf32>) -> tensor<?x3xf32>
  {operation}
  %e = train.sub %a, %y : (tensor<?x3xf32>, tensor<?x3xf32>) -> tensor<?x3xf32>
  %s = train.square %e : tensor<?x3xf32>
  %l = train.reduce_mean %s {{dims = array<i64: 0, 1>}} : (tensor<?x3xf32>) -> tensor<f32>
  %d:2 = train.gradients %l wrt(%w, %b) : (tensor<f32>, tensor<4x3xf32>, tensor<3xf32>) -> (tensor<4x3xf32>, tensor<3xf32>)
  %uw = train.mul %lr, %d#0 : (tensor<f32>, tensor<4x3xf32>) -> tensor<4x3xf32>
  %ub = train.mul %lr, %d#1 : (tensor<f32>, tensor<3xf32>) -> tensor<3xf32>
  %nw = train.sub %w, %uw : (tensor<4x3xf32>, tensor<4x3xf32>) -> tensor<4x3xf32>
  %nb = train.sub %b, %ub : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  return %nw, %nb, %l : tensor<4x3xf32>, tensor<3xf32>, tensor<f32>
}}
"""
# The operation squares its operand, which is exact in both forms.
CALLED = SIGNATURE.format(operation='%a = amp.call "test::square"(%h) {differentiable, extent_of = array<i64: 0, 0>} '
                                    ': (tensor<?x3xf32>) -> tensor<?x3xf32>')
INLINE = SIGNATURE.format(operation="%a = train.square %h : tensor<?x3xf32>")
rng = np.random.default_rng(0)
BATCHES = [(rng.standard_normal((8, 4)).astype(np.float32), rng.standard_normal((8, 3)).astype(np.float32)) for _ in range(5)]


class Caller:
    """The operation in numpy. `wait(stream)` waits for the work of the step. From run `last` on, it fails."""

    def __init__(self, wait, last=None):
        self.wait, self.last, self.seen = wait, last, []
        self.function = steps.CALL(self.call)
        self.options = steps.Caller(None, self.function)

    def call(self, _, pointer):
        call = pointer.contents
        self.wait(call.stream)
        arrays = [self.array(call.operands[i]) for i in range(call.num_operands)]
        (result,) = [self.array(call.results[i]) for i in range(call.num_results)]
        self.seen.append((call.name, call.num_seeds, [array.shape for array in arrays]))
        if self.last is not None and len(self.seen) > self.last:
            return 7
        if call.num_seeds:
            assert call.seeds[0] == 0 and call.wrt[0] == 0
            result[...] = arrays[1] * (np.float32(2) * arrays[0])
        else:
            result[...] = arrays[0] * arrays[0]
        return 0

    @staticmethod
    def array(tensor):
        shape = steps.shape_of(tensor)
        assert tensor.role == -1 and not tensor.name and tensor.bytes == 4 * np.prod(shape)
        return np.ctypeslib.as_array(c.cast(tensor.data, c.POINTER(c.c_float)), shape)


def train(step, batches):
    """Trains, and returns the states and the losses."""
    losses = []
    for x, y in batches:
        step.set_batch("x", x)
        step.set_batch("y", y)
        step.call("run", 0, 1)
        losses.append(step.metrics()["loss"])
    return states(step), losses


def states(step):
    return {name: value.tobytes() for name, value in step.states().items()}


def distance(found, expected):
    """The largest difference of states and losses."""
    numbers = [[np.frombuffer(text, np.float32) for text in result[0].values()] + [result[1]] for result in (found, expected)]
    assert found[0].keys() == expected[0].keys()
    return max(np.abs(np.subtract(mine, other)).max() for mine, other in zip(*numbers))


def check(program, inline, wait, tolerance):
    reference = train(Step(inline, seed=1), BATCHES)
    expected = None
    gradient = (b"test::square", 1, [(8, 3), (8, 3)])
    for flags in (0, steps.NO_GRAPH):
        caller = Caller(wait)
        step = Step(program, seed=1, caller=caller.options, flags=flags)
        found = train(step, BATCHES)
        assert distance(found, reference) <= tolerance, (found, reference)
        expected = expected or found
        assert found == expected, "graphs change the results"
        assert caller.seen == [(b"test::square", 0, [(8, 3)]), gradient] * len(BATCHES), caller.seen
    # A call fails in the forward and in the backward pass, before and after a graph was captured.
    for last in (0, 1, 6, 7):
        caller = Caller(wait, last)
        step = Step(program, seed=1, caller=caller.options)
        done = last // 2
        before = train(step, BATCHES[:done])[0]
        step.set_batch("x", BATCHES[done][0])
        step.set_batch("y", BATCHES[done][1])
        step.fails(steps.INVALID, "the caller's operation 'test::square' failed with error 7", "run", 0, 1)
        assert states(step) == before, last
        caller.last = None
        assert train(step, BATCHES[done:])[0] == expected[0], "the step did not go on"
    # No caller.
    handle = c.c_void_p()
    assert program.create(c.byref(program), None, c.byref(handle)) == steps.INVALID
    message = program.last_error().decode()
    assert "the step calls the operation 'test::square' of the program that runs it, but there is no caller" in message, message


def compile_cpu(text):
    code, program, message = steps.compile_module(step_library, text, threads=1)
    assert code == steps.OK, message
    return program


def compile_cuda(name, text):
    """Emits, compiles and loads a program."""
    graph, source, shared = (f"{folder}/{name}.{kind}" for kind in ("mlir", "cu", "so"))
    with open(graph, "w") as file:
        file.write(text)
    run(["amp-translate", "--mlir-to-cuda", graph, "--batch-size", "8", "-o", source])
    run([*shlex.split(compiler), "-shared", source, *shlex.split(library),
         f"-Wl,--version-script={root}/test/CudaHost/library.exports", "-o", shared])
    code, program, message, loaded = steps.load(shared)
    assert code == steps.OK, message
    return program, loaded


step_library = c.CDLL(build + "/lib/libAMPStep.so")
inline = compile_cpu(INLINE)
check(compile_cpu(CALLED), inline, lambda stream: None, 0)
print("cpu", flush=True)
called, loaded = compile_cuda("called", CALLED)


def synchronize(stream):
    assert stream and loaded.cudaStreamSynchronize(c.c_void_p(stream)) == 0


check(called, inline, synchronize, 1e-6)
print("cuda")
