#===- guest_inductor.py - The rewritten graph in Inductor ----------------===//
#
# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
#===----------------------------------------------------------------------===//
"""Inductor traces without its decompositions, so that the passes see whole
operations; each half of the partitioned graph is decomposed before it is compiled."""

import torch
from torch import fx
from torch._guards import detect_fake_mode
from torch._inductor import config
from torch._inductor.compile_fx import compile_fx, compile_fx_inner
from torch._inductor.custom_graph_pass import CustomGraphPass
from torch._inductor.decomposition import select_decomp_table
from torch._inductor.fx_passes.replace_random import replace_random_passes
from torch.fx.experimental.proxy_tensor import make_fx
from torch.utils import _pytree as pytree


class JointPass(CustomGraphPass):
    """The rewrite, as Inductor runs it on a joint graph or on one of inference."""

    def __init__(self, backend):
        self.backend = backend
        self.key = backend.key()

    def __call__(self, graph):
        # torch 2.9 calls a pass twice.
        module = graph.owning_module
        if not module.meta.get("amp_rewritten"):
            module.meta["amp_rewritten"] = True
            self.backend.rewrite(module)

    def uuid(self):
        return self.key


def dtypes(values):
    return [value.dtype if isinstance(value, torch.Tensor) else None for value in pytree.tree_leaves(values)]


class DeclaredTypes(fx.Interpreter):
    """Runs a graph so that each result has the type that the graph declares. Some decompositions
    round more than their operations: those of norms round f32 statistics to the type of the input.
    The other half of the graph would then read memory of another type."""

    def run_node(self, node):
        results = super().run_node(node)
        declared = node.meta.get("val")
        if node.op != "call_function" or declared is None or dtypes(results) == dtypes(declared):
            return results
        arguments = self.fetch_args_kwargs_from_env(node)
        low = (torch.float16, torch.bfloat16)
        wide = pytree.tree_map(lambda x: x.float() if isinstance(x, torch.Tensor) and x.dtype in low else x, arguments)
        results = node.target(*wide[0], **wide[1])
        return pytree.tree_map(lambda x, y: x.to(y.dtype) if isinstance(x, torch.Tensor) else x, results, declared)


def decompose(graph_module):
    """Decomposes a half as Inductor does when it traces."""
    inputs = [
        node.meta["val"] for node in graph_module.graph.nodes if node.op == "placeholder"
    ]
    # Decompositions make small constants, which are not fake tensors.
    mode = detect_fake_mode(inputs)
    before, mode.allow_non_fake_inputs = mode.allow_non_fake_inputs, True
    try:
        with fx.traceback.preserve_node_meta():
            decomposed = make_fx(
                DeclaredTypes(graph_module).run, decomposition_table=select_decomp_table(), _allow_non_fake_inputs=True
            )(*inputs)
    finally:
        mode.allow_non_fake_inputs = before
    decomposed.meta.update(graph_module.meta)
    return decomposed


def compile_with_inductor(backend, graph_module, example_inputs):
    def compile_half(half, inputs, **settings):
        decomposed = decompose(half)
        # Inductor replaces random operations before it divides a graph. Decompositions make new ones.
        replace_random_passes(decomposed)
        return compile_fx_inner(decomposed, inputs, **settings)

    with config.patch({"joint_custom_pre_pass": JointPass(backend)}):
        return compile_fx(
            graph_module,
            example_inputs,
            inner_compile=compile_half,
            decompositions={},
        )
