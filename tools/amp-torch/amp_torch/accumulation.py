# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Gradient accumulation: a loop over equal parts of a batch, before one update."""

import dataclasses

from .builder import Value, quote, type_of


@dataclasses.dataclass
class Carried:
    """A value that an iteration replaces: its name before the loop, in an iteration, and
    the one that the iteration gives on. `gradient_of` names the parameter of a gradient."""

    start: str
    value: Value
    given: Value
    gradient_of: str = ""

    @property
    def is_sum(self):
        return self.start.startswith("%zero")

    @property
    def is_statistic(self):
        return not self.is_sum and self.value.is_float


def whole_name(value):
    """The name of an argument that the loop divides or replaces."""
    return f"%all_{value.name[1:]}"


def whole_shape(value, parts):
    """The shape of a tensor of the batch whose part is `value`."""
    first, *rest = value.shape
    return (first if first < 0 else first * parts, *rest)


def parts_of(tensors, parts):
    """The first of `parts` equal parts of a batch."""
    for tensor in tensors:
        if not tensor.dim() or tensor.shape[0] % parts:
            count = f"{tensor.shape[0]} samples" if tensor.dim() else "no samples"
            raise ValueError(f"accumulate={parts}: expected a batch whose number of samples is a multiple of {parts}, got {count}")
    return [tensor[: tensor.shape[0] // parts] for tensor in tensors]


def slices(inputs, parts):
    """The lines before the loop and in it that take a part of each tensor of the batch."""
    before, inside = [f"%part_count = arith.constant {parts} : index"], []
    first = inputs[0]
    if first.shape[0] < 0:
        before.append(f"%all_rows = tensor.dim {whole_name(first)}, %part_first : {type_of(whole_shape(first, parts), first.dtype)}")
        before.append("%part_rows = arith.divui %all_rows, %part_count : index")
    else:
        before.append(f"%part_rows = arith.constant {first.shape[0]} : index")
    inside.append("%part_start = arith.muli %part, %part_rows : index")
    for value in inputs:
        rest = value.shape[1:]
        offsets = ", ".join(["%part_start"] + ["0"] * len(rest))
        sizes = ", ".join(["%part_rows" if value.shape[0] < 0 else str(value.shape[0]), *map(str, rest)])
        strides = ", ".join(["1"] * value.rank)
        inside.append(f"{value.name} = tensor.extract_slice {whole_name(value)}[{offsets}] [{sizes}] [{strides}] : "
                      f"{type_of(whole_shape(value, parts), value.dtype)} to {value.type}")
    return before, inside


def write_loop(builder, inputs, parts, carried):
    """Puts the lines of the builder into a loop over the parts of the batch. Returns the
    carried values after it."""
    body, builder.lines = builder.lines, []
    # A value of the loop is not known after it.
    builder.constants, builder.views, builder.known_numbers = {}, {}, {}
    before, inside = slices(inputs, parts)
    for line in ["%part_first = arith.constant 0 : index", "%part_step = arith.constant 1 : index", *before]:
        builder.append(line)
    types = ", ".join(item.value.type for item in carried)
    names = []
    for item in carried:
        names.append(item.value.name)
        if item.is_statistic:
            # The gradient of a part does not pass through the parts before it.
            names[-1] = f"%carried_{item.value.name[1:]}"
            kind = item.value.type
            inside.append(f"{item.value.name} = train.broadcast {names[-1]} {{dims = array<i64>, train.stop_gradient}} : ({kind}) -> {kind}")
    starts = ", ".join(f"{name} = {item.start}" for name, item in zip(names, carried))
    for item in carried:
        if item.is_sum:
            builder.append(f"{item.start} = train.constant dense<0.0> : {item.value.type}")
    head = f"%parts:{len(carried)} = scf.for %part = %part_first to %part_count step %part_step iter_args({starts}) -> ({types}) {{"
    builder.lines.append(head)
    builder.lines += ["  " + line for line in [*inside, *body]]
    given = ", ".join(item.given.name for item in carried)
    builder.lines.append(f"  scf.yield {given} : {types}")
    names = ", ".join(quote(item.gradient_of) for item in carried)
    builder.append(f"}} {{amp.gradient_of = [{names}]}}")
    return [dataclasses.replace(item.value, name=f"%parts#{index}") for index, item in enumerate(carried)]
