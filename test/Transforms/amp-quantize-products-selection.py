# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# The products that get 8-bit operands on a target, against all subsets of the products of small random
# graphs, with times computed here.
#
# RUN: rm -rf %t && mkdir %t
# RUN: %python %s %t
"""Usage: amp-quantize-products-selection.py <folder>"""

import itertools
import random
import re
import subprocess
import sys

folder = sys.argv[1]
GPUS = {"h100": (989.4e12, 3.35e12, False), "h200": (989.4e12, 4.8e12, False), "b200": (2.25e15, 8e12, True)}
GRAPHS, PRODUCTS = 40, 7
random.seed(23)


def make_graph(name):
    """Products of shared inputs and weights. Some contract the rows of one."""
    sizes = [random.choice((1000, 4096, 8192, 12288)) for _ in range(3)]
    inputs = {f"%x{i}": (random.choice(sizes), random.choice(sizes)) for i in range(2)}
    weights, products = {}, []
    for _ in range(PRODUCTS):
        x = random.choice(list(inputs))
        transpose_a, transpose_b = random.random() < 0.3, random.random() < 0.3
        m, k = inputs[x][::-1] if transpose_a else inputs[x]
        fits = [w for w, shape in weights.items() if shape[1 if transpose_b else 0] == k]
        if fits and random.random() < 0.5:
            w = random.choice(fits)
            n = weights[w][0 if transpose_b else 1]
        else:
            w, n = f"%w{len(weights)}", random.choice((256, 1000, 4096, 8192))
            weights[w] = (n, k) if transpose_b else (k, n)
        products.append((x, w, transpose_a, transpose_b, m, n, k))
    spell = "tensor<{0[0]}x{0[1]}xf32>".format
    arguments = [f'{x}: {spell(shape)} {{amp.role = "batch", amp.name = "{x[1:]}"}}' for x, shape in inputs.items()]
    arguments += [f'{w}: {spell(shape)} {{amp.role = "parameter", amp.name = "{w[1:]}"}}' for w, shape in weights.items()]
    body, results = [], []
    for i, (x, w, a, b, m, n, _) in enumerate(products):
        flags = [name for name, is_set in (("transpose_a", a), ("transpose_b", b)) if is_set]
        body.append(f"  %p{i} = train.matmul {x}, {w} {{{', '.join(flags)}}} : ({spell((inputs | weights)[x])}, "
                    f"{spell(weights[w])}) -> {spell((m, n))}")
        results.append((f"%p{i}", spell((m, n)), f'{spell((m, n))} {{amp.prediction = "p{i}"}}'))
    text = (f"func.func @{name}({', '.join(arguments)}) -> ({', '.join(r[2] for r in results)}) {{\n" + "\n".join(body)
            + f"\n  return {', '.join(r[0] for r in results)} : {', '.join(r[1] for r in results)}\n}}\n")
    return text, products, inputs | weights


def total(chosen, shapes, gpu, delayed):
    """The time that the products `chosen` save, in picoseconds."""
    half, bandwidth, any_order = GPUS[gpu]

    def move(count):
        return int(count / bandwidth * 1e12)

    def product(m, n, k, size, rate, result):
        return max(int(2.0 * m * n * k / rate * 1e12), move((m * k + k * n) * size + result))

    saved, copies, orders = 0, set(), set()
    for x, w, transpose_a, transpose_b, m, n, k in chosen:
        padded = [-(-extent // 16) * 16 for extent in (m, n, k)]
        saved += product(m, n, k, 2, half, 4 * m * n) - product(*padded, 1, 2 * half, 4 * m * n)
        copies |= {x, w}
        orders |= {(x, not any_order and not transpose_a), (w, not any_order and transpose_b)}
    for tensor in copies:
        saved -= move((1 if delayed else 2) * 4 * shapes[tensor][0] * shapes[tensor][1])
    for tensor, _ in orders:
        saved -= move(shapes[tensor][0] * shapes[tensor][1])
    return saved


graphs = [make_graph(f"g{i}") for i in range(GRAPHS)]
with open(f"{folder}/graphs.mlir", "w") as file:
    file.write("\n".join(text for text, _, _ in graphs))
kept = some = 0
for gpu, recipe in (("h100", "current"), ("h200", "delayed"), ("b200", "current"), ("b200", "delayed")):
    done = subprocess.run(["amp-opt", f"{folder}/graphs.mlir", "--auto-mixed-precision=precision=bf16",
                           f"--amp-quantize-products=keep-last=0 target={gpu} recipe={recipe}"],
                          capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    functions = re.split(r"func\.func @g\d+\(", done.stdout)[1:]
    for index, ((_, products, shapes), function) in enumerate(zip(graphs, functions, strict=True)):
        kinds = re.findall(r"= (train\.matmul|amp\.scaled_matmul) ", function)
        assert len(kinds) == PRODUCTS, (index, kinds)
        chosen = [p for p, kind in zip(products, kinds) if kind == "amp.scaled_matmul"]
        every = [subset for size in range(PRODUCTS + 1) for subset in itertools.combinations(products, size)]
        best = max(total(subset, shapes, gpu, recipe == "delayed") for subset in every)
        got = total(chosen, shapes, gpu, recipe == "delayed")
        assert got == best, (gpu, recipe, index, got, best)
        assert len(chosen) == min(len(s) for s in every if total(s, shapes, gpu, recipe == "delayed") == best)
        kept += not chosen
        some += 0 < len(chosen) < PRODUCTS
# The graphs are neither all or nothing.
assert kept < GRAPHS and some > GRAPHS, (kept, some)
print("ok", kept, some)
