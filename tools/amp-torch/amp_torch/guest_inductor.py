#===- guest_inductor.py - The rewritten graph in Inductor ----------------===//
#
# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
#===----------------------------------------------------------------------===//
"""Inductor traces without its decompositions, so that the passes see whole
operations; each half of the partitioned graph is decomposed before it is compiled."""

from torch._guards import detect_fake_mode
from torch._inductor import config
from torch._inductor.compile_fx import compile_fx, compile_fx_inner
from torch._inductor.custom_graph_pass import CustomGraphPass
from torch._inductor.decomposition import select_decomp_table
from torch.fx.experimental.proxy_tensor import make_fx


class JointPass(CustomGraphPass):
    """The rewrite, as Inductor runs it on a joint graph or on one of inference."""

    def __init__(self, backend):
        self.backend = backend
        self.key = backend.key()

    def __call__(self, graph):
        self.backend.rewrite(graph.owning_module)

    def uuid(self):
        return self.key


def decompose_and_compile(graph_module, example_inputs, **settings):
    """Decomposes a half as Inductor does when it traces, and compiles it."""
    inputs = [
        node.meta["val"] for node in graph_module.graph.nodes if node.op == "placeholder"
    ]
    # Decompositions make small constants, which are not fake tensors.
    mode = detect_fake_mode(inputs)
    before, mode.allow_non_fake_inputs = mode.allow_non_fake_inputs, True
    try:
        decomposed = make_fx(
            graph_module, decomposition_table=select_decomp_table(), _allow_non_fake_inputs=True
        )(*inputs)
    finally:
        mode.allow_non_fake_inputs = before
    decomposed.meta.update(graph_module.meta)
    return compile_fx_inner(decomposed, example_inputs, **settings)


def compile_with_inductor(backend, graph_module, example_inputs):
    patches = {"joint_custom_pre_pass": JointPass(backend)}
    with config.patch(patches):
        return compile_fx(
            graph_module,
            example_inputs,
            inner_compile=decompose_and_compile,
            decompositions={},
        )
