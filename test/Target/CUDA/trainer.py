# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# A trainer is amp-run to those who use it: a state of the one resumes in the
# other, is refused for the same reasons in the same words, also by the C
# interface, and the same script reads the metrics of both.
#
# RUN: rm -rf %t && mkdir %t
# RUN: %python %s %t '%cuda_host_cxx' '%cuda_host_lib'

import csv
import json
import os
import re
import subprocess
import sys

here = os.path.dirname(__file__)
sys.path[:0] = [os.path.join(here, "Inputs"), os.path.join(here, "../../Execution/Inputs")]
import numpy as np
import runner
from program import Builder, distances, join, run
from runner import MODEL, load, make_data

folder, compiler, library = sys.argv[1:4]
folder += "/"
# A program by hand, and a caller of the C interface, in the same compilation.
API = """
int main(int argc, char **argv) {
  if (std::string(argv[0]).find("interface") == std::string::npos)
    return runTrainer(argc, argv);
  const amp_step_program *program = nullptr;
  if (part0::part0_step_get_program(AMP_STEP_VERSION, &program, nullptr) != 0)
    return 1;
  amp_step_options options = {};
  options.size = sizeof(options);
  options.flags = (argv[2][0] == '1' ? AMP_STEP_OTHER_SCALER : 0) |
                  (argv[3][0] == '1' ? AMP_STEP_OTHER_BATCH_SIZE : 0);
  amp_step *step = nullptr;
  if (program->create(program, &options, &step) != 0)
    return 1;
  int code = program->load(step, argv[1]);
  std::printf("%d %s\\n", code, program->last_error());
  code = program->run(step, 0, -5);
  std::printf("%d %s\\n", code, program->last_error());
  double metrics[8];
  code = program->read_metrics(step, metrics, 1);
  std::printf("%d %s\\n", code, program->last_error());
  // A state of a program that is handed its batches.
  code = argc > 4 ? program->save(step, argv[4]) : 0;
  program->destroy(step);
  return code;
}
"""


def build():
    options = ["--batch-size", "8", "--precision", "fp16"]
    hand = f"{folder}hand.mlir"
    text = run(["amp-opt", MODEL, "--amp-cuda-pipeline=precision=fp16 batch-size=8 inference=step"])
    text, count = re.subn(r"attributes \{state = #cuda\.state<.*?\]>\} ", "", text)
    assert count == 1, text
    with open(hand, "w") as file:
        file.write(text)
    sources = {}
    for name, command in {"program": [*options, MODEL], "hand": [hand]}.items():
        sources[name] = run(["amp-translate", "--mlir-to-cuda", "--emit-main", *command])
    text = join(sources)
    start = text.rindex("int main(")
    with open(folder + "all.cu", "w") as file:
        file.write(text[:start] + "int runTrainer(" + text[start + len("int main("):] + API)
    builder = Builder(compiler, library, folder)
    run([*builder.compiler, folder + "all.cu", *builder.library, "-o", folder + "program"])
    for name in ("hand", "interface"):
        os.link(folder + "program", folder + name)


build()
np.savez(folder + "data.npz", **make_data())
data = ["--data", folder + "data.npz"]


def train(*arguments, program="program"):
    return run([folder + program, *data, "--quiet", *map(str, arguments)])


def train_on_cpu(*arguments, model=MODEL, batch=8, precision=("--precision", "fp16")):
    sized = ["--batch-size", str(batch)] if batch else []
    return run(["amp-run", model, *data, *sized, *precision, "--quiet", *map(str, arguments)])


def message(command):
    result = subprocess.run(list(map(str, command)), capture_output=True, text=True)
    assert result.returncode == 1 and result.stderr.count("error: ") == 1, (command, result)
    return result.stderr[result.stderr.index("error: ") + len("error: "):].rstrip()


# A state resumes on either side, in the middle of an epoch, and says the same.
resumed = {}
for name, first, second in (("there", train, train_on_cpu), ("back", train_on_cpu, train)):
    first("--seed", 5, "--steps", 9, "--save", folder + "part.npz")
    second("--load", folder + "part.npz", "--steps", 7, "--save", folder + name + ".npz")
    first("--seed", 5, "--steps", 16, "--save", folder + "whole.npz")
    apart = distances(folder + name + ".npz", folder + "whole.npz")
    print(name, apart)
    assert max(apart.values()) <= 1e-5, apart
    whole, resumed[name] = load(folder + "whole.npz"), load(folder + name + ".npz")
    for member in ("__amp_progress__", "__amp_scaler__"):
        assert (resumed[name][member] == whole[member]).all(), (name, member)
assert list(resumed["back"]["__amp_progress__"][[0, 1, 2, 3, 4, 5, 6, 7]]) == [2, 16, 5, 2, 32, 50, 8, 2]
assert b"scaler = amp.update_scale\n" in resumed["back"]["__amp_scaler__"].tobytes()

# What amp-run was run with otherwise: the trainer refuses its state, and amp-run
# that of the trainer.
with open(MODEL) as file:
    text = file.read()
momentum = folder + "momentum.mlir"
with open(momentum, "w") as file:
    file.write(text.replace("momentum = 0.9", "momentum = 0.8"))
own = folder + "own.npz"
train("--steps", 1, "--save", own)
OTHERS = {
    "graph": {"model": momentum},
    "precision": {"precision": ("--precision", "bf16")},
    "as written": {"precision": ()},
    "scaler": {"precision": ("--precision", "fp16", "--pipeline", "scaler=mxnet")},
    "constant": {"precision": ("--precision", "fp16", "--loss-scale", "1024")},
    "batch": {"batch": 5},
}
EXPECTED = {
    "graph": "it has the state of this step, but other operations",
    "precision": "was saved by a run with --precision bf16, but this one is with --precision fp16",
    "as written": "was saved by a run as written, without --precision, but this one is with --precision fp16",
    "scaler": "whose loss scaling has exact_interval = true, max_scale = 16777216, min_scale = 0, but that of this "
    "one has exact_interval = false, max_scale = 3.40282347E+38, min_scale = 1; expected the same, or --other-scaler",
    "constant": "whose loss scaling has scaler = ",
    "batch": "was saved by a run with a batch size of 5, but that of this one is 8; expected the same, or --batch-size=8",
}
EXPECTED["constant"] = "whose loss scaling has no scaler, but that of this one has scaler = amp.update_scale; expected"
# Messages of the C interface name its fields, functions and flags.
C_NAMES = {"--init": "write", "--precision": "precision", "--other-scaler": "AMP_STEP_OTHER_SCALER",
           "--batch-size": "AMP_STEP_OTHER_BATCH_SIZE"}
state = folder + "state.npz"
for name, other in OTHERS.items():
    train_on_cpu("--steps", 1, "--save", state, **other)
    text = message([folder + "program", *data, "--load", state, "--steps", 1, "--save", folder + "no.npz"])
    print(name, text, sep=": ", flush=True)
    assert EXPECTED[name] in text and not os.path.exists(folder + "no.npz"), text
    # The C interface gives code and message, and goes on.
    lines = run([folder + "interface", state, "0", "0"]).splitlines()
    for option, word in C_NAMES.items():
        text = text.replace(option, word)
    assert lines[0] == "4 " + text, (lines, text)
    # The other way round: amp-run refuses the trainer's with the same sentence.
    if name == "batch":
        continue
    command = ["amp-run", other.get("model", MODEL), *data, "--batch-size", "8",
               *other.get("precision", ("--precision", "fp16")), "--load"]
    back = message([*command, own, "--steps", 1])
    os.replace(state, folder + "kept.npz")
    train_on_cpu("--steps", 1, "--save", state)
    assert back.replace(own, state) == message([*command, state, "--steps", 1]), (name, back)
    os.replace(folder + "kept.npz", state)

# The requested run continues.
train_on_cpu("--steps", 1, "--save", state, **OTHERS["scaler"])
train("--load", state, "--steps", 1, "--other-scaler", "--save", folder + "after.npz")
after = load(folder + "after.npz")
assert (after["__amp_scaler__"] == resumed["back"]["__amp_scaler__"]).all()
assert run([folder + "interface", state, "1", "0"]).startswith("0 ")
train_on_cpu("--steps", 1, "--save", state, **OTHERS["batch"])
train("--load", state, "--steps", 1, "--batch-size", 8, "--save", folder + "after.npz")
train_on_cpu("--load", state, "--steps", 1, "--save", folder + "after.cpu.npz")
progress = [load(folder + name)["__amp_progress__"] for name in ("after.npz", "after.cpu.npz")]
assert (progress[0] == progress[1]).all() and progress[0][4] == 13, progress
assert run([folder + "interface", state, "0", "1"]).startswith("0 ")
# Without a batch size, amp-run goes on with that of the program.
train_on_cpu("--load", own, "--steps", 1, "--save", state, batch=None)
assert load(state)["__amp_progress__"][6] == 8

# The other errors of the interface; its saved states resume in amp-run.
lines = run([folder + "interface", own, "0", "0", folder + "handed.npz"]).splitlines()
assert lines[1] == "1 -5 steps to run, expected a number that is not negative", lines
assert re.fullmatch(r"1 1 metrics asked for, there are \d", lines[2]), lines
train_on_cpu("--load", folder + "handed.npz", "--steps", 1)
# A program by hand, which does not know what its states are of, compares none of
# this, and others do not take its states.
train_on_cpu("--steps", 1, "--save", state, **OTHERS["graph"])
train("--load", state, "--steps", 1, "--save", folder + "hand.npz", program="hand")
hand = load(folder + "hand.npz")
assert list(hand["__amp_progress__"]) == [1, 2, 0, 0, 16, 50] and "__amp_scaler__" not in hand
train("--load", folder + "hand.npz", "--steps", 1, program="hand")
for command in ([folder + "program"], ["amp-run", MODEL, "--precision", "fp16"]):
    text = message([*command, *data, "--load", folder + "hand.npz", "--steps", 1])
    assert "it has no member '__amp_progress__' of version 2; use --init for weights alone" in text, text

# Endless input, or input that is not a file: the trainer ends with an error, as amp-run
# does (test/Execution/endless-input.py).
os.mkfifo(folder + "fifo.npz")
with open(folder + "hole.npz", "wb") as file:
    file.truncate(1 << 43)
trainer = [folder + "program", "--quiet", "--steps", 1]
for path, text in (
    ("/dev/zero", "it is a device, a pipe or a socket, expected a file"),
    (folder + "fifo.npz", "it is a device, a pipe or a socket, expected a file"),
    (folder + "hole.npz", "not an .npz archive"),
    (folder, "irectory"),
):
    for command in ([*data, "--load", path], [*data, "--init", path], ["--data", path]):
        assert text in message([*trainer, *command]), (command, message([*trainer, *command]))
for path in ("/dev/zero", folder + "fifo.npz", folder):
    assert "cannot read" in message([*trainer, *data, "--tune-cache", path]), path
with open(folder + "hole.txt", "wb") as file:
    file.truncate(1 << 43)
assert "bytes, expected at most" in message([*trainer, *data, "--tune-cache", folder + "hole.txt"])

# Metrics: the same columns, keys and page.
tables, runs, pages = [], [], []
for name, command in (("cpu", train_on_cpu), ("gpu", train)):
    files = [f"{folder}{name}.{end}" for end in ("csv", "json", "html")]
    out = command("--seed", 7, "--seeds", 2, "--epochs", 2, "--eval", "--metrics-csv", files[0],
                  "--metrics-json", files[1], "--plot", files[2])
    with open(files[0], newline="") as file:
        tables.append(list(csv.DictReader(file)))
    with open(files[1]) as file:
        runs.append(json.load(file)["runs"])
    with open(files[2]) as file:
        pages.append(file.read())
    printed = runner.results(out)
    for key, value in printed.items():
        values = [each["results"][key] for each in runs[-1]]
        assert np.isclose(np.mean(values), value, rtol=1e-6), (key, values, value)
    assert "final loss: " in out and " +- " in out, out
cpu, gpu = tables
assert cpu[0].keys() == gpu[0].keys() and len(cpu) == len(gpu) == 2 * 2 * 6
FIXED = ("precision", "seed", "step", "epoch")
assert [[row[key] for key in FIXED] for row in cpu] == [[row[key] for key in FIXED] for row in gpu]
for first, second in zip(cpu, gpu):
    for key in first.keys() - set(FIXED):
        assert np.isclose(float(first[key]), float(second[key]), rtol=5e-3), (key, first, second)
for first, second in zip(*runs):
    assert [(k, first[k]) for k in ("precision", "seed")] == [(k, second[k]) for k in ("precision", "seed")]
    assert [step.keys() for step in first["steps"]] == [step.keys() for step in second["steps"]]
    only = first["results"].keys() ^ second["results"].keys()
    assert only == {"peak bytes planned", "peak bytes allocated", "bytes of device memory"}, only
    for key in ("final loss", "final loss scale", "skipped steps", "eval loss", "eval accuracy"):
        assert np.isclose(first["results"][key], second["results"][key], rtol=5e-3), key
# But for the title and the last digits of the loss.
assert len(pages[1].splitlines()) == len(pages[0].splitlines())
strip = lambda page: re.sub(r"[\d.]+", "0", page.replace(MODEL, "step"))
assert strip(pages[0]) == strip(pages[1])

# With - as the path of a file, standard output is only the contents of the file.
for option in ("--metrics-csv", "--metrics-json", "--plot"):
    train("--steps", 2, option, folder + "named")
    with open(folder + "named") as file:
        named = file.read()
    lines = train("--steps", 2, option, "-", option + "=-").splitlines()
    assert lines[0] == named.splitlines()[0] and len(lines) == len(named.splitlines()), (option, lines)
    assert not os.path.exists("-") and not os.path.exists("-.tmp")
text = message([folder + "program", *data, "--steps", 1, "--metrics-csv", "-", "--plot", "-"])
assert "--metrics-csv and --plot both write to standard output" in text, text
for command in ([folder + "program"], ["amp-run", MODEL, "--precision", "fp16", "--batch-size", "8"]):
    out = subprocess.run([*command, *data, "--quiet", "--steps", "1", "--save", "-"], capture_output=True, check=True).stdout
    with open(folder + "piped.npz", "wb") as file:
        file.write(out)
    assert load(folder + "piped.npz").keys() == whole.keys() and b"final loss scale: " not in out, command
# Both say the same, in the words of the host runtime, of options, files and data.
arrays = make_data()
np.savez(folder + "labels.npz", **{**arrays, "train_y": arrays["train_y"] + 3})
np.savez(folder + "shape.npz", **{**arrays, "train_x": np.zeros((50, 5), np.float32)})
np.savez(folder + "double.npz", **{**arrays, "train_x": arrays["train_x"].astype(np.float64)})
np.savez(folder + "weights.npz", weight=np.zeros((3, 4), np.float32))
with open(folder + "cut.npz", "wb") as file:
    file.write(open(folder + "data.npz", "rb").read()[:300])
for options in (["--save", folder + "absent/s.npz"], ["--metrics-csv", folder], ["--set", "rate=1", "--steps", 1],
                ["--seed", 2**64 - 1, "--seeds", 2], ["--steps", "x"], ["--epochs=-1"], ["--seeds", 0],
                ["--steps", 1, "--epochs", 1], ["--last-batch", "pad"], ["--set", "lr"], ["--other-scaler"],
                ["--synthetic"], ["--init", "a", "--load", "b"], ["--load", "a", "--seed", 1],
                ["--seeds", 2, "--save", folder + "s.npz"], ["--save", folder + "data.npz"],
                ["--data", folder + "data.npz"], ["--load", folder + "data.npz"], ["--load", folder + "none.npz"],
                ["--init", folder + "weights.npz"]):
    texts = {message([*command, *data, *options]) for command in ([folder + "program"], ["amp-run", MODEL])}
    assert len(texts) == 1, texts
    print(*texts)
for name in ("labels", "shape", "double", "cut", "none", "bias.npy"):
    command = ["--data", f"{folder}{name}.npz", "--steps", 1, "--batch-size", 8]
    texts = {message([*program, *command]) for program in ([folder + "program"], ["amp-run", MODEL])}
    assert len(texts) == 1, texts
    print(*texts)
# And of weights that lack a parameter, once.
np.savez(folder + "bias.npz", bias=np.zeros(3, np.float32))
expected = "warning: '" + folder + "bias.npz' has no array for 'weight': initial values stay"
for command in ([folder + "program"], ["amp-run", MODEL, "--precision", "fp16", "--batch-size", "8"]):
    result = subprocess.run([*command, *data, "--quiet", "--init", folder + "bias.npz", "--seeds", "2"],
                            capture_output=True, text=True, check=True)
    assert result.stderr.count("warning: ") == 1 and expected in result.stderr, result
if os.path.exists("/dev/full"):
    with open("/dev/full", "w") as full:
        result = subprocess.run([folder + "program", *data, "--quiet", "--steps", "1", "--metrics-csv", "-"], stdout=full,
                                stderr=subprocess.PIPE, text=True)
    assert result.returncode == 1 and "error: cannot write '<stdout>': No space left" in result.stderr, result

# The samples at the end of an epoch.
assert "the data set has 50 samples, which is not a multiple of the batch of 8" in message(
    [folder + "program", *data, "--steps", 1, "--last-batch=keep"])
whole = {key: array[:48] for key, array in make_data().items()}
np.savez(folder + "data.npz", **whole)
train("--epochs", 2, "--last-batch", "keep", "--save", folder + "keep.npz")
train("--epochs", 2, "--save", folder + "drop.npz")
assert max(distances(folder + "keep.npz", folder + "drop.npz").values()) == 0
