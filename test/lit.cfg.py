# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# lit: which files are tests, which tools and substitutions they may use and
# which features a REQUIRES line may name.

import glob
import os
import shlex
import shutil
import subprocess
import sys

import lit.formats
from lit.llvm import llvm_config
from lit.llvm.subst import ToolSubst

config.name = "AMP"
config.test_format = lit.formats.ShTest(not llvm_config.use_lit_shell)
config.suffixes = [".mlir", ".test", ".py"]
# `Inputs` holds what tests read (data, helper modules); `data` the data sets.
config.excludes = ["Inputs", "consumer", "subdirectory", "data", "lit.cfg.py", "lit.site.cfg.py"]
# The times in .lit_test_times.txt next to this file let the first run of a build folder start with
# the longest tests. Later runs use their own measurements.
config.test_source_root = os.path.dirname(__file__)
config.test_exec_root = os.path.join(config.amp_obj_root, "test")


def runs(*command):
    """Whether the command can be started and succeeds."""
    try:
        return subprocess.run(command, capture_output=True).returncode == 0
    except OSError:
        return False


# Debian's python3 before the one on the PATH: it is the one whose numpy (and
# torch) the set-up installs.
pythons = [p for p in ("/usr/bin/python3", shutil.which("python3")) if p]
python = next((p for p in pythons if runs(p, "-c", "import numpy")), None)
if python is None:
    lit_config.fatal("no python3 with numpy; tools/dev setup says how to get it")

# The tools of the project, then FileCheck, not, count and mlir-opt of LLVM.
tools_dir = os.path.join(config.amp_obj_root, "bin")
llvm_config.with_environment("PATH", config.llvm_tools_dir, append_path=True)
llvm_config.with_environment("PATH", tools_dir, append_path=True)
llvm_config.use_default_substitutions()
llvm_config.add_tool_substitutions(
    [
        ToolSubst(name, unresolved="ignore")
        for name in (
            "amp-capi-shared-test",
            "amp-capi-test",
            "amp-lsp-server",
            "amp-model",
            "amp-opt",
            "amp-reduce",
            "amp-report",
            "amp-run",
            "amp-translate",
            "mlir-opt",
        )
    ],
    [tools_dir, config.llvm_tools_dir],
)


def compile_steps_quickly(tool):
    """Makes `amp-run` of the scripts that lit runs, and the tool that compiles for
    tests, unroll no loop in full: LLVM takes half of the time in which it compiles
    a step for that, and tests run a step a few times. Results stay the same bit for
    bit. RUN lines that name amp-run themselves, scripts that get its folder, and
    long runs take it as it is."""
    flag = "--unroll-full-max-count=1"
    try:
        result = subprocess.run([tool, flag, "--version"], capture_output=True, text=True)
    except OSError:
        return
    # An LLVM that lacks the option would fail every test.
    if result.returncode != 0 or result.stderr:
        return
    config.environment["AMP_TEST_LLVM_OPTIONS"] = flag
    folder = os.path.join(config.test_exec_root, "quick-bin")
    os.makedirs(folder, exist_ok=True)
    script = os.path.join(folder, "amp-run")
    # Another lit may be running tests of this folder.
    with open(f"{script}.{os.getpid()}", "w") as file:
        file.write(f'#!/bin/sh\nexec {shlex.quote(tool)} {flag} "$@"\n')
    os.chmod(file.name, 0o755)
    os.replace(file.name, script)
    llvm_config.with_environment("PATH", folder, append_path=True)


if not os.environ.get("AMP_LONG_TESTS"):
    compile_steps_quickly(os.path.join(tools_dir, "amp-run"))

config.substitutions.append(("%python", python))
config.substitutions.append(("%amp_src_root", config.amp_src_root))
config.substitutions.append(("%amp_obj_root", config.amp_obj_root))
for plugin in ("AMPPlugin", "ExamplePlugin"):
    path = os.path.join(config.amp_obj_root, "lib", plugin + ".so")
    name = plugin.replace("AMP", "amp_").replace("Example", "example_").lower()
    config.substitutions.append(("%" + name, path))
# Compiles CUDA sources for the CPU. The library comes after them. Compiling takes
# longer than running, so Clang takes the runtime precompiled and nothing is
# optimised; long runs use the compiler of the project, optimising.
# %plain_cuda_host_cxx reads the runtime itself, for sources that change its macros. Each is used
# with the library of its name.
cuda_host_archive = f"{config.amp_obj_root}/lib/libAMPCudaHost.a"
optimization = "-O1" if os.environ.get("AMP_LONG_TESTS") else "-O0"
plain_cuda_host_cxx = f"{config.amp_cxx} {config.amp_cuda_host_options} {optimization}"
cuda_host_cxx, cuda_host_link = config.amp_cuda_host_compiler, ""
if not cuda_host_cxx or os.environ.get("AMP_LONG_TESTS"):
    cuda_host_cxx = plain_cuda_host_cxx
else:
    # The object has every inline function, also those that use symbols that no library exports.
    cuda_host_link = f"-Wl,--gc-sections {config.amp_cuda_host_object} "
zlib = " -lz" if config.amp_zlib else ""
config.substitutions += [
    ("%cuda_host_cxx", f"{cuda_host_cxx} -x c++"),
    ("%cuda_host_lib", f"-x none {cuda_host_link}{cuda_host_archive}{zlib}"),
    ("%plain_cuda_host_cxx", f"{plain_cuda_host_cxx} -x c++"),
    ("%plain_cuda_host_lib", f"-x none {cuda_host_archive}{zlib}"),
]
config.substitutions.append(("%cc", config.amp_cc))
# Compiles what uses the host runtime alone, without zlib.
runtime_include = os.path.join(config.amp_src_root, "include")
config.substitutions.append(
    ("%host_cxx", f"{config.amp_cxx} -std=c++17 -Wall -Wextra -Werror -I{runtime_include}")
)
if "AMP_FUZZ_SECONDS" in os.environ:
    config.environment["AMP_FUZZ_SECONDS"] = os.environ["AMP_FUZZ_SECONDS"]
config.substitutions.append(("%fuzzers", "on" if config.amp_fuzzers else "off"))
config.substitutions.append(("%models", os.path.join(config.test_source_root, "Models")))
# How many random graphs a test of properties takes.
config.substitutions.append(
    ("%random_graphs", "20000" if os.environ.get("AMP_LONG_TESTS") else "150")
)
config.substitutions.append(
    ("%digits", os.path.join(config.test_source_root, "Models", "data", "digits.npz"))
)

if runs(python, "-c", "import torch"):
    config.available_features.add("torch")


def find_python(name, folder, statement, feature):
    """Adds `feature` and the substitution %`name`_python for the first Python that can
    run `statement`: the one that the environment names, or the one in `folder` of the
    source tree. `tools/dev NAME` installs the latter with pinned packages. Returns its
    path, or None."""
    for candidate in (
        os.environ.get(f"AMP_{name.upper()}_PYTHON"),
        os.path.join(config.amp_src_root, folder, "bin", "python"),
    ):
        if candidate and runs(candidate, "-c", statement):
            config.available_features.add(feature)
            config.substitutions.append((f"%{name}_python", candidate))
            return candidate
    return None


jax_python = find_python("jax", ".venv", "import jax", "jax")
if jax_python and runs(jax_python, "-c", "import flax, optax"):
    config.available_features.add("flax")
find_python("iree", ".venv-iree", "import iree.compiler, iree.runtime", "iree")
# Debian's PyTorch (the feature `torch`) has no torch.export.
torch_python = find_python("torch", ".venv-torch", "import torch.export", "torch-export")
find_python("oldest_torch", ".venv-torch-oldest", "import torch.export", "torch-oldest")
found = "from importlib.util import find_spec as f; exit(not (f('torchvision') and f('transformers')))"
if torch_python and runs(torch_python, "-c", found):
    config.available_features.add("torch-models")
# Steps of several ranks. Processes share the cores, so they must not spin while they wait.
config.environment.update(
    OMPI_ALLOW_RUN_AS_ROOT="1",
    OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1",
    OMPI_MCA_rmaps_base_oversubscribe="1",
    OMPI_MCA_mpi_yield_when_idle="1",
    OMPI_MCA_btl_vader_single_copy_mechanism="none",
)
if subprocess.run(
    ["sh", "-c", "mpirun -n 2 true"], capture_output=True, env={**os.environ, **config.environment}
).returncode == 0:
    config.available_features.add("mpi")
# debootstrap installs a Debian system in a folder. It needs root.
debootstrap = shutil.which("debootstrap", path=os.environ["PATH"] + ":/usr/sbin")
if debootstrap and os.geteuid() == 0 and runs("unshare", "--mount", "true"):
    config.available_features.add("debootstrap")
if shutil.which("chromium"):
    config.available_features.add("chromium")
nvcc = shutil.which("nvcc", path=config.environment["PATH"]) or shutil.which(
    "nvcc", path="/usr/local/cuda/bin"
)
if nvcc:
    config.available_features.add("nvcc")
    config.substitutions.append(("%cuda_compiler", nvcc))
    config.substitutions.append(
        (
            "%nvcc",
            # Device code is optimised all the same.
            f"{nvcc} -std=c++17 -O0 -Werror all-warnings -lineinfo -I{runtime_include}",
        )
    )
    folders = (os.path.join(os.path.dirname(nvcc), "..", "include"), "/usr/local/include", "/usr/include")
    if any(os.path.exists(os.path.join(folder, "nccl.h")) for folder in folders):
        config.available_features.add("nccl")
# The library over cuDNN answers without a GPU. It needs cuDNN, and a driver or the stub
# of the toolkit under the name of one.
cuda_stub = "/usr/local/cuda/lib64/stubs/libcuda.so"
if config.amp_has_cudnn and os.path.exists(cuda_stub) and runs(
    sys.executable, "-c", "import ctypes; ctypes.CDLL('libcudnn.so.9')"
):
    config.available_features.add("cudnn")
    config.substitutions.append(("%cuda_stub", cuda_stub))
    config.substitutions.append(
        ("%amp_cudnn", os.path.join(config.amp_obj_root, "lib", "libamp_cudnn.so"))
    )
# The tiers: what takes long requires `full`, what takes minutes `long`.
if os.environ.get("AMP_FULL_TESTS") or os.environ.get("AMP_LONG_TESTS"):
    config.available_features.add("full")
if os.environ.get("AMP_LONG_TESTS"):
    config.available_features.add("long")
    # TensorFlow is large and may be installed for a separate Python.
    for tensorflow_python in (os.environ.get("AMP_TENSORFLOW_PYTHON"), *pythons):
        if tensorflow_python and runs(tensorflow_python, "-c", "import tensorflow"):
            config.available_features.add("tensorflow")
            config.substitutions.append(("%tensorflow_python", tensorflow_python))
            break
    config.environment["AMP_LONG_TESTS"] = os.environ["AMP_LONG_TESTS"]

# Tests run in parallel already: one thread each keeps them from slowing each
# other down, and their results from depending on the number of cores.
config.environment["OMP_NUM_THREADS"] = "1"
config.environment["OPENBLAS_NUM_THREADS"] = "1"
config.environment["PYTHONDONTWRITEBYTECODE"] = "1"
config.environment["FILECHECK_OPTS"] = "--enable-var-scope --allow-unused-prefixes=false"

if not config.amp_link_mlir_dylib:
    config.available_features.add("static-mlir")

# Clang with the thread sanitizer, and libarcher, which tells it about OpenMP.
llvm_root = os.path.dirname(config.llvm_tools_dir)
if (
    os.path.exists(os.path.join(config.llvm_tools_dir, "clang"))
    and os.path.exists(os.path.join(llvm_root, "lib", "libarcher.so"))
    and glob.glob(os.path.join(llvm_root, "lib", "clang", "*", "lib", "linux", "libclang_rt.tsan-*.a"))
):
    config.available_features.add("thread-sanitizer")
    config.substitutions.append(("%llvm_bin", config.llvm_tools_dir))

if config.amp_sanitizer:
    config.available_features.add("sanitizer")
    # LLVM comes without sanitizers: it neither poisons what its allocators and
    # containers hand to our code nor frees its globals.
    config.environment["ASAN_OPTIONS"] = (
        "detect_leaks=0:detect_container_overflow=0:allow_user_poisoning=0"
    )
    config.environment["UBSAN_OPTIONS"] = "print_stacktrace=1:halt_on_error=1"
