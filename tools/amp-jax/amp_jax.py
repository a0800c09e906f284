#===- amp_jax.py - JAX training steps in and out -------------------------===//
#
# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
#===----------------------------------------------------------------------===//
"""From a training step in JAX to StableHLO that amp-opt can read, and back.

    step = amp_jax.lower(loss, update, params, state, batch)
    text = amp_jax.rewrite(step.text, "bf16")
    run = amp_jax.compile(text)
    *new, value = run(*step.flatten(params, state, batch))

docs/jax.md explains it.
"""

import dataclasses
import subprocess

import jax
import jax.numpy as jnp
from jax.extend.mlir import ir


def generic(lowered):
    """The StableHLO of a lowered function in generic form."""
    return lowered.compiler_ir("stablehlo").operation.get_asm(print_generic_op_form=True)


def annotate(lowered, arguments, results):
    """The StableHLO of `lowered` in generic form, with attributes of the amp
    dialect on arguments and results of its main function: dictionaries from
    position to a dictionary of strings, such as {0: {"amp.role": "parameter"}}.
    """
    module = lowered.compiler_ir("stablehlo")
    with module.context as context:
        allowed = context.allow_unregistered_dialects
        context.allow_unregistered_dialects = True
        try:
            module = ir.Module.parse(generic(lowered))
            main = next(
                op
                for op in module.body.operations
                if ir.StringAttr(op.attributes["sym_name"]).value == "main"
            )
            signature = ir.FunctionType(ir.TypeAttr(main.attributes["function_type"]).value)
            for what, key, marks, types in (
                ("argument", "arg_attrs", arguments, signature.inputs),
                ("result", "res_attrs", results, signature.results),
            ):
                for position in marks:
                    if not 0 <= position < len(types):
                        raise ValueError(
                            f"{what} {position} does not exist: the step has {len(types)}"
                        )
                present = main.attributes[key] if key in main.attributes else [{}] * len(types)
                entries = []
                for position, entry in enumerate(present):
                    entry = {named.name: named.attr for named in entry} if entry else {}
                    for name, value in marks.get(position, {}).items():
                        entry[name] = ir.StringAttr.get(value)
                    entries.append(ir.DictAttr.get(entry))
                main.attributes[key] = ir.ArrayAttr.get(entries)
            return module.operation.get_asm(print_generic_op_form=True)
        finally:
            context.allow_unregistered_dialects = allowed


@dataclasses.dataclass
class Step:
    """A marked training step. It takes the leaves of parameters, optimizer state
    and batch; it gives those of the new parameters and state, and the loss."""

    text: str
    names: list
    sizes: tuple

    @staticmethod
    def flatten(*trees):
        return jax.tree.leaves(trees)

    def unflatten(self, results, params, state):
        """The new parameters and state, the loss, and what a pass has added
        behind it."""
        first, second = self.sizes
        return (
            jax.tree.unflatten(jax.tree.structure(params), results[:first]),
            jax.tree.unflatten(jax.tree.structure(state), results[first : first + second]),
            results[first + second],
            list(results[first + second + 1 :]),
        )


def names_of(prefix, tree):
    paths = jax.tree_util.tree_flatten_with_path(tree)[0]
    return [prefix + jax.tree_util.keystr(path, simple=True, separator=".") for path, _ in paths]


def shared_results(lowered, first):
    """Positions, from `first` on and counted from there, of results of the main
    function that are arguments or other results from there on."""
    main = next(
        op
        for op in lowered.compiler_ir("stablehlo").body.operations
        if ir.StringAttr(op.attributes["sym_name"]).value == "main"
    )
    (block,) = main.regions[0].blocks
    returned = list(list(block.operations)[-1].operands)[first:]
    return {
        i
        for i, value in enumerate(returned)
        if isinstance(value, ir.BlockArgument) or value in returned[:i]
    }


def lower(loss, update, params, state, batch):
    """Lowers the step that `update(params, state, gradients)` makes with the
    gradients of `loss(params, *batch)`, marked for the passes."""

    def lower_with(separate):
        def step(params, state, batch, seed):
            value, pull = jax.vjp(lambda p: loss(p, *batch), params)
            (gradients,) = pull(seed)
            leaves, tree = jax.tree.flatten(gradients)
            for i in separate:
                leaves[i] = jax.lax.optimization_barrier(leaves[i])
            gradients = jax.tree.unflatten(tree, leaves)
            params, state = update(params, state, gradients)
            return params, state, value, gradients

        return jax.jit(step, keep_unused=True).lower(params, state, batch, jnp.float32(1))

    parameters, states = names_of("params.", params), names_of("state.", state)
    # A mark names one value: gradients that are the same one get their own.
    lowered = lower_with(())
    if separate := shared_results(lowered, len(parameters) + len(states) + 1):
        lowered = lower_with(separate)
    batches = [f"batch.{i}" for i in range(len(jax.tree.leaves(batch)))]
    roles = [("parameter", parameters), ("optimizer_state", states), ("batch", batches)]
    marks = [{"amp.role": role, "amp.name": name} for role, names in roles for name in names]
    marks.append({"amp.gradient_seed": "loss"})
    results = [{"amp.updates": name} for name in parameters + states]
    results.append({"amp.metric": "loss"})
    results += [{"amp.gradient_of": name} for name in parameters]
    text = annotate(lowered, dict(enumerate(marks)), dict(enumerate(results)))
    return Step(text, parameters + states, (len(parameters), len(states)))


def lower_loss(loss, params, batch):
    """Lowers the forward pass alone, for stablehlo-to-train. Labels and data are
    named batch.0, batch.1 and so on."""
    lowered = jax.jit(lambda p, b: loss(p, *b), keep_unused=True).lower(params, batch)
    names = [("parameter", name) for name in names_of("params.", params)]
    names += [("batch", f"batch.{i}") for i in range(len(jax.tree.leaves(batch)))]
    marks = {i: {"amp.role": role, "amp.name": name} for i, (role, name) in enumerate(names)}
    return annotate(lowered, marks, {0: {"amp.metric": "loss"}})


def pipeline(precision, options="", scaling=None, masters=None, narrow_saved=False, check=True):
    """The passes that rewrite a marked step. `scaling` is a mode of
    amp-insert-loss-scaling: dynamic or a number, which is proved to be handled
    right unless `check` is false; `masters` is a mode of
    amp-insert-master-weights: copy. With `narrow_saved`, f32 values that the
    backward pass reads are stored in the low type."""
    passes = ["amp-import-step"]
    passes.append(f"auto-mixed-precision{{precision={precision} policy=stablehlo {options}}}")
    if narrow_saved:
        passes.append("amp-narrow-saved-activations")
    if masters:
        passes.append(f"amp-insert-master-weights{{mode={masters}}}")
    if scaling:
        passes.append(f"amp-insert-loss-scaling{{mode={scaling}}}")
    passes.append("amp-optimize-casts")
    if scaling and check:
        passes.append("amp-check-loss-scaling{policy=stablehlo}")
    passes += ["convert-amp-to-stablehlo", "canonicalize", "cse"]
    return f"builtin.module({','.join(passes)})"


def rewrite(text, precision, command=("amp-opt",), **settings):
    """Runs the passes of `pipeline` with these settings. `command` may be a
    stock mlir-opt with the plugin."""
    passes = pipeline(precision, **settings)
    return run_passes(text, passes, command)


def run_passes(text, passes, command=("amp-opt",)):
    """Runs a pipeline on StableHLO text. What is wrong comes as RuntimeError."""
    arguments = ["--allow-unregistered-dialect", "--mlir-print-op-generic"]
    arguments.append(f"--pass-pipeline={passes}")
    result = subprocess.run([*command, *arguments], input=text, capture_output=True, text=True)
    if result.returncode:
        hint = ""
        if "custom op 'stablehlo." in result.stderr:
            hint = "expected the generic form: amp_jax.generic(lowered)\n"
        raise RuntimeError(result.stderr + hint)
    return result.stdout


def scaler_state(scale=65536.0, hysteresis=1):
    """What a step with dynamic loss scaling takes behind its other arguments,
    and gives back behind the loss."""
    return [jnp.float32(scale), jnp.int32(0), jnp.int32(hysteresis)]


def widen_products(text):
    """XLA's CPU backend has no product of low operands that gives f32. What is
    the same there, for products of two low numbers are exact in f32: operands
    are rounded, and widened again."""
    from jax._src.interpreters import mlir
    from jax.extend.mlir.dialects import stablehlo

    def visit(op):
        for region in op.regions:
            for block in region.blocks:
                for nested in block.operations:
                    visit(nested.operation)
        if op.name not in ("stablehlo.dot_general", "stablehlo.convolution"):
            return
        wide = ir.RankedTensorType(op.results[0].type).element_type
        for i, operand in enumerate(op.operands):
            type = ir.RankedTensorType(operand.type)
            if type.element_type != wide:
                with ir.InsertionPoint(op), op.location:
                    type = ir.RankedTensorType.get(type.shape, wide)
                    op.operands[i] = stablehlo.convert(type, operand)

    with mlir.make_ir_context():
        module = ir.Module.parse(text)
        visit(module.operation)
        return str(module)


def compile(text, device=None):
    """Compiles StableHLO text. The result takes and gives flat lists of arrays."""
    from jax._src.lib import xla_client

    device = device or jax.devices()[0]
    options = xla_client.CompileOptions()
    if device.platform == "cpu":
        text = widen_products(text)
    executable = device.client.compile_and_load(
        text.encode(), xla_client.DeviceList((device,)), options
    )

    def run(*arguments):
        placed = [jax.device_put(argument, device) for argument in arguments]
        return executable.execute(placed)

    return run
