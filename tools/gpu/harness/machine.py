# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The interface of run.py to the machine: commands with a time limit, the GPU and its state in
nvidia-smi, the CUDA toolkit, files with arrays, and the process with PyTorch. Needs Python 3.8 and
no package."""

import array
import ast
import glob
import json
import math
import os
import pathlib
import select
import shutil
import signal
import struct
import subprocess
import sys
import sysconfig
import threading
import time
import zipfile

TIMEOUT = 124


# --- Commands -------------------------------------------------------------------

running = set()


def start(command, **options):
    """A process with its own group, so that its children end with it."""
    process = subprocess.Popen(list(map(str, command)), text=True, start_new_session=True, **options)
    running.add(process)
    return process


def end(process):
    if process.poll() is None:
        try:
            os.killpg(process.pid, signal.SIGKILL)
        except (ProcessLookupError, PermissionError):
            pass
        process.wait()
    running.discard(process)


def end_all():
    for process in list(running):
        end(process)


def execute(command, seconds, env=None):
    """The exit status and the output of a command, which is stopped at the limit. If it cannot be
    started, 127 and the reason."""
    try:
        process = start(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, errors="replace",
                        env=env)
    except OSError as error:
        return 127, str(error)
    try:
        text, _ = process.communicate(timeout=seconds)
        return process.returncode, text
    except subprocess.TimeoutExpired:
        return TIMEOUT, f"took more than {seconds:.0f} s"
    finally:
        end(process)


# --- Arrays of .npz files -------------------------------------------------------


def read_arrays(path):
    """The members of a file as lists of numbers, bf16 (stored as u2) too."""
    kinds = {"f4": "f", "f8": "d", "i4": "i", "i8": "q", "u1": "B", "b1": "B", "i1": "b", "i2": "h", "u2": "H"}
    arrays = {}
    with zipfile.ZipFile(path) as file:
        for name in file.namelist():
            data = file.read(name)
            start = 10 if data[6] == 1 else 12
            length = struct.unpack("<H" if data[6] == 1 else "<I", data[8:start])[0]
            header = ast.literal_eval(data[start : start + length].decode())
            kind, body = header["descr"][1:], data[start + length :]
            if kind == "f2":
                values = struct.unpack(f"<{len(body) // 2}e", body)
            elif kind == "u2":
                values = struct.unpack(f"<{len(body) // 2}f", b"".join(b"\0\0" + body[i : i + 2] for i in range(0, len(body), 2)))
            elif kind.startswith("U"):
                continue
            else:
                values = array.array(kinds[kind], body)
            arrays[name[: -len(".npy")]] = values
    return arrays


def distance(a, b):
    """Relative distance in the Euclidean norm; infinite if a number is not finite."""
    if len(a) != len(b) or not all(map(math.isfinite, a)):
        return math.inf
    norm = math.sqrt(math.fsum(x * x for x in b))
    difference = math.sqrt(math.fsum((x - y) ** 2 for x, y in zip(a, b)))
    return difference / norm if norm else difference


# --- The device and its tools -----------------------------------------------------


def find_tool(name, given=None):
    if given:
        return given
    homes = [os.environ.get("CUDA_HOME"), os.environ.get("CUDA_PATH"), "/usr/local/cuda"]
    return shutil.which(name) or next(
        (tool for home in homes if home and (tool := shutil.which(name, path=f"{home}/bin"))), None)


def find_packages():
    """The folders of Python packages with libraries of the toolkit."""
    return [base for path in {*sys.path, sysconfig.get_paths()["purelib"]} if path for base in glob.glob(f"{path}/nvidia/*")]


def find_library_folders(nvcc):
    """The folders that may have cuBLASLt and cuDNN: of the toolkit, if there is one, and of Python packages."""
    toolkit = pathlib.Path(shutil.which(nvcc) or nvcc).resolve().parents[1] if nvcc else pathlib.Path("/usr/local/cuda")
    folders = [toolkit / "lib64", toolkit / "lib", *toolkit.glob("targets/*/lib"), *(pathlib.Path(p) / "lib" for p in find_packages())]
    return [folder for folder in folders if folder.is_dir()]


def find_library(nvcc):
    """The flags by which nvcc and the program find cuBLASLt: of the toolkit, or of a Python
    package."""
    flags = []
    toolkit = pathlib.Path(shutil.which(nvcc) or nvcc).resolve().parents[1]
    packages = find_packages()
    for folder in find_library_folders(nvcc):
        found = sorted(folder.glob("libcublasLt.so*"))
        if found:
            name = "-lcublasLt" if found[0].name.endswith(".so") else f"-l:{found[0].name}"
            # nvcc does not take -Wl, and the program may not know the folder at run time.
            flags += [f"-L{folder}", name, "-Xlinker", f"-rpath,{folder}"]
            break
    else:
        flags.append("-lcublasLt")
    if not any((base / "include/cublasLt.h").exists() for base in [toolkit, *toolkit.glob("targets/*")]):
        flags += [f"-I{base}/include" for base in packages if os.path.exists(f"{base}/include/cublasLt.h")][:1]
    return flags


def find_header(name):
    """The folders of a header, in the order of a search: of the toolkit, the system, or a Python
    package."""
    packages = [f"{base}/include" for path in {*sys.path, sysconfig.get_paths()["purelib"]} if path
                for base in glob.glob(f"{path}/nvidia/*")]
    nvcc = find_tool("nvcc")
    toolkit = [str(pathlib.Path(shutil.which(nvcc) or nvcc).resolve().parents[1] / "include")] if nvcc else []
    return [path for path in [*toolkit, "/usr/include", *glob.glob("/usr/include/*-linux-gnu"), *packages]
            if os.path.exists(f"{path}/{name}")][:1]


def query_gpu():
    """Name, driver and architecture of the first GPU, or nothing."""
    if not shutil.which("nvidia-smi"):
        return None
    status, text = execute(["nvidia-smi", "--query-gpu=name,driver_version,compute_cap", "--format=csv,noheader"], 60)
    fields = text.splitlines()[0].split(", ") if status == 0 and text.strip() else []
    if len(fields) != 3:
        return None
    return {"name": fields[0], "driver": fields[1], "architecture": fields[2].replace(".", "")}


class Monitor:
    """The output of nvidia-smi twice a second, if it is installed."""

    FIELDS = {"clocks.sm": "SM MHz", "clocks.mem": "memory MHz", "power.draw": "W", "temperature.gpu": "degrees C"}

    def __init__(self, wanted):
        self.rows, self.process = [], None
        if wanted and shutil.which("nvidia-smi"):
            self.process = start(["nvidia-smi", f"--query-gpu={','.join(self.FIELDS)}", "--format=csv,noheader,nounits", "-lms", 500],
                                 stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL, errors="replace")
            threading.Thread(target=self.read, daemon=True).start()

    def read(self):
        for line in self.process.stdout:
            values = {}
            for name, text in zip(self.FIELDS.values(), line.split(",")):
                try:
                    values[name] = float(text)
                except ValueError:  # such as [N/A]
                    pass
            self.rows.append((time.monotonic(), values))

    def highest(self, since):
        """The largest value of each since a time. An idle GPU lowers its clock."""
        rows = [values for when, values in list(self.rows) if when >= since]
        return {name: max(values) for name in self.FIELDS.values() if (values := [row[name] for row in rows if name in row])}

    def stop(self):
        if self.process:
            end(self.process)
            self.process = None


# --- Peers ------------------------------------------------------------------------


class Peers:
    """The process of peers.py, or the reason why it is missing. A process that has ended or was
    ended is started again for the next request."""

    MOST_STARTS = 6

    def __init__(self, python, device, log):
        self.python, self.device, self.log = python, device, log
        self.process, self.starts, self.version = None, 0, None
        self.why = None if python else "no torch: --no-peers, or no stage asks for it"
        self.is_ready = False
        if python:
            self.start()

    @property
    def usable(self):
        return self.why is None

    def start(self):
        """Does not wait until PyTorch is imported."""
        self.starts += 1
        self.is_ready = False
        script = pathlib.Path(__file__).resolve().parents[1] / "peers.py"
        try:
            with open(self.log, "a") as log:
                self.process = start([self.python, script, self.device], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                     stderr=log, bufsize=1)
            self.write({"do": "about"})
        except OSError as error:
            self.stop()
            self.why = f"no torch: {error}"

    def write(self, request):
        self.process.stdin.write(json.dumps(request) + "\n")
        self.process.stdin.flush()

    def read(self, seconds):
        """The next answer. Ends the process if it does not answer in time."""
        try:
            if not select.select([self.process.stdout], [], [], max(1, seconds))[0]:
                error = f"PyTorch took more than {seconds:.0f} s"
            else:
                line = self.process.stdout.readline()
                if line:
                    return json.loads(line)
                error = "PyTorch ended early"
        except (OSError, ValueError) as problem:
            error = f"{type(problem).__name__}: {problem}"
        self.stop()
        return {"error": error}

    def prepare(self, seconds):
        """Waits for PyTorch and starts it again if necessary."""
        if not self.usable or self.is_ready:
            return
        if not self.process:
            if self.starts >= self.MOST_STARTS:
                self.why = f"PyTorch was started {self.starts} times"
                return
            self.start()
        if not self.process:
            return
        answer = self.read(seconds)
        self.version = answer.get("torch", self.version)
        self.is_ready = answer.get("usable", False)
        if not self.is_ready:
            self.why = answer.get("why") or answer.get("error") or "no torch"
            self.stop()

    def ask(self, limit, **request):
        """The answer to a request. It has an "error" if there is no other."""
        self.prepare(limit)
        if not self.usable:
            return {"error": self.why}
        try:
            self.write(request)
        except OSError as error:
            self.stop()
            return {"error": str(error)}
        return self.read(limit)

    def stop(self):
        if self.process:
            end(self.process)
            self.process = None
        self.is_ready = False
