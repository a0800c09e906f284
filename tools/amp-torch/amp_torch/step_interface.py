# Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The C interface of compiled steps in ctypes (amp/Runtime/Step/Interface.h and
amp-c/CompileStep.h). It needs neither torch nor numpy."""


import ctypes as c

VERSION = 1
OK, INVALID, NO_DEVICE, OUT_OF_MEMORY, FILE, CUDA, CUBLAS, UNSUPPORTED = range(8)
WRONG_VERSION, COMPILE = 9, 10
STATES, HYPERPARAMETERS, BATCHES, METRICS, PREDICTIONS = range(5)
HOST, DEVICE = range(2)
CALLER_STREAM, ZERO_STATES, NO_GRAPH, POISON, TUNE = (1 << i for i in range(5))
OTHER_SCALER, OTHER_BATCH, NO_PREDICTIONS, NO_STATE_ADDRESSES = (1 << i for i in range(5, 9))
COPY_STREAM = 1
#: Flags of CompileOptions.
SHARD_OPTIMIZER, NOTE_NUMBERS = 2, 4
WATCH_TABLE, WATCH_JSON, WATCH_PAGE = range(3)
TYPES = {"bool": 0, "int8": 1, "int16": 2, "int32": 3, "int64": 4, "uint8": 5, "uint16": 6, "float16": 7,
         "bfloat16": 8, "float32": 9, "float64": 10}
NAMES = {value: name for name, value in TYPES.items()}


class Tensor(c.Structure):
    _fields_ = [("size", c.c_uint32), ("role", c.c_int32), ("type", c.c_int32), ("rank", c.c_int32),
                ("shape", c.POINTER(c.c_int64)), ("name", c.c_char_p), ("data", c.c_void_p), ("bytes", c.c_int64),
                ("classes", c.c_int64)]


ALLOCATE = c.CFUNCTYPE(c.c_void_p, c.c_void_p, c.c_uint64, c.c_int32, c.c_void_p)
DEALLOCATE = c.CFUNCTYPE(None, c.c_void_p, c.c_void_p, c.c_uint64, c.c_int32, c.c_void_p)


class Call(c.Structure):
    _fields_ = [("size", c.c_uint32), ("num_seeds", c.c_int32), ("name", c.c_char_p), ("num_operands", c.c_int32),
                ("num_results", c.c_int32), ("operands", c.POINTER(Tensor)), ("results", c.POINTER(Tensor)),
                ("seeds", c.POINTER(c.c_int64)),
                ("wrt", c.POINTER(c.c_int64)), ("stream", c.c_void_p)]


CALL = c.CFUNCTYPE(c.c_int32, c.c_void_p, c.POINTER(Call))


class Caller(c.Structure):
    _fields_ = [("context", c.c_void_p), ("call", CALL)]


EXCHANGE = c.CFUNCTYPE(c.c_int32, c.c_void_p, c.c_void_p, c.c_uint64, c.c_void_p, c.c_uint64)


class Exchange(c.Structure):
    _fields_ = [("context", c.c_void_p), ("exchange", EXCHANGE)]


class Options(c.Structure):
    _fields_ = [("size", c.c_uint32), ("flags", c.c_uint32), ("device", c.c_int32), ("num_slots", c.c_int32),
                ("stream", c.c_void_p), ("context", c.c_void_p), ("allocate", ALLOCATE), ("deallocate", DEALLOCATE),
                ("seed", c.c_uint64), ("tune_cache", c.c_char_p), ("communicator", c.c_void_p), ("rank", c.c_int32),
                ("num_ranks", c.c_int32), ("caller", Caller), ("exchange", c.POINTER(Exchange)), ("deadline", c.c_uint64),
                ("reserved", c.c_uint64 * 4)]


class Batch(c.Structure):
    _fields_ = [("size", c.c_uint32), ("flags", c.c_uint32), ("slot", c.c_int32), ("index", c.c_int32),
                ("memory", c.c_int32), ("type", c.c_int32), ("rank", c.c_int32), ("reserved", c.c_int32),
                ("shape", c.POINTER(c.c_int64)), ("data", c.c_void_p), ("stream", c.c_void_p)]


class Program(c.Structure):
    pass


P, S, I = c.POINTER(Program), c.c_void_p, c.c_int32


def function(*arguments, result=I):
    return c.CFUNCTYPE(result, *arguments)


Program._fields_ = [
    ("version", c.c_uint32), ("size", c.c_uint32), ("last_error", function(result=c.c_char_p)),
    ("name", c.c_char_p), ("backend", c.c_char_p), ("precision", c.c_char_p), ("fingerprint", c.c_uint64),
    ("fixed_batch", c.c_int64), ("has_forward", I), ("num_ranks", I), ("internal", c.c_void_p),
    ("release", function(P, result=None)),
    ("count_tensors", function(P, I, c.POINTER(I))),
    ("describe_tensor", function(P, I, I, c.POINTER(Tensor))),
    ("create", function(P, c.POINTER(Options), c.POINTER(S))),
    ("destroy", function(S, result=None)),
    ("get_tensor", function(S, I, I, c.POINTER(Tensor))),
    ("get_memory", function(S, c.POINTER(c.c_int64))),
    ("get_steps", function(S, c.POINTER(c.c_int64))),
    ("initialize", function(S, c.c_uint64)),
    ("load", function(S, c.c_char_p)),
    ("save", function(S, c.c_char_p)),
    ("read", function(S, I, I, c.c_void_p, c.c_uint64)),
    ("write", function(S, I, I, c.c_void_p, c.c_uint64)),
    ("set_hyperparameter", function(S, c.c_char_p, c.c_double)),
    ("set_stream", function(S, c.c_void_p)),
    ("set_batch", function(S, c.POINTER(Batch))),
    ("run", function(S, I, I)),
    ("synchronize", function(S)),
    ("read_metrics", function(S, c.POINTER(c.c_double), I)),
    ("create_forward", function(S, c.POINTER(S))),
    ("use_states", function(S, S)), ("gather_states", function(S)), ("watch", function(S, c.c_int64, c.c_int64)),
    ("report_watched", function(S, I, c.c_char_p, c.POINTER(c.c_char_p))),
]


class CompileOptions(c.Structure):
    _fields_ = [("size", c.c_uint32), ("flags", c.c_uint32), ("backend", c.c_char_p), ("entry", c.c_char_p),
                ("precision", c.c_char_p), ("loss_scale", c.c_char_p), ("master_weights", c.c_char_p),
                ("pipeline", c.c_char_p), ("batch_size", c.c_int64), ("threads", c.c_uint32), ("device", c.c_int32),
                ("cuda_compiler", c.c_char_p), ("cuda_cache", c.c_char_p), ("cpu_cache", c.c_char_p),
                ("num_ranks", c.c_int32), ("rank", c.c_int32), ("watch", c.c_char_p)]


def load(path, version=VERSION):
    """The program of a shared library: code, program or None, message."""
    library = c.CDLL(path)
    program, message = P(), c.c_char_p(b"unset")
    code = library.amp_step_get_program(c.c_uint32(version), c.byref(program), c.byref(message))
    return code, program.contents if program else None, message.value, library


def compile_module(library, text, version=VERSION, size=c.sizeof(CompileOptions), **options):
    """The program of a module: code, program or None, message."""
    values = {name: value.encode() if isinstance(value, str) else value for name, value in options.items()}
    program, message = P(), c.c_char_p(b"unset")
    text = text if isinstance(text, bytes) else text.encode()
    code = library.amp_step_compile(c.c_uint32(version), text, c.c_uint64(len(text)),
                                    c.byref(CompileOptions(size=size, **values)), c.byref(program), c.byref(message))
    return code, program.contents if program else None, (message.value or b"").decode()


def shape_of(tensor):
    return tuple(tensor.shape[i] for i in range(tensor.rank))
