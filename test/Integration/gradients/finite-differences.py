# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Every operation that is declared differentiable against central finite
# differences in f64, element by element, in JIT-compiled code: the weighted sum
# of its results is differentiated by `train-autodiff` and, in a loop of the
# same program, evaluated at perturbed operands. An operation without a case is
# a failure.
#
# REQUIRES: full
# RUN: rm -rf %t && mkdir %t
# RUN: %python %s %t %amp_obj_root %S/Inputs %S/../../Conversion/Inputs
# RUN: not %python %s %t %amp_obj_root %S/Inputs %S/../../Conversion/Inputs --wrong 2>&1 | FileCheck %s
# CHECK: relative error {{.*}} at train.mul

import glob
import os
import re
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np

folder, build, *paths = sys.argv[1:5]
sys.path[:0] = paths
from cases import CASES, Case, Same  # noqa: E402
from oracle import Step  # noqa: E402

BOUND = 1e-6
STEP = 1e-5
TYPES = {"float64": "f64", "float32": "f32", "int64": "i64", "bool": "i1"}


# Other tests cover these operations. The gradient of amp.upper_half is the gradient of the
# whole parameter (Integration/split-masters.py). PyTorch differentiates the operations that
# amp.call calls (Torch/custom-operations.py).
ELSEWHERE = {"amp.call", "amp.upper_half"}


def declared_differentiable():
    """The operations that implement the interface, by the generated classes."""
    names = set()
    for header in glob.glob(f"{build}/include/amp/Dialect/*/IR/*Ops.h.inc"):
        with open(header) as file:
            text = file.read()
        for declaration in re.split(r"\nclass (?=\w+ : public ::mlir::Op<)", text)[1:]:
            name = re.search(r'getOperationName\(\) {\s*return ::llvm::StringLiteral\("([^"]+)"', declaration)
            if "DifferentiableOpInterface::Trait" in declaration.split("{")[0]:
                names.add(name.group(1))
    return names


def spell(shape, type="f64"):
    return "tensor<" + "".join(f"{n}x" for n in shape) + type + ">"


def weighted_sum(step, values, shapes, weights):
    """The loss: the sum of all `values` times `weights`."""
    loss = None
    for value, shape, weight in zip(values, shapes, weights):
        type = spell(shape)
        term = step.op(f"train.mul {value}, {weight} : ({type}, {type}) -> {type}", type)
        if shape:
            dims = ", ".join(map(str, range(len(shape))))
            term = step.op(
                f"train.reduce_sum {term} {{dims = array<i64: {dims}>}} : ({type}) -> tensor<f64>",
                "tensor<f64>",
            )
        if loss is not None:
            term = step.op(
                f"train.add {loss}, {term} : (tensor<f64>, tensor<f64>) -> tensor<f64>", ""
            )
        loss = term
    return loss


class Check:
    """The program of one case and its results."""

    def __init__(self, name, case, number):
        self.name, self.case = name, case
        self.folder = os.path.join(folder, f"{name}-{number}")
        self.step = Step()
        rng = np.random.default_rng(number)
        self.operands = []
        for operand in case.operands:
            if isinstance(operand, Same):
                self.operands.append(self.operands[operand.index])
            else:
                type = TYPES[operand.dtype.name]
                self.operands.append((self.step.input((operand, type)), operand, type))
        self.add_weights(rng)
        self.build_gradients()
        self.build_differences()

    def weight(self, rng, shape):
        return self.step.input((np.array(rng.uniform(0.5, 1.5, size=shape)), "f64"))

    def add_weights(self, rng):
        self.weights = [self.weight(rng, self.case.results[i]) for i in self.case.use]

    def loss(self, names):
        types = [spell(operand.shape, type) for _, operand, type in self.operands]
        results = [spell(shape) for shape in self.case.results]
        attrs = f" <{{{self.case.attrs}}}>" if self.case.attrs else ""
        values = self.step.op(
            f'"{self.name}"({", ".join(names)}){attrs} : ({", ".join(types)}) -> ({", ".join(results)})',
            *results,
        )
        values = [values] if isinstance(values, str) else values
        used = list(self.case.use)
        return weighted_sum(
            self.step, [values[i] for i in used], [self.case.results[i] for i in used], self.weights
        )

    def build_gradients(self):
        """The gradients at the operands, by autodiff."""
        loss = self.loss([name for name, *_ in self.operands])
        wrt = [self.operands[i] for i in self.case.wrt]
        types = ", ".join(spell(x.shape, type) for _, x, type in wrt)
        gradients = self.step.op(
            f'train.gradients {loss} wrt({", ".join(name for name, *_ in wrt)}) '
            f": (tensor<f64>, {types}) -> ({types})",
            *wrt,
        )
        gradients = [gradients] if isinstance(gradients, str) else gradients
        for gradient, (_, operand, type) in zip(gradients, wrt):
            self.step.output(gradient, operand.shape, type)

    def build_differences(self):
        """The loss at each perturbation of each element, in a loop."""
        step, wrt = self.step, self.case.wrt
        sizes = [self.operands[i][1].size for i in wrt]
        count = 2 * sum(sizes)
        start, stacks, self.steps = 0, {}, []
        for index, size in zip(wrt, sizes):
            _, operand, type = self.operands[index]
            h = STEP if type == "f64" else 2.0**-6
            stack = np.repeat(operand[None], count, axis=0)
            flat = stack.reshape(count, size)
            for k in range(size):
                flat[start + 2 * k, k] += h
                flat[start + 2 * k + 1, k] -= h
            # The step after rounding.
            plus, minus = flat[start : start + 2 * size : 2], flat[start + 1 : start + 2 * size : 2]
            self.steps.append((plus.astype(np.float64) - minus).diagonal())
            stacks[index] = step.input((stack, type))
            start += 2 * size
        losses = spell((count,))
        for name, value in (("zero", 0), ("one", 1), ("count", count)):
            step.line(f"%{name} = arith.constant {value} : index")
        step.line(f"%empty = tensor.empty() : {losses}")
        step.line(
            f"%losses = scf.for %i = %zero to %count step %one iter_args(%sofar = %empty) -> {losses} {{"
        )
        names = []
        for index, operand in enumerate(self.case.operands):
            if isinstance(operand, Same):
                names.append(names[operand.index])
                continue
            name, operand, type = self.operands[index]
            if index in stacks:
                shape = operand.shape
                offsets = ", ".join(["%i"] + ["0"] * len(shape))
                extents = ", ".join(["1"] + [str(n) for n in shape])
                ones = ", ".join(["1"] * (len(shape) + 1))
                name = step.op(
                    f"tensor.extract_slice {stacks[index]}[{offsets}] [{extents}] [{ones}] "
                    f": {spell((count,) + shape, type)} to {spell(shape, type)}",
                    "",
                )
            names.append(name)
        loss = self.loss(names)
        step.line(f"%number = tensor.extract {loss}[] : tensor<f64>")
        step.line(f"%next = tensor.insert %number into %sofar[%i] : {losses}")
        step.line(f"scf.yield %next : {losses}")
        step.line("}")
        step.output("%losses", (count,), "f64")

    def run(self):
        """The worst relative error over all elements of all operands; elements
        much smaller than the largest of their operand count as a hundredth of
        it. Where all are 0, the error is relative to 1, the size of the weights."""
        self.step.compile(
            self.folder, "--train-autodiff --canonicalize --cse --amp-cpu-pipeline"
        )
        _, outputs = self.step.call()
        *gradients, (losses, _) = outputs
        worst, start = 0.0, 0
        for (gradient, _), steps in zip(gradients, self.steps):
            part = losses[start : start + 2 * gradient.size].reshape(-1, 2)
            start += 2 * gradient.size
            expected = (part[:, 0] - part[:, 1]) / steps
            actual = gradient.reshape(-1).astype(np.float64)
            assert np.isfinite(expected).all(), f"{self.name}: not finite"
            error = np.abs(actual - expected)
            largest = np.abs(expected).max(initial=0)
            error /= np.maximum(np.abs(expected), largest / 100) if largest else 1
            assert not np.isnan(error).any(), f"{self.name}: NaN in the gradient"
            worst = max(worst, error.max(initial=0))
        return worst


class SecondOrder(Check):
    """The derivative of a gradient: the loss is the weighted sum of the
    gradients of an inner loss, the sum of the exponentials of the results."""

    def add_weights(self, rng):
        super().add_weights(rng)
        self.outer_weights = [self.weight(rng, self.operands[i][1].shape) for i in self.case.wrt]

    def loss(self, names):
        step, case = self.step, self.case
        types = [spell(operand.shape, type) for _, operand, type in self.operands]
        attrs = f" <{{{case.attrs}}}>" if case.attrs else ""
        results = [spell(shape) for shape in case.results]
        values = step.op(
            f'"{self.name}"({", ".join(names)}){attrs} : ({", ".join(types)}) -> ({", ".join(results)})',
            *results,
        )
        value, shape, result = values if isinstance(values, str) else values[0], case.results[0], results[0]
        value = step.op(f"train.exp {value} : {result}", "")
        inner = weighted_sum(step, [value], [shape], self.weights)
        shapes = [self.operands[i][1].shape for i in case.wrt]
        wrt = ", ".join(map(spell, shapes))
        gradients = step.op(
            f'train.gradients {inner} wrt({", ".join(names[i] for i in case.wrt)}) '
            f'{{name = "inner"}} : (tensor<f64>, {wrt}) -> ({wrt})',
            *shapes,
        )
        gradients = [gradients] if isinstance(gradients, str) else gradients
        return weighted_sum(step, gradients, shapes, self.outer_weights)


def second_order_cases():
    """Cases of the first order again, where the result is one."""
    names = (
        "mul div pow tanh sigmoid gelu softmax log_softmax matmul linear conv2d max_pool2d "
        "avg_pool2d batch_norm_inference mse l1 cross_entropy relu clip reduce_mean reduce_max "
        "slice concat dropout silu logsumexp cumsum gather scatter_add scaled_dot_product_attention"
    )
    for name in names.split():
        for case in CASES[f"train.{name}"][:2]:
            yield f"train.{name}", case
    yield "train.rms_norm", CASES["train.rms_norm"][0]
    # Norms save statistics, through which the second derivative goes too.
    yield "train.layer_norm", CASES["train.layer_norm"][0]
    yield "train.batch_norm_training", CASES["train.batch_norm_training"][0]


def main():
    assert ELSEWHERE <= declared_differentiable()
    missing = (declared_differentiable() - ELSEWHERE) ^ set(CASES)
    assert not missing, f"differentiable without a case, or a case without derivative: {sorted(missing)}"
    assert len(CASES) > 60
    checks = [Check(name, case, i) for name, cases in CASES.items() for i, case in enumerate(cases)]
    checks += [SecondOrder(name, case, 1000 + i) for i, (name, case) in enumerate(second_order_cases())]
    if "--wrong" in sys.argv:
        # Does the test notice? x · y evaluated where x · y / 1.001 was
        # differentiated.
        checks = [Check("train.mul", CASES["train.mul"][0], 9999)]
        checks[0].steps = [steps * 1.001 for steps in checks[0].steps]
    with ThreadPoolExecutor(2) as pool:
        errors = list(pool.map(Check.run, checks))
    for error, check in sorted(zip(errors, checks), key=lambda pair: -pair[0])[:5]:
        print(f"relative error {error:.1e} at {check.name} in {check.folder}")
    print(f"{len(checks)} gradients of {len(CASES)} operations, worst {max(errors):.1e}")
    sys.exit(int(max(errors) > BOUND))


main()
