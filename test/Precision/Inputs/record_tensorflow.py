# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What TensorFlow's auto_mixed_precision makes of the graphs in
grappler_graphs.py, as JSON on standard output.

Usage: record_tensorflow.py <output.json>

Two modes of the pass are recorded:
  f16   the CUDA mode, on a GPU that the pass simulates; which operations can be
        f16 depends on the kernels of the build, so that it takes the package
        `tensorflow` (with CUDA kernels; no GPU is needed) and not
        `tensorflow-cpu`, with which it is left out;
  bf16  the oneDNN mode, on the CPU, with either package.
For each graph: which nodes become low, and how many casts the pass inserts. For
each mode: the four lists of the pass.
"""

import json
import os
import sys
import tempfile

os.environ["TF_AUTO_MIXED_PRECISION_GRAPH_REWRITE_SIMULATE_GPU"] = "1"
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
LOG = tempfile.mkdtemp()
os.environ["TF_AUTO_MIXED_PRECISION_GRAPH_REWRITE_LOG_PATH"] = LOG

import tensorflow as tf
from tensorflow.core.protobuf import config_pb2, rewriter_config_pb2
from tensorflow.python.grappler import tf_optimizer

from grappler_graphs import GRAPHS

tf1 = tf.compat.v1
tf1.disable_eager_execution()
tf1.disable_control_flow_v2()

MODES = {
    "f16": ("auto_mixed_precision", "/device:GPU:0", tf.float16),
    "bf16": ("auto_mixed_precision_onednn_bfloat16", "/device:CPU:0", tf.bfloat16),
}
# The names of operation inputs that are not x and y.
INPUTS = {"MatMul": ("a", "b"), "SelectV2": ("condition", "t", "e"),
               "Softmax": ("logits",), "Softplus": ("features",),
               "Relu": ("features",), "ArgMax": ("input",), "Sum": ("input",),
               "Mean": ("input",), "Max": ("input",)}


def emit(nodes, values):
    for name, op, inputs, attributes in nodes:
        operands = [values[i] for i in inputs]
        if op == "Loop":
            values[name] = emit_loop(name, operands[0], attributes, values)
        elif op == "Const":
            values[name] = tf.constant(attributes["value"], tf.float32, [4, 4], name=name)
        elif op == "Cast":
            values[name] = tf.raw_ops.Cast(x=operands[0], DstT=tf.float32, name=name)
        else:
            keys = INPUTS.get(op, ("x", "y")[: len(operands)])
            values[name] = getattr(tf.raw_ops, op)(
                **dict(zip(keys, operands)), **attributes, name=name)


def emit_loop(name, initial, attributes, values):
    def body(i, carried):
        inner = {**values, "carried": carried}
        emit(attributes["body"], inner)
        return i + 1, inner[attributes["yields"]]

    return tf1.while_loop(lambda i, _: i < 3, body, [tf.constant(0), initial], name=name)[1]


def optimize(graph, mode):
    optimizer, device, low = MODES[mode]
    nodes, outputs = graph
    with tf.Graph().as_default() as g, tf.device(device):
        values = {n: tf1.placeholder(tf.float32, [4, 4], name=n) for n in "xywvc"}
        values["i"] = tf1.placeholder(tf.int32, [4, 4], name="i")
        values["h"] = tf1.placeholder(low, [4, 4], name="h")
        emit(nodes, values)
        for position, output in enumerate(outputs):
            fetch = tf.identity(values[output], name=f"output{position}")
            g.get_collection_ref("train_op").append(fetch)
    config = config_pb2.ConfigProto()
    options = config.graph_options.rewrite_options
    options.min_graph_nodes = -1
    options.meta_optimizer_iterations = rewriter_config_pb2.RewriterConfig.ONE
    options.fail_on_optimizer_errors = True
    options.optimizers.append(optimizer)
    return tf_optimizer.OptimizeGraph(config, tf1.train.export_meta_graph(graph=g)), low


def names_of(nodes):
    for name, op, _, attributes in nodes:
        if op == "Loop":
            for inner, _ in names_of(attributes["body"]):
                yield inner, f"{name}/{inner}"
        elif op != "Const":
            yield name, name


def record(graph, mode):
    after, low = optimize(graph, mode)
    nodes = {node.name: node for node in after.node}
    result = {}
    for name, path in names_of(graph[0]):
        node = nodes[path]
        kind = node.attr["DstT" if node.op == "Cast" else "T"].type
        result[name] = kind == low.as_datatype_enum
    casts = [node for node in after.node if "AutoMixedPrecision" in node.name]
    assert all(node.op == "Cast" for node in casts)
    return {"low": sorted(n for n, is_low in result.items() if is_low),
            "f32": sorted(n for n, is_low in result.items() if not is_low),
            "casts": len(casts)}


def read_lists():
    """The lists that the pass wrote last."""
    files = [os.path.join(LOG, f) for f in os.listdir(LOG) if f.startswith("paintbuckets")]
    lists, current = {}, None
    for line in open(max(files, key=os.path.getmtime)):
        line = line.strip()
        if line.endswith("List:"):
            current = lists.setdefault(line[:-5].lower(), [])
        elif line:
            current.append(line)
    return {key: sorted(entries) for key, entries in lists.items()}


def main():
    modes = {}
    for mode in MODES:
        if mode == "f16" and not tf.test.is_built_with_cuda():
            continue
        results = {name: record(graph, mode) for name, graph in GRAPHS.items()}
        modes[mode] = {"graphs": results, "lists": read_lists()}
    with open(sys.argv[1], "w") as file:
        json.dump({"tensorflow": tf.__version__, "modes": modes}, file, indent=1)
        file.write("\n")


main()
