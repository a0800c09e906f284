#===- amp_jax.py - JAX training steps in and out -------------------------===//
#
# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
#===----------------------------------------------------------------------===//
"""Lowers a training step in JAX to StableHLO for amp-opt, and compiles the result.

    step = amp_jax.lower(loss, update, params, state, batch)
    text = amp_jax.rewrite(step.text, "bf16")
    run = amp_jax.compile(text)
    *new, value = run(*step.flatten(params, state, batch))

docs/jax.md explains it.
"""

import dataclasses
import math
import os
import pathlib
import re
import shutil
import subprocess

import jax
import jax.numpy as jnp
import numpy as np
from jax.extend.core import jaxprs_in_params
from jax.extend.mlir import ir

# A constant of booleans whose elements are printed as bytes.
BOOLEANS = re.compile(r'dense<"0x([0-9A-Fa-f]*)">(\s*:\s*(?:tensor|vector)<((?:\d+x)*)i1\b)')


def with_booleans(text, bits):
    """`text` with its large boolean constants as LLVM 22 reads them, with a bit
    for each element, or as JAX does, with a byte. Those that are so already stay:
    the number of bytes tells which form one has."""

    def convert(match):
        elements = math.prod(int(extent) for extent in match[3].split("x")[:-1])
        data = np.frombuffer(bytes.fromhex(match[1]), np.uint8)
        if bits and len(data) == elements:
            data = np.packbits(data, bitorder="little")
        elif not bits and len(data) == -(-elements // 8):
            data = np.unpackbits(data, count=elements, bitorder="little")
        return f'dense<"0x{data.tobytes().hex().upper()}">{match[2]}'

    return BOOLEANS.sub(convert, text)


def print_generic(operation):
    """The generic form of an operation, with locations, as amp-opt reads it."""
    text = operation.get_asm(print_generic_op_form=True, enable_debug_info=True)
    return with_booleans(text, bits=True)


def inline_calls(module):
    """Puts the bodies of functions in the place of calls in regions of `shard_map`.
    To a reader without Shardy such a region might have symbols of its own, among
    which the functions of the module are not found."""
    functions = {
        ir.StringAttr(op.attributes["sym_name"]).value: op.operation
        for op in module.body.operations
        if op.operation.name == "func.func"
    }

    def replace_operands(op, values):
        for i, operand in enumerate(op.operands):
            if operand in values:
                op.operands[i] = values[operand]
        for region in op.regions:
            for block in region.blocks:
                for nested in block.operations:
                    replace_operands(nested.operation, values)

    def inline(call):
        callee = functions[ir.FlatSymbolRefAttr(call.attributes["callee"]).value]
        (block,) = callee.regions[0].blocks
        values = dict(zip(block.arguments, call.operands))
        *body, last = (op.operation for op in block.operations)
        copies = []
        for op in body:
            with ir.InsertionPoint(call):
                copies.append(op.clone())
            replace_operands(copies[-1], values)
            values.update(zip(op.results, copies[-1].results))
        for result, operand in zip(call.results, last.operands):
            result.replace_all_uses_with(values[operand])
        call.erase()
        for copy in copies:
            visit(copy, True)

    def visit(op, inside):
        if inside and op.name == "func.call":
            inline(op)
            return
        inside |= op.name == "sdy.manual_computation"
        for region in op.regions:
            for block in region.blocks:
                for nested in list(block.operations):
                    visit(nested.operation, inside)

    visit(module.operation, False)


def generic(lowered):
    """The StableHLO of a lowered function in generic form."""
    text = print_generic(lowered.compiler_ir("stablehlo").operation)
    if '"sdy.manual_computation"' not in text:
        return text
    with lowered.compiler_ir("stablehlo").context:
        module = ir.Module.parse(with_booleans(text, bits=False))
        inline_calls(module)
        return print_generic(module.operation)


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
            module = ir.Module.parse(with_booleans(generic(lowered), bits=False))
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
            return print_generic(module.operation)
        finally:
            context.allow_unregistered_dialects = allowed


@dataclasses.dataclass
class Step:
    """A marked training step. Its arguments are the leaves of parameters, optimizer state and
    batch. Its results are the leaves of the new parameters and state, and the loss."""

    text: str
    names: list
    sizes: tuple

    @staticmethod
    def flatten(*trees):
        return jax.tree.leaves(trees)

    def unflatten(self, results, params, state):
        """The new parameters and state, the loss, and the results that a pass has added after
        them."""
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
    """The positions of results of the main function, counted from `first`, that are arguments or
    equal an earlier one of these results."""
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
    """Lowers the step of `update(params, state, gradients)` with the gradients of `loss(params,
    *batch)`, marked for the passes."""

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
    # A mark names one value. Equal gradients become separate values.
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


def custom_derivatives(jaxpr):
    """What in `jaxpr` has a derivative that StableHLO does not show: the functions
    with a custom_vjp, and stop_gradient where the program itself calls it. Where
    JAX's library calls it, as softmax does for its maximum, the derivative is
    that of the function."""
    found = []
    for equation in jaxpr.eqns:
        name = equation.primitive.name
        if name.startswith("custom_vjp_call"):
            found.append(f"custom_vjp of '{equation.params.get('name', 'a function')}'")
        elif name == "stop_gradient":
            traceback = equation.source_info.traceback
            frames = list(traceback.frames) if traceback else []
            calls = [i for i, frame in enumerate(frames) if frame.function_name == name]
            caller = frames[calls[0] + 1] if calls and calls[0] + 1 < len(frames) else None
            if not caller:
                found.append(name)
            elif os.path.join("jax", "_src") not in caller.file_name:
                found.append(f"{name} in '{caller.function_name}'")
        for inner in jaxprs_in_params(equation.params):
            found += custom_derivatives(inner)
    return found


def lower_loss(loss, params, batch, ignore_custom_derivatives=False):
    """Lowers the forward pass alone, for stablehlo-to-train. Labels and data are
    named batch.0, batch.1 and so on. The pass differentiates the operations of the
    module, so a loss with a custom_vjp or a stop_gradient is a ValueError, unless
    `ignore_custom_derivatives` says that the derivative of the computation is
    the wanted one."""
    if not ignore_custom_derivatives:
        found = custom_derivatives(jax.make_jaxpr(lambda p, b: loss(p, *b))(params, batch).jaxpr)
        if found:
            raise ValueError(
                f"the loss has derivatives of its own, which StableHLO does not show: {', '.join(sorted(set(found)))}; "
                "expected amp_jax.lower, or ignore_custom_derivatives=True"
            )
    lowered = jax.jit(lambda p, b: loss(p, *b), keep_unused=True).lower(params, batch)
    names = [("parameter", name) for name in names_of("params.", params)]
    names += [("batch", f"batch.{i}") for i in range(len(jax.tree.leaves(batch)))]
    marks = {i: {"amp.role": role, "amp.name": name} for i, (role, name) in enumerate(names)}
    return annotate(lowered, marks, {0: {"amp.metric": "loss"}})


# Arguments that have another name now.
FORMER_NAMES = {"narrow_saved": "compress_activations"}


def pipeline(precision, options="", scaling=None, masters=None, compress_activations=False, check=True, **unknown):
    """The passes that rewrite a marked step. `scaling` is a mode of amp-insert-loss-scaling:
    dynamic, layerwise or a number. Unless `check` is false, a pass checks the handling of the loss scale.
    `masters` is a mode of amp-insert-master-weights: copy. With `compress_activations`, f32 values
    that the backward pass reads are stored in the low type."""
    for name in unknown:
        present = FORMER_NAMES.get(name)
        raise TypeError(f"'{name}' is now called '{present}'" if present
                        else f"pipeline() got an unexpected keyword argument '{name}'")
    passes = ["amp-import-step"]
    passes.append(f"auto-mixed-precision{{precision={precision} policy=stablehlo {options}}}")
    if compress_activations:
        passes.append("amp-compress-activations")
    if masters:
        passes.append(f"amp-insert-master-weights{{mode={masters}}}")
    if scaling:
        passes.append(f"amp-insert-loss-scaling{{mode={scaling} policy=stablehlo}}")
    passes.append("amp-optimize-casts")
    if scaling and check:
        passes.append("amp-check-loss-scaling{policy=stablehlo}")
    passes += ["convert-amp-to-stablehlo", "canonicalize", "cse"]
    return f"builtin.module({','.join(passes)})"


DTYPES = {"bf16": jnp.bfloat16, "f16": jnp.float16, "f32": jnp.float32, "i32": jnp.int32}


@dataclasses.dataclass
class Added:
    """An argument that the passes add after those of a step: a low copy of a
    parameter or a part of the scaler's state. A result of the same name, in the
    same order after the loss, is its new value."""

    name: str
    role: str
    shape: tuple
    dtype: type
    init: str

    def initial(self, parameters):
        """Its first value, given the parameters by name."""
        if source := re.search(r'copy_of, source = "([^"]*)"', self.init):
            return jnp.asarray(parameters[source[1]]).astype(self.dtype)
        value = re.search(r"constant, value = ([^ >]*)", self.init)
        return jnp.full(self.shape, float(value[1]) if value else 0, self.dtype)


class Rewritten(str):
    """The text of a rewritten step, with the arguments that were added, in order."""

    added = ()


def find_added(text, known):
    """The arguments of the main function whose names are not in `known`."""
    from jax._src.interpreters import mlir

    with mlir.make_ir_context() as context:
        context.allow_unregistered_dialects = True
        module = ir.Module.parse(with_booleans(text, bits=False))
        main = next(
            op
            for op in module.body.operations
            if ir.StringAttr(op.attributes["sym_name"]).value == "main"
        )
        signature = ir.FunctionType(ir.TypeAttr(main.attributes["function_type"]).value)
        added = []
        for type, entry in zip(signature.inputs, main.attributes["arg_attrs"]):
            entry = {named.name: named.attr for named in entry}
            name = ir.StringAttr(entry["amp.name"]).value if "amp.name" in entry else None
            if name is None or name in known:
                continue
            tensor = ir.RankedTensorType(type)
            role = ir.StringAttr(entry["amp.role"]).value
            dtype = DTYPES[str(tensor.element_type)]
            added.append(Added(name, role, tuple(tensor.shape), dtype, str(entry["amp.init"])))
        return added


def rewrite(text, precision, command=("amp-opt",), **settings):
    """Runs the passes of `pipeline` with these settings. `command` may be a
    stock mlir-opt with the plugin. The result is the text of the step, with
    `added`, the arguments and results that the passes append to it."""
    passes = pipeline(precision, **settings)
    if not settings.get("scaling") and not settings.get("masters"):
        return Rewritten(run_passes(text, passes, command))
    # Added arguments have names until no operation of the amp dialect is left.
    first, last = passes.split(",convert-amp-to-stablehlo", 1)
    known = set(re.findall(r'amp\.name = "([^"]*)"', text))
    text = run_passes(text, first + ")", command)
    rewritten = Rewritten(
        run_passes(text, "builtin.module(convert-amp-to-stablehlo" + last, command)
    )
    rewritten.added = find_added(text, known)
    return rewritten


def find_tool(name):
    """Returns a tool of the PATH, or else the tool of the wheel that contains this file."""
    carried = pathlib.Path(__file__).resolve().parent / "amp_torch" / "bin" / name
    if shutil.which(name) or not carried.exists():
        return name
    return os.fspath(carried)


def run_passes(text, passes, command=("amp-opt",)):
    """Runs a pipeline on StableHLO text. Errors are raised as RuntimeError."""
    command = [find_tool(command[0]), *command[1:]]
    arguments = ["--allow-unregistered-dialect", "--mlir-print-op-generic"]
    arguments.append("--mlir-print-debuginfo")
    arguments.append(f"--pass-pipeline={passes}")
    text = with_booleans(text, bits=True)
    result = subprocess.run([*command, *arguments], input=text, capture_output=True, text=True)
    if result.returncode:
        hint = ""
        if "custom op 'stablehlo." in result.stderr:
            hint = "expected the generic form: amp_jax.generic(lowered)\n"
        raise RuntimeError(result.stderr + hint)
    return with_booleans(result.stdout, bits=False)


def scaler_state(scale=65536.0, hysteresis=1):
    """The scaler state: the additional last arguments of a step with dynamic loss scaling. The
    step returns it after the loss."""
    return [jnp.float32(scale), jnp.int32(0), jnp.int32(hysteresis)]


def widen_products(text):
    """XLA's CPU backend has no product of low operands with an f32 result. This rounds the
    operands and widens them again, which is equivalent: products of two low numbers are exact in
    f32."""
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
    """Compiles StableHLO text. The function takes and returns flat lists of arrays."""
    from jax._src.lib import xla_client

    device = device or jax.devices()[0]
    options = xla_client.CompileOptions()
    text = with_booleans(text, bits=False)
    build = options.executable_build_options
    build.use_spmd_partitioning = True
    build.use_shardy_partitioner = "sdy." in text
    if device.platform == "cpu":
        text = widen_products(text)
    executable = device.client.compile_and_load(
        text.encode(), xla_client.DeviceList((device,)), options
    )

    def run(*arguments):
        placed = [jax.device_put(argument, device) for argument in arguments]
        return executable.execute(placed)

    return run
