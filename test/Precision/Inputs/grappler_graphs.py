# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Graphs for the comparison with TensorFlow's auto_mixed_precision pass.

A graph is a list of nodes (name, TensorFlow op, inputs, attributes) in program
order; an input is a node, or an argument: x, y, w, v and c are tensor<4x4xf32>,
i is tensor<4x4xi32>, h is tensor<4x4xLOW>. `outputs` are returned (fetched).
A loop is a node ("name", "Loop", [initial value], {"body": nodes, "yields":
node}): its body reads the carried value as "carried".
"""

REDUCE = {"axis": [1], "keep_dims": True}
TRANSPOSE = {"perm": [1, 0]}


def unary(*chain, start="x"):
    """A chain of operations, named after them with their positions."""
    nodes, last = [], start
    for position, op in enumerate(chain):
        name = f"{op.lower()}{position}"
        inputs = [last, "w"] if op == "MatMul" else [last]
        attributes = {"Sum": REDUCE, "Mean": REDUCE, "Max": REDUCE,
                      "Transpose": TRANSPOSE}.get(op, {})
        nodes.append((name, op, inputs, attributes))
        last = name
    return nodes, [last]


def dag(nodes, outputs):
    return [node if len(node) == 4 else (*node, {}) for node in nodes], outputs


GRAPHS = {
    # Chains: operations between products, before the first and after the last.
    "product": unary("MatMul"),
    "two-products": unary("MatMul", "MatMul"),
    "infer-between": unary("MatMul", "Tanh", "MatMul"),
    "infer-chain-between": unary("MatMul", "Tanh", "Sigmoid", "Softmax", "MatMul"),
    "infer-before": unary("Tanh", "MatMul"),
    "infer-after": unary("MatMul", "Tanh"),
    "infer-chain-after": unary("MatMul", "Tanh", "Sigmoid", "Softplus"),
    "clear-between": unary("MatMul", "Relu", "MatMul"),
    "clear-before": unary("Relu", "Neg", "MatMul"),
    "clear-after": unary("MatMul", "Relu", "Abs", "Neg"),
    "clear-infer-after": unary("MatMul", "Relu", "Tanh", "Relu"),
    "infer-clear-before": unary("Tanh", "Relu", "MatMul"),
    "no-product": unary("Tanh", "Relu", "Exp"),
    # A denied operation taints infer operations, and clear ones that lead to
    # another infer operation.
    "deny-alone": unary("MatMul", "Exp", "MatMul"),
    "deny-infer": unary("MatMul", "Exp", "Tanh", "MatMul"),
    "deny-clear-product": unary("MatMul", "Exp", "Relu", "MatMul"),
    "deny-clear-infer": unary("MatMul", "Exp", "Relu", "Tanh", "MatMul"),
    "deny-clear-infer-clear": unary("MatMul", "Exp", "Relu", "Tanh", "Neg", "MatMul"),
    "deny-clear-tail": unary("MatMul", "Exp", "Relu", "Neg"),
    "deny-infer-tail": unary("MatMul", "Exp", "Sqrt", "Relu"),
    "deny-clear-deny": unary("MatMul", "Exp", "Relu", "Exp", "MatMul"),
    "deny-first": unary("Exp", "Tanh", "MatMul", "Tanh", "MatMul"),
    "reductions": unary("MatMul", "Sum", "Tanh", "Relu"),
    "mean-between": dag([
        ("a", "MatMul", ["x", "w"]),
        ("mean", "Mean", ["a"], REDUCE),
        ("center", "Sub", ["a", "mean"]),
        ("b", "MatMul", ["center", "w"]),
    ], ["b"]),
    "max-between": unary("MatMul", "Max", "Relu", "Neg"),
    # Diamonds and shared operands.
    "residual": dag([
        ("a", "MatMul", ["x", "w"]),
        ("t", "Tanh", ["a"]),
        ("sum", "AddV2", ["a", "t"]),
        ("b", "MatMul", ["sum", "v"]),
    ], ["b"]),
    "diamond-deny": dag([
        ("a", "MatMul", ["x", "w"]),
        ("e", "Exp", ["a"]),
        ("t", "Tanh", ["a"]),
        ("sum", "AddV2", ["e", "t"]),
        ("b", "MatMul", ["sum", "v"]),
    ], ["b"]),
    "diamond-clear": dag([
        ("a", "MatMul", ["x", "w"]),
        ("r", "Relu", ["a"]),
        ("n", "Neg", ["a"]),
        ("m", "Maximum", ["r", "n"]),
        ("e", "Exp", ["m"]),
        ("b", "MatMul", ["m", "v"]),
    ], ["e", "b"]),
    "shared-operand": dag([
        ("a", "MatMul", ["x", "w"]),
        ("b", "MatMul", ["x", "v"]),
        ("e", "Exp", ["x"]),
        ("sum", "AddV2", ["a", "b"]),
    ], ["sum", "e"]),
    "several-readers": dag([
        ("a", "MatMul", ["x", "w"]),
        ("e", "Exp", ["a"]),
        ("l", "Expm1", ["a"]),
        ("t", "Tanh", ["a"]),
        ("b", "MatMul", ["t", "v"]),
        ("c1", "MatMul", ["a", "v"]),
    ], ["e", "l", "b", "c1"]),
    "sideways": dag([
        # Low precision spreads from one operand of an operation to the other.
        ("r", "Relu", ["x"]),
        ("n", "Neg", ["y"]),
        ("m", "Maximum", ["r", "n"]),
        ("a", "MatMul", ["m", "w"]),
        ("q", "Abs", ["n"]),
    ], ["a", "q"]),
    "sideways-back": dag([
        ("n", "Neg", ["y"]),
        ("e", "Exp", ["n"]),
        ("a", "MatMul", ["x", "w"]),
        ("m", "Maximum", ["a", "n"]),
        ("q", "Relu", ["n"]),
    ], ["m", "e", "q"]),
    "denied-operand": dag([
        ("e", "Exp", ["x"]),
        ("a", "MatMul", ["y", "w"]),
        ("sum", "AddV2", ["a", "e"]),
        ("after", "Tanh", ["sum"]),
        ("other", "Tanh", ["a"]),
    ], ["after", "other"]),
    "denied-operand-first": dag([
        ("e", "Exp", ["x"]),
        ("a", "MatMul", ["y", "w"]),
        ("sum", "AddV2", ["e", "a"]),
        ("b", "MatMul", ["sum", "v"]),
    ], ["b"]),
    "clear-tail-of-deny-joins": dag([
        # The tail after a denied operation is not tainted and becomes low from
        # the product.
        ("e", "Exp", ["x"]),
        ("r", "Relu", ["e"]),
        ("a", "MatMul", ["y", "w"]),
        ("m", "Minimum", ["a", "r"]),
    ], ["m"]),
    "two-islands": dag([
        ("a", "MatMul", ["x", "w"]),
        ("t", "Tanh", ["a"]),
        ("e", "Exp", ["t"]),
        ("s", "Sqrt", ["e"]),
        ("b", "MatMul", ["s", "v"]),
        ("r", "Relu", ["b"]),
    ], ["t", "r"]),
    "attention": dag([
        ("q", "MatMul", ["x", "w"]),
        ("k", "MatMul", ["x", "v"]),
        ("kt", "Transpose", ["k"], TRANSPOSE),
        ("scores", "MatMul", ["q", "kt"]),
        ("p", "Softmax", ["scores"]),
        ("o", "MatMul", ["p", "k"]),
        ("res", "AddV2", ["o", "x"]),
    ], ["res"]),
    "layer-norm": dag([
        ("a", "MatMul", ["x", "w"]),
        ("mean", "Mean", ["a"], REDUCE),
        ("center", "Sub", ["a", "mean"]),
        ("square", "Mul", ["center", "center"]),
        ("variance", "Mean", ["square"], REDUCE),
        ("root", "Sqrt", ["variance"]),
        ("normal", "RealDiv", ["center", "root"]),
        ("scaled", "Mul", ["normal", "c"]),
        ("b", "MatMul", ["scaled", "v"]),
    ], ["b"]),
    "gate": dag([
        ("a", "MatMul", ["x", "w"]),
        ("g", "Sigmoid", ["a"]),
        ("m", "Mul", ["a", "g"]),
        ("cut", "Greater", ["m", "y"]),
        ("s", "SelectV2", ["cut", "m", "y"]),
        ("b", "MatMul", ["s", "v"]),
    ], ["b"]),
    "compare-tail": dag([
        ("a", "MatMul", ["x", "w"]),
        ("t", "Tanh", ["a"]),
        ("cut", "Greater", ["t", "y"]),
        ("s", "SelectV2", ["cut", "x", "y"]),
        ("r", "Relu", ["s"]),
    ], ["r"]),
    "arg-max": dag([
        ("a", "MatMul", ["x", "w"]),
        ("e", "Exp", ["a"]),
        ("r", "Relu", ["e"]),
        ("best", "ArgMax", ["r"], {"dimension": 1}),
    ], ["best"]),
    "unlisted": dag([
        # An operation in no list keeps its type and stops the propagation.
        ("a", "MatMul", ["x", "w"]),
        ("u", "Sinh", ["a"]),
        ("t", "Tanh", ["u"]),
        ("b", "MatMul", ["t", "v"]),
        ("e", "Exp", ["x"]),
        ("u2", "Sinh", ["e"]),
        ("t2", "Tanh", ["u2"]),
        ("c1", "MatMul", ["t2", "v"]),
    ], ["b", "c1"]),
    # Constants are in no list.
    "constant-operand": dag([
        ("k", "Const", [], {"value": 0.5}),
        ("a", "MatMul", ["x", "w"]),
        ("m", "Mul", ["a", "k"]),
        ("b", "MatMul", ["m", "v"]),
    ], ["b"]),
    "constant-shared": dag([
        ("k", "Const", [], {"value": 0.5}),
        ("a", "MatMul", ["x", "w"]),
        ("m", "Maximum", ["a", "k"]),
        ("p", "Pow", ["y", "k"]),
        ("n", "Minimum", ["x", "k"]),
    ], ["m", "p", "n"]),
    "constant-through-clear": dag([
        ("k", "Const", [], {"value": 0.5}),
        ("r", "Relu", ["k"]),
        ("a", "MatMul", ["x", "r"]),
        ("q", "Neg", ["k"]),
    ], ["a", "q"]),
    # Casts in the input. A cast to f32 whose readers are all low becomes a cast
    # to the low type.
    "cast-read-low": dag([
        ("f", "Cast", ["i"]),
        ("a", "MatMul", ["f", "w"]),
        ("b", "MatMul", ["f", "v"]),
    ], ["a", "b"]),
    "cast-read-both": dag([
        ("f", "Cast", ["i"]),
        ("a", "MatMul", ["f", "w"]),
        ("e", "Exp", ["f"]),
    ], ["a", "e"]),
    "cast-stops-deny": dag([
        ("f", "Cast", ["i"]),
        ("r", "Relu", ["f"]),
        ("a", "MatMul", ["r", "w"]),
        ("e", "Exp", ["a"]),
        ("t", "Tanh", ["e"]),
    ], ["t"]),
    "cast-widening-read-low": dag([
        ("f", "Cast", ["h"]),
        ("a", "MatMul", ["f", "w"]),
        ("t", "Tanh", ["a"]),
    ], ["t"]),
    "cast-widening-read-both": dag([
        ("f", "Cast", ["h"]),
        ("a", "MatMul", ["f", "w"]),
        ("e", "Exp", ["f"]),
    ], ["a", "e"]),
    # Loops.
    "loop-low": dag([
        ("a", "MatMul", ["x", "w"]),
        ("loop", "Loop", ["a"], {
            "body": [("b", "MatMul", ["carried", "v"], {}), ("t", "Tanh", ["b"], {})],
            "yields": "t"}),
        ("r", "Relu", ["loop"]),
    ], ["r"]),
    "loop-clear": dag([
        ("loop", "Loop", ["x"], {
            "body": [("r", "Relu", ["carried"], {}), ("n", "Neg", ["r"], {})],
            "yields": "n"}),
        ("a", "MatMul", ["loop", "w"]),
    ], ["a"]),
    "loop-denied": dag([
        ("a", "MatMul", ["x", "w"]),
        ("loop", "Loop", ["a"], {
            "body": [("e", "Exp", ["carried"], {}), ("t", "Tanh", ["e"], {})],
            "yields": "t"}),
        ("b", "MatMul", ["loop", "w"]),
    ], ["b"]),
    "loop-product-inside-deny": dag([
        ("loop", "Loop", ["x"], {
            "body": [("b", "MatMul", ["carried", "w"], {}), ("e", "Exp", ["b"], {}),
                     ("s", "Sqrt", ["e"], {})],
            "yields": "s"}),
        ("r", "Relu", ["loop"]),
    ], ["r"]),
    "loop-infer": dag([
        ("loop", "Loop", ["x"], {
            "body": [("b", "MatMul", ["carried", "w"], {}),
                     ("sum", "AddV2", ["carried", "b"], {})],
            "yields": "sum"}),
    ], ["loop"]),
}
