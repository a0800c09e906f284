# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Numbers that the Python code of a model reads from tensors while its graph is captured.

Export does not know the values of tensors, so it rejects such reads. A number that depends only on
constants, such as the result of a comparison of two masks, can be computed by running the captured
operations on these constants."""

import contextlib

import torch
from torch._subclasses.fake_tensor import unset_fake_temporarily
from torch.fx.experimental import proxy_tensor


class Known:
    """The values of the operations of a graph that depend only on constants. `buffers` are the
    values of placeholders by position, or None."""

    def __init__(self, tracer, buffers):
        self.graph, self.root, self.buffers = tracer.graph, tracer.root, buffers
        self.values, self.seen, self.placeholders = {}, set(), 0
        # The positions of buffers whose numbers Python code may have read.
        self.read = {}

    def value(self, wanted):
        """Returns the value of a node, or None if it depends on parameters or on the batch."""
        with unset_fake_temporarily(), torch.no_grad():
            for node in self.graph.nodes:
                if node not in self.seen:
                    self.seen.add(node)
                    self.add(node)
        self.read.update(dict.fromkeys(self.sources(wanted)))
        return self.values.get(wanted)

    def sources(self, node):
        """Yields the positions of the buffers that a node depends on."""
        waiting, seen = [node], set()
        while waiting:
            node = waiting.pop()
            if node in seen:
                continue
            seen.add(node)
            waiting += node.all_input_nodes
            if node.op == "placeholder" and node in self.values:
                yield node.meta["amp_position"]

    def add(self, node):
        if node.op == "placeholder":
            node.meta["amp_position"] = self.placeholders
            value = self.buffers[self.placeholders] if self.placeholders < len(self.buffers) else None
            self.placeholders += 1
            if value is not None:
                self.values[node] = value.detach().clone()
        elif node.op == "get_attr" and isinstance(getattr(self.root, str(node.target), None), torch.Tensor):
            self.values[node] = getattr(self.root, node.target).detach().clone()
        elif node.op == "call_function":
            self.run(node)

    def run(self, node):
        """Runs an operation on constants. If it may write an unknown value to a constant, forgets the constant."""
        tags = getattr(node.target, "tags", ())
        schema = getattr(node.target, "_schema", None)
        inputs = node.all_input_nodes
        if schema is None or torch.Tag.nondeterministic_seeded in tags or any(source not in self.values for source in inputs):
            if schema is None or schema.is_mutable:
                self.forget(source for source in inputs if source in self.values)
            return
        args, kwargs = torch.fx.node.map_arg((node.args, node.kwargs), lambda source: self.values[source])
        try:
            self.values[node] = node.target(*args, **kwargs)
        except Exception:  # noqa: BLE001 the value stays unknown
            self.forget(inputs)

    def forget(self, nodes):
        """Removes the values of `nodes` and all values that share memory with them."""
        gone = {self.memory(self.values.get(node)) for node in nodes}
        self.values = {node: value for node, value in self.values.items() if self.memory(value) not in gone}

    @staticmethod
    def memory(value):
        return value.untyped_storage().data_ptr() if isinstance(value, torch.Tensor) else id(value)


@contextlib.contextmanager
def known_numbers(buffers, report):
    """Lets Python code read numbers of constants while a graph is captured. `buffers` are the
    values of its placeholders by position, or None. `report` receives the positions of the
    buffers that Python code reads."""
    original, graphs = proxy_tensor.proxy_call, {}

    def proxy_call(mode, function, pre_dispatch, args, kwargs):
        given = []
        if torch.Tag.data_dependent_output in function.tags:
            known = graphs.setdefault(mode.tracer.graph, Known(mode.tracer, buffers))
            for tensor in args:
                proxy = proxy_tensor.get_proxy_slot(tensor, mode.tracer, None) if isinstance(tensor, torch.Tensor) else None
                if proxy is None or proxy.constant is not None:
                    continue
                proxy.constant = known.value(proxy.proxy.node)
                given.append(proxy)
                report.update(known.read)
        try:
            return original(mode, function, pre_dispatch, args, kwargs)
        finally:
            for proxy in given:
                # A later operation may write the tensor.
                proxy.constant = None

    proxy_tensor.proxy_call = proxy_call
    try:
        yield
    finally:
        proxy_tensor.proxy_call = original


__all__ = ["known_numbers"]
