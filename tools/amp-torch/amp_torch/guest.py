#===- guest.py - The precision passes inside of torch.compile ------------===//
#
# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
#===----------------------------------------------------------------------===//
"""Mixed precision as a backend of torch.compile.

    step = torch.compile(model, backend=amp_torch.backend(precision="bf16"))

AOTAutograd's joint graph of forward and backward goes to amp-opt, which decides
on types and casts; the graph with these goes on to torch's partitioner and to
eager execution or Inductor. docs/pytorch-guest.md explains it.
"""

import contextlib
import dataclasses
import hashlib
import json
import os
import re
import shutil
import subprocess
import tempfile
import warnings
from collections.abc import Mapping
from pathlib import Path

import torch
from torch import fx

from . import fx_apply, guest_attention, guest_choice, guest_kernels, guest_pins, guest_units, guest_watch
from .builder import precision_name
from .fx_to_mlir import KEY, Printer, flatten, module_path
from .versions import check_version

PRECISIONS = ("bf16", "fp16", "f32")
STRATEGIES = ("optimal", "grappler", "autocast")
INNER = ("eager", "inductor")
POLICIES = Path(__file__).parent / "policies"


class GuestError(RuntimeError):
    """The graph cannot be rewritten; the message says why and what to do."""


@dataclasses.dataclass
class Report:
    """The decisions of one rewrite."""

    # Casts between float types that the graph has now, and the remark of the passes for each
    # decision, with the path of the module.
    casts: int = 0
    low: int = 0
    remarks: list = dataclasses.field(default_factory=list)
    # Operations that keep their types because the rewritten graph was not valid
    # otherwise, with the reason.
    kept: dict = dataclasses.field(default_factory=dict)
    # Operations in no list of the policy, which keep their types.
    unlisted: dict = dataclasses.field(default_factory=dict)
    # Which assignment the strategy optimal took, and why.
    choice: str = ""
    # Pins of the options that match no module of the graph.
    unmatched: list = dataclasses.field(default_factory=list)

    def __str__(self):
        lines = [f"{self.low} operations in low precision, {self.casts} casts"]
        lines += [self.choice] if self.choice else []
        for name, reason in self.kept.items():
            lines.append(f"kept {name}: {reason}")
        for name, places in self.unlisted.items():
            lines.append(f"unlisted {name}, kept: {', '.join(places)}")
        return "\n".join(lines + self.remarks)


def find_amp_opt(given=None):
    """The path of amp-opt: the given one, AMP_OPT, on the PATH, or beside this
    package."""
    for origin, path in (("the option 'amp_opt'", given), ("AMP_OPT", os.environ.get("AMP_OPT"))):
        if path:
            found = shutil.which(path)
            if not found:
                raise GuestError(f"{origin} names '{path}', which is not an executable program")
            return found
    found = shutil.which("amp-opt")
    here = Path(__file__).resolve()
    places = [here.parent / "bin"] + [here.parents[3] / b / "bin" for b in ("build", "build-fast")]
    # Of an installation: share/amp/python/amp_torch.
    places += [parent / "bin" for parent in here.parents[4:5]]
    for place in places:
        found = found or shutil.which("amp-opt", path=str(place))
    if not found:
        raise GuestError(
            "amp-opt is not found; expected it on the PATH, in AMP_OPT or as the option 'amp_opt'"
        )
    return found


@dataclasses.dataclass(frozen=True)
class Options:
    """What decides on types. `policy` is a YAML file or a policy in place, by
    default the one for ATen of this package; `pins` maps globs over paths of
    modules to f32, low or keep."""

    precision: str = "bf16"
    policy: str | None = None
    strategy: str | None = None
    target: str | None = None
    pins: tuple = ()
    report: str | None = None
    amp_opt: str | None = None
    promote: bool = True

    def check(self):
        def expect(what, value, allowed):
            if value not in allowed:
                raise GuestError(f"unknown {what} {value!r}, expected one of {', '.join(allowed)}")

        expect("precision", self.precision, PRECISIONS)
        if self.strategy is not None:
            expect("strategy", self.strategy, STRATEGIES)
        if not isinstance(self.promote, bool):
            raise GuestError(f"promote: expected True or False, got {self.promote!r}")
        for path, pin in self.pins:
            expect(f"pin of '{path}'", pin, ("f32", "low", "keep"))
        if self.policy and "\n" not in self.policy and not self.policy.startswith("{"):
            if not Path(self.policy).exists():
                raise GuestError(f"there is no policy '{self.policy}', expected a YAML file")
        return self

    def shipped_policy(self, device):
        """The path of the policy of this package for graphs on `device`."""
        name = "aten-bf16" if self.keeps_promoted() and self.precision == "bf16" else "aten"
        if self.strategy == "autocast":
            name = f"aten-autocast-{device}"
        path = POLICIES / f"{name}.yaml"
        if not path.exists():
            raise GuestError(f"there is no policy for strategy 'autocast' on '{device}'")
        return path

    def policy_file(self, device, folder):
        """The path of the policy for graphs on `device`. What the options add goes to files in `folder`."""
        if not self.policy:
            path = self.shipped_policy(device)
        elif Path(self.policy).exists():
            path = Path(self.policy).resolve()
        else:
            path = Path(folder) / "in-place.yaml"
            path.write_text(self.policy)
        settings = {}
        if self.pins:
            settings["pins"] = dict(self.pins)
        if not self.promote:
            settings["promotions"] = "cost"
        if settings:
            # JSON is YAML.
            extended = Path(folder) / "policy.yaml"
            extended.write_text(json.dumps({"version": 1, "extends": str(path), **settings}))
            path = extended
        return str(path)

    def effective_strategy(self):
        """The strategy: the option, or what a policy of the user says, or optimal."""
        if self.strategy or not self.policy:
            return self.strategy or "optimal"
        text = Path(self.policy).read_text() if Path(self.policy).exists() else self.policy
        named = re.search(r"(?:^|[{,])\s*strategy:\s*['\"]?(\w+)", text, re.MULTILINE)
        return named[1] if named else "optimal"

    def low_type(self):
        """The low type of torch, or None."""
        return {"bf16": torch.bfloat16, "fp16": torch.float16}.get(self.precision)

    def keeps_promoted(self):
        """Whether values that type promotion makes f32 stay f32."""
        return self.promote and self.effective_strategy() == "optimal"

    def key(self):
        """A text that differs wherever the result of a rewrite may: the policies,
        the options, and the versions of amp-opt, torch and this package."""
        digest = hashlib.sha256()
        digest.update(repr(dataclasses.replace(self, amp_opt=None, report=None)).encode())
        if self.policy and Path(self.policy).exists():
            digest.update(Path(self.policy).read_bytes())
        for source in sorted(POLICIES.glob("*.yaml")) + sorted(Path(__file__).parent.glob("*.py")):
            digest.update(source.read_bytes())
        tool = find_amp_opt(self.amp_opt)
        stat = os.stat(tool)
        digest.update(f"{tool}:{stat.st_size}:{stat.st_mtime_ns}:{torch.__version__}".encode())
        return digest.hexdigest()


# A graph without operations.
EMPTY = 'func.func @graph() -> () {\n  "func.return"() : () -> ()\n}\n'


def run_amp_opt(text, options, device):
    """Runs the passes. Returns what `amp-export-types` wrote, and the remarks."""
    with tempfile.TemporaryDirectory() as folder:
        settings = {
            "policy": options.policy_file(device, folder),
            "precision": options.precision,
            "strategy": options.strategy,
            "target": options.target,
            "report": options.report,
        }
        passes = " ".join(f"{k}={v}" for k, v in settings.items() if v)
        source = Path(folder) / "graph.mlir"
        source.write_text(text)
        result = subprocess.run(
            [find_amp_opt(options.amp_opt), str(source), "--allow-unregistered-dialect",
             f"--auto-mixed-precision={passes}", f"--amp-export-types=key={KEY} output=-",
             "--remarks-filter=amp", "-o", os.devnull],
            capture_output=True, text=True,
        )  # fmt: skip
    if result.returncode:
        # The place in a temporary file says nothing.
        raise GuestError(f"amp-opt: {re.sub(rf'{re.escape(str(source))}:[0-9:]* (error: )?', '', result.stderr.strip())}")
    return json.loads(result.stdout)["functions"][0], result.stderr


def find_device(graph):
    """The kind of device of the graph's tensors, `cpu` without tensors."""
    kinds = {
        value.device.type
        for node in graph.nodes
        for value in flatten(node.meta.get("val"))
        if isinstance(value, torch.Tensor)
    }
    return next((kind for kind in sorted(kinds) if kind != "cpu"), "cpu")


def copy_graph(graph):
    """A copy with the same names and metadata."""
    copy, mapping = fx.Graph(), {}
    result = copy.graph_copy(graph, mapping)
    old_output = next(node for node in graph.nodes if node.op == "output")
    output = copy.output(result)
    output.meta = dict(old_output.meta)
    if hasattr(graph, "_codegen"):
        copy._codegen = graph._codegen
    return copy


def find_pins(graph, options, device):
    """The types that nodes have before the passes decide, by name."""
    if options.effective_strategy() == "autocast" or options.keeps_promoted():
        pins = guest_pins.pin_functions(graph, device)
        if options.effective_strategy() == "autocast":
            guest_pins.pin_sums(graph, pins)
        return pins
    return {}


# Rounds in which operations that the check refuses are pinned.
MAX_ROUNDS = 8


def rewrite_graph(graph, options):
    """Returns a copy of `graph` with types and casts, and the report."""
    options.check()
    if not guest_choice.is_bounded(options, find_device(graph), POLICIES):
        return assign_types(graph, options, options.effective_strategy() != "autocast")
    return guest_choice.choose(graph, options, assign_types, copy_graph)


def assign_types(graph, options, finite=True):
    """Returns a copy of `graph` with types and casts of one run of the passes, and the report. With `finite`,
    no number becomes infinite by a cast, or zero."""
    device = find_device(graph)
    as_autocast = options.effective_strategy() == "autocast"
    kept, unfused = {}, []
    original = graph
    graph = copy_graph(graph)
    if as_autocast:
        guest_units.mark_changes(graph)
    else:
        guest_units.resolve(graph)
    if as_autocast and device == "cpu" and options.low_type():
        unfused = guest_attention.round_operands(graph, options.low_type(), guest_pins.PRODUCTS, guest_pins.VIEWS)
    try:
        pins = {**find_pins(graph, options, device), **{node.name: "f32" for node in unfused}}
    except ValueError as error:
        raise GuestError(str(error)) from None
    for _ in range(MAX_ROUNDS):
        copy = copy_graph(graph)
        printer = Printer(copy, pins, options.low_type(), drop_vanishing=as_autocast)
        text = printer.print()
        types, messages = run_amp_opt(text, options, device)
        application = fx_apply.Application(printer, types).run()
        fx_apply.lower_numbers(application.expected, finite)
        mismatches = fx_apply.check(copy, application.expected)
        mismatches = mismatches or guest_kernels.find_missing(copy, application.expected)
        if not mismatches:
            if finite:
                fx_apply.keep_finite(application.casts)
            guest_units.resolve(copy)
            fx_apply.widen_again(copy)
            fx_apply.compute_again(copy)
            fx_apply.describe_tensors(copy)
            copy.lint()
            check_results(original, copy)
            report = make_report(copy, application, messages, kept)
            report.unmatched = find_unmatched(messages, options)
            return copy, report
        for node, reason in mismatches:
            culprit = node
            if node in application.casts or pins.get(node.name) == "keep":
                raise GuestError(f"the rewritten graph is not valid at '{node.name}': {reason}")
            pins[culprit.name] = "keep"
            kept[f"{culprit.name} ({module_path(culprit) or culprit.target})"] = reason
    raise GuestError(
        f"the rewritten graph is not valid after {MAX_ROUNDS} rounds: {next(iter(kept.items()))}"
    )


def check_results(before, after):
    """Raises an error unless the graphs give the same types."""

    def types(graph):
        output = next(node for node in graph.nodes if node.op == "output")
        return [
            n.meta["val"].dtype if isinstance(n.meta.get("val"), torch.Tensor) else None
            for n in output.all_input_nodes
        ]

    def leaves(graph):
        output = next(node for node in graph.nodes if node.op == "output")
        values = torch.utils._pytree.tree_leaves(output.args)
        return [
            n.meta["val"].dtype
            if isinstance(n, fx.Node) and isinstance(n.meta.get("val"), torch.Tensor)
            else None
            for n in values
        ]

    if leaves(before) != leaves(after):
        raise GuestError("the rewritten graph gives other types than the model; please report this")


def make_report(graph, application, messages, kept):
    report = Report(kept=dict(kept))
    report.casts = fx_apply.count_casts(graph)
    for node, types in application.expected.items():
        report.low += any(t in ("bf16", "f16") for t in types)
    for line in messages.splitlines():
        if "remark:" in line:
            report.remarks.append(line)
            found = re.search(r"Unlisted.*Op=([^,|\s]+)", line)
            if found:
                place = line.split(":", 1)[0]
                report.unlisted.setdefault(found[1], []).append(place)
    return report


def find_unmatched(messages, options):
    """The pins of the options that match no operation, by the warnings of amp-opt."""
    lines = [line for line in messages.splitlines() if "warning:" in line and "match" in line]
    return [path for path, _ in options.pins if any(f"'{path}'" in line for line in lines)]


def find_paths(graph):
    """The paths of the modules of a graph, in order."""
    return list(dict.fromkeys(filter(None, map(module_path, graph.nodes))))


# The paths of modules that a warning lists.
MAX_PATHS = 6


def warn_of_pins(report, paths, seen):
    """Warns of pins that match no module of a graph with modules at `paths`, and of none before, once each."""
    for pin in report.unmatched:
        if pin not in seen:
            seen.add(pin)
            listed = ", ".join(f"'{path}'" for path in paths[:MAX_PATHS]) + (", ..." if len(paths) > MAX_PATHS else "")
            warnings.warn(f"pins: '{pin}' matches no module of the graph, which has {listed or 'no modules'}; a pin is a glob over "
                          "paths of modules", stacklevel=3)


def as_options(precision, policy, strategy, target, pins, report, amp_opt, promote):
    check_version()
    if pins is not None and not isinstance(pins, Mapping):
        raise GuestError(f"pins: expected a dict from globs over module paths to f32, low or keep, got {type(pins).__name__}")
    pins = tuple((pins or {}).items())
    policy = os.fspath(policy) if policy is not None else None
    report = os.fspath(report) if report is not None else None
    return Options(precision_name(precision), policy, strategy, target, pins, report, amp_opt, promote).check()


def rewrite(graph_module, *, precision="bf16", policy=None, strategy=None, target=None, pins=None,
            report=None, amp_opt=None, promote=True):  # fmt: skip
    """Puts `graph_module`, a graph of ATen operations with fake tensors in its
    metadata, into mixed precision, and returns it. Its inputs and results keep their
    types. `graph_module.meta["amp"]` is the Report."""
    options = as_options(precision, policy, strategy, target, pins, report, amp_opt, promote)
    if not isinstance(graph_module, fx.GraphModule):
        raise GuestError(
            f"expected a torch.fx.GraphModule, got {type(graph_module).__name__}; "
            "torch.compile(model, backend=amp_torch.backend()) takes a model"
        )
    if all(node.meta.get("val") is None for node in graph_module.graph.nodes):
        raise GuestError(
            "the graph has no fake tensors ('val' in the metadata of its nodes); expected what "
            "make_fx, torch.export or AOTAutograd give"
        )
    paths = find_paths(graph_module.graph)
    graph_module.graph, graph_module.meta["amp"] = rewrite_graph(graph_module.graph, options)
    warn_of_pins(graph_module.meta["amp"], paths, set())
    graph_module.recompile()
    return graph_module


@contextlib.contextmanager
def whole_resampling():
    """While a graph is traced, keeps the operations of interpolation whole. torch would
    take them apart in f32, but their kernels compute in f32 and round once."""
    removed = []
    for name in dir(torch.ops.aten):
        if not name.lstrip("_").startswith("upsample_"):
            continue
        packet = getattr(torch.ops.aten, name)
        for overload in (getattr(packet, key) for key in packet.overloads()):
            for key in [key for key in overload.py_kernels if "Autograd" in str(key)]:
                removed.append((overload, key, overload.py_kernels.pop(key)))
            overload._dispatch_cache.clear()
    try:
        yield
    finally:
        for overload, key, kernel in removed:
            overload.py_kernels[key] = kernel
            overload._dispatch_cache.clear()


class Backend:
    """A backend of torch.compile. `reports` has a Report for each graph. `watch` counts values if it
    is not None."""

    def __init__(self, options, inner, watch=None):
        if inner not in INNER and not callable(inner):
            raise GuestError(f"unknown inner backend {inner!r}, expected {' or '.join(INNER)}")
        self.options, self.inner, self.watch = options, inner, watch
        self.reports = []
        self.saved_bytes = []
        # Pins that matched a module of a graph, or for which there was a warning.
        self.known_pins = set()
        # The names of the parameters in the graph of AOTAutograd that is rewritten next.
        self.leaves = set()

    def key(self):
        """The key of a cache of compiled graphs, in addition to the graph."""
        return self.options.key()

    def watch_report(self, path=None):
        """Returns the counts of the watched values as a dict with the content of --watch-json of
        amp-run. Writes them to `path`, as a page if the name ends in .html, else as JSON."""
        if not self.watch:
            raise GuestError("the backend counts no values; pass watch=True, or a regular expression for their names, "
                             "to amp_torch.backend")
        if not self.watch.records:
            raise GuestError("no value was watched: no graph was compiled, or the regular expression is in no name")
        report = self.watch.report()
        if path is not None:
            write_watched(report, os.fspath(path), self.options.amp_opt)
        return report

    def rewrite(self, graph_module):
        guest_units.set_leaves(graph_module.graph, self.leaves)
        graph, report = rewrite_graph(graph_module.graph, self.options)
        graph_module.graph = graph
        graph_module.recompile()
        self.reports.append(report)
        warn_of_pins(report, find_paths(graph), self.known_pins)
        self.known_pins |= {path for path, _ in self.options.pins}
        return graph_module

    def __call__(self, graph_module, example_inputs, **unused):
        if self.follows_autocast():
            self.leaves = guest_units.mark(graph_module)
        if self.inner == "inductor":
            from .guest_inductor import compile_with_inductor

            return compile_with_inductor(self, graph_module, example_inputs)
        from functorch.compile import default_partition, make_boxed_func
        from torch._dynamo.backends.common import aot_autograd

        watched = guest_watch.Graph(self.watch, graph_module) if self.watch else None

        def compile_part(part, inputs, backward=False):
            compiled = make_boxed_func(part.forward)
            return self.watch.wrap(watched, part, compiled, backward) if watched else compiled

        def compile_backward(part, inputs):
            return compile_part(part, inputs, backward=True)

        def partition(joint, inputs, **settings):
            forward, backward = default_partition(self.rewrite(joint), inputs, **settings)
            self.saved_bytes.append(guest_choice.count_saved(forward, settings["num_fwd_outputs"]))
            return forward, backward

        def compile_inference(part, inputs):
            return compile_part(self.rewrite(part), inputs)

        compiler = aot_autograd(
            fw_compiler=compile_part,
            bw_compiler=compile_backward,
            inference_compiler=compile_inference,
            partition_fn=partition,
            decompositions={},
        )
        with whole_resampling():
            return compiler(graph_module, example_inputs)

    def follows_autocast(self):
        """Whether a graph may get the types of autocast."""
        options = self.options
        if options.low_type() is None:
            return False
        return options.effective_strategy() == "autocast" or guest_choice.is_bounded(options, "cpu", POLICIES)


def write_watched(report, path, amp_opt):
    """Writes a report of watched values as JSON, or by amp-report as a page."""
    text = json.dumps(report)
    if not path.endswith(".html"):
        Path(path).write_text(text)
        return
    tool = shutil.which("amp-report", path=str(Path(find_amp_opt(amp_opt)).parent)) or shutil.which("amp-report")
    if not tool:
        raise GuestError("amp-report, which writes pages, is neither next to amp-opt nor on the PATH")
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "watch.json"
        source.write_text(text)
        result = subprocess.run([tool, str(source), "-o", path], capture_output=True, text=True)
    if result.returncode:
        raise GuestError(f"amp-report: {result.stderr.strip()}")


def make_watch(watch, every, precision):
    """The watched values that the options ask for, or None."""
    if watch is not None and not isinstance(watch, (bool, str)):
        raise GuestError(f"watch: expected True or a regular expression for names of values, got {watch!r}")
    if not isinstance(every, int) or isinstance(every, bool) or every < 1:
        raise GuestError(f"watch_every: expected a number of steps of at least 1, got {every!r}")
    if not watch:
        return None
    try:
        return guest_watch.Watch(watch, every, {"bf16": "bf16", "fp16": "f16"}.get(precision, ""))
    except re.error as error:
        raise GuestError(f"watch: expected a regular expression, got {watch!r}: {error}") from None


def backend(precision="bf16", *, policy=None, strategy=None, target=None, pins=None,
            inner="eager", report=None, amp_opt=None, watch=None, watch_every=1, promote=True):  # fmt: skip
    """A backend of torch.compile that stores values in `precision` where `policy`
    allows it: bf16, fp16, f32, or their types of torch. With `promote`, the strategy optimal keeps values f32 that type promotion makes f32.
    `inner` runs the result: `eager` or `inductor`. `watch` counts values: True for all, or
    a regular expression for their names; in one of `watch_every` calls of each graph."""
    options = as_options(precision, policy, strategy, target, pins, report, amp_opt, promote)
    find_amp_opt(amp_opt)
    if options.policy or options.target:
        # The passes check what the options name.
        run_amp_opt(EMPTY, options, "cpu")
    if watch and inner != "eager":
        raise GuestError(f"watch counts values with inner='eager', got {inner!r}")
    return Backend(options, inner, make_watch(watch, watch_every, options.precision))
