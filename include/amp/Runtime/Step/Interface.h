//===- Interface.h - The C interface of a compiled step -----------*- C -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Every backend exports compiled training steps through this interface. It
// is C99 and needs nothing but the standard headers, so that other languages
// can call it. docs/step-interface.md is its manual.
//
// A program is a table of functions. A step is an instance of a program with
// its own state.
//
// Errors: each function that returns int32_t returns AMP_STEP_OK or an error
// code. After an error, program->last_error() is its message, until the next
// call of this thread. No function throws or aborts. Outputs do not change
// after an error, unless the function says so.
//
// Threads: any thread may call a step, but only one at a time. Different
// steps and all functions of programs may be called at the same time.
//
//===----------------------------------------------------------------------===//

#ifndef AMP_RUNTIME_STEP_INTERFACE_H
#define AMP_RUNTIME_STEP_INTERFACE_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The version of this interface. A later version may append members to the
 * structures without a new number: each structure begins with its size. */
#define AMP_STEP_VERSION 1

/* Error codes. */
enum {
  AMP_STEP_OK = 0,
  AMP_STEP_INVALID_ARGUMENT = 1, /* a null pointer, a wrong size or name */
  AMP_STEP_NO_DEVICE = 2,        /* no GPU, or a driver that is too old */
  AMP_STEP_OUT_OF_MEMORY = 3,    /* the message says how much is needed */
  AMP_STEP_FILE_ERROR = 4,       /* a file that is unreadable or does not fit */
  AMP_STEP_CUDA_ERROR = 5,       /* a call of the CUDA runtime failed */
  AMP_STEP_CUBLAS_ERROR = 6,     /* a call of cuBLASLt failed */
  AMP_STEP_UNSUPPORTED = 7,      /* the program or the device cannot do this */
  AMP_STEP_WRONG_VERSION = 9,    /* the library has another version */
  AMP_STEP_COMPILE_ERROR = 10    /* the step cannot be compiled */
};

/* Element types. A BOOL takes a byte, which is 0 or 1. */
enum {
  AMP_STEP_BOOL = 0,
  AMP_STEP_I8 = 1,
  AMP_STEP_I16 = 2,
  AMP_STEP_I32 = 3,
  AMP_STEP_I64 = 4,
  AMP_STEP_U8 = 5,
  AMP_STEP_U16 = 6,
  AMP_STEP_F16 = 7,
  AMP_STEP_BF16 = 8,
  AMP_STEP_F32 = 9,
  AMP_STEP_F64 = 10
};

/* The roles of tensors. The first four are state. */
enum {
  AMP_STEP_PARAMETER = 0,
  AMP_STEP_OPTIMIZER_STATE = 1,
  AMP_STEP_MODEL_STATE = 2,
  AMP_STEP_SCALER_STATE = 3,
  AMP_STEP_HYPERPARAMETER = 4,
  AMP_STEP_BATCH = 5,
  AMP_STEP_METRIC = 6,
  AMP_STEP_PREDICTION = 7
};

/* The lists of tensors. Each counts from 0. */
enum {
  AMP_STEP_LIST_STATES = 0, /* all four roles of state */
  AMP_STEP_LIST_HYPERPARAMETERS = 1,
  AMP_STEP_LIST_BATCHES = 2,
  AMP_STEP_LIST_METRICS = 3,
  AMP_STEP_LIST_PREDICTIONS = 4
};

/* Where data lie. The device of a step of the CPU is the host. */
enum { AMP_STEP_HOST = 0, AMP_STEP_DEVICE = 1 };

/* A tensor of a program or of a step. The caller sets `size` before the call.
 * Pointers belong to the program or to the step and live as long. */
typedef struct amp_step_tensor {
  uint32_t size; /* sizeof(amp_step_tensor) */
  int32_t role;
  int32_t type;
  int32_t rank;
  const int64_t *shape; /* `rank` extents; -1 is open */
  const char *name;     /* the name in the graph and in checkpoints */
  /* Contiguous and row-major. Null for a tensor of a program. The addresses of
   * states, hyperparameters and metrics never change. Those of predictions hold
   * until a batch of another size runs, and are null for a step of CUDA that
   * was created without predictions. Batches have null: use set_batch. */
  void *data;
  int64_t bytes;   /* -1 if an extent is open */
  int64_t classes; /* labels lie in [0, classes); 0: any number */
} amp_step_tensor;

/* Allocates and frees device memory. The functions are called by the thread
 * that creates or destroys the step. They must not throw, and must not call the
 * step. */
typedef struct amp_step_allocator {
  void *context; /* passed on */
  /* Returns `bytes` bytes with an alignment of at least 256 that work of
   * `stream` may use, or null. For the CPU the memory is host memory and
   * `stream` is null. */
  void *(*allocate)(void *context, uint64_t bytes, int32_t device,
                    void *stream);
  /* All work on the memory is complete. */
  void (*deallocate)(void *context, void *data, uint64_t bytes, int32_t device,
                     void *stream);
} amp_step_allocator;

/* A call of an operation of the caller, from an amp.call of the step. */
typedef struct amp_step_call {
  uint32_t size; /* sizeof(amp_step_call) */
  /* 0 calls the operation itself. Other numbers call its derivative: the last
   * `num_seeds` operands, which follow the operands of the operation, are the
   * gradients of the results `seeds`. Result i is the gradient of operand
   * wrt[i]. */
  int32_t num_seeds;
  const char *name; /* of the operation, as in the graph */
  int32_t num_operands;
  int32_t num_results;
  /* Each tensor has a type, a shape and data, which is contiguous and
   * row-major. Its role is -1, and its name is null. It is valid until the
   * function returns. */
  const amp_step_tensor *operands;
  const amp_step_tensor *results; /* the function writes their data */
  const int64_t *seeds;
  const int64_t *wrt;
  /* CUDA: the data are in the memory of the device of the step. Work that is
   * put on this cudaStream_t follows the launches before the call, and the
   * launches after the call follow it. Null for the CPU. */
  void *stream;
} amp_step_call;

/* The function that performs the operations of the caller. */
typedef struct amp_step_caller {
  void *context; /* the first argument of `call` */
  /* Returns AMP_STEP_OK, or another number to end the step with an error. The
   * parameters are then unchanged, but statistics that a forward pass updates
   * may have changed. The thread that runs the step calls this function. The
   * function must not throw. It may run steps of other programs, but no step of
   * this program. */
  int32_t (*call)(void *context, const amp_step_call *call);
} amp_step_caller;

/* Several processes can run a step together, as its ranks. They exchange bytes
 * of host memory by this function, for example through MPI or the process group
 * of another framework. */
typedef struct amp_step_exchange {
  void *context; /* the first argument of `exchange` */
  /* For each rank i, including this one, sends `bytes` bytes at send + i *
   * stride to rank i, and receives `bytes` bytes from rank i at receive + i *
   * bytes. All ranks make the same calls with the same `bytes`, in the same
   * order. Returns 0, or another number after an error. */
  int32_t (*exchange)(void *context, const void *send, uint64_t stride,
                      void *receive, uint64_t bytes);
} amp_step_exchange;

/* Flags of amp_step_options. */
enum {
  /* `stream` is the caller's. Without this flag the step makes its own. */
  AMP_STEP_CALLER_STREAM = 1 << 0,
  /* Leaves all states zero, for a caller that writes them through their
   * pointers. Without this flag, a state without an initial value must be
   * loaded or written before a run. */
  AMP_STEP_ZERO_STATES = 1 << 1,
  AMP_STEP_NO_GRAPH = 1 << 2,     /* launch each kernel by itself */
  AMP_STEP_POISON = 1 << 3,       /* fill temporaries with NaN before a step */
  AMP_STEP_TUNE = 1 << 4,         /* time the algorithms of products */
  AMP_STEP_OTHER_SCALER = 1 << 5, /* load checkpoints of other scaler rules */
  AMP_STEP_OTHER_BATCH_SIZE = 1 << 6, /* load those of another batch size */
  /* Computes no predictions in training steps and allocates no memory for them:
   * their addresses are null. The forward function still has predictions. */
  AMP_STEP_NO_PREDICTIONS = 1 << 7,
  /* Gives no addresses of states: they are null. A CUDA step can then keep
   * 8-bit copies of parameters from step to step. */
  AMP_STEP_NO_STATE_ADDRESSES = 1 << 8
};

/* How to create a step. A null pointer in place of the options, and zeros,
 * stand for the defaults. */
typedef struct amp_step_options {
  uint32_t size;  /* sizeof(amp_step_options) */
  uint32_t flags; /* of the enum above; the CPU ignores those of launches */
  /* The ordinal of the GPU; 0 for the CPU. With several ranks, -1 selects the
   * GPU of the local number that the launcher gave this process. */
  int32_t device;
  int32_t num_slots; /* slots of batches: 1 or 2; 0 stands for 1 */
  /* A cudaStream_t with AMP_STEP_CALLER_STREAM; null is the default stream. The
   * CPU takes null only. */
  void *stream;
  amp_step_allocator allocator; /* all null: the step allocates */
  uint64_t seed;                /* of initial values and random numbers */
  const char *tune_cache; /* a file of the fastest algorithms; may be null */
  /* For a program of several ranks. On CUDA, this is an ncclComm_t of the
   * caller, which must outlive the step, or null. If it is null, the ranks
   * connect NCCL through `exchange`. On the CPU, it must be null, and
   * `exchange` must not be.
   */
  void *communicator;
  int32_t rank;
  int32_t num_ranks; /* must be that of the program; 0 means 1 */
  /* Null unless the step calls operations of the caller. */
  amp_step_caller caller;
  /* May be null. `create` fails on every rank if the programs or options of the
   * ranks differ. The structure needs to exist only until `create` returns, but
   * its context must outlive the step. The threads that call the step call the
   * function, which must neither throw nor call the step. */
  const amp_step_exchange *exchange;
  /* CUDA: a rank that waits for others for more than this number of seconds
   * ends its process with a message. 0 means 600. */
  uint64_t deadline;
  uint64_t reserved[4]; /* 0 */
} amp_step_options;

/* Flags of amp_step_batch. */
enum {
  /* Copies on `stream`. Without this flag: on the stream of the step. */
  AMP_STEP_COPY_STREAM = 1 << 0
};

/* Data for a batch argument. */
typedef struct amp_step_batch {
  uint32_t size; /* sizeof(amp_step_batch) */
  uint32_t flags;
  int32_t slot;   /* below `num_slots` */
  int32_t index;  /* in the list of batches */
  int32_t memory; /* AMP_STEP_HOST or AMP_STEP_DEVICE */
  int32_t type;   /* must be that of the argument */
  int32_t rank;
  int32_t reserved;     /* 0 */
  const int64_t *shape; /* must fit that of the argument */
  const void *data;     /* contiguous and row-major */
  void *stream;         /* a cudaStream_t, with AMP_STEP_COPY_STREAM */
} amp_step_batch;

/* The formats of the report of watched values. */
enum {
  AMP_STEP_WATCH_TABLE = 0, /* lines of text: the values that matter most */
  AMP_STEP_WATCH_JSON = 1,  /* all values, as --watch-json of amp-run */
  AMP_STEP_WATCH_PAGE = 2   /* HTML, as --watch-page of amp-run */
};

typedef struct amp_step amp_step; /* an instance of a program */

/* A compiled program. `version`, `size` and `last_error` are the same in all
 * versions. A library has appended members only if `size` covers them. */
typedef struct amp_step_program {
  uint32_t version; /* AMP_STEP_VERSION of the library */
  uint32_t size;    /* sizeof(amp_step_program) in the library */
  /* The message of the last error of this thread, or an empty string. */
  const char *(*last_error)(void);

  const char *name;      /* of the step function */
  const char *backend;   /* "cuda" or "cpu" */
  const char *precision; /* "f32", "fp16", "bf16", ..., or "" as written */
  uint64_t fingerprint;  /* a hash of the graph, as in checkpoints */
  int64_t fixed_batch;   /* samples in a batch of a rank; 0: any number */
  int32_t has_forward;   /* whether create_forward works */
  /* The number of ranks that run the step together: 0 or 1 for one rank, -1 for
   * any number. */
  int32_t num_ranks;
  const void *internal; /* of the library */

  /* Frees a program without steps. No effect for a program in a shared library
   * that the caller loaded. */
  void (*release)(const struct amp_step_program *program);

  /* The number of tensors in a list. */
  int32_t (*count_tensors)(const struct amp_step_program *program, int32_t list,
                           int32_t *count);
  /* Describes a tensor of the program, without data. */
  int32_t (*describe_tensor)(const struct amp_step_program *program,
                             int32_t list, int32_t index,
                             amp_step_tensor *tensor);

  /* Creates a step: allocates all memory and gives states their initial
   * values. `*step` is null after an error. */
  int32_t (*create)(const struct amp_step_program *program,
                    const amp_step_options *options, amp_step **step);
  /* Waits for the step and frees it. Null has no effect. */
  void (*destroy)(amp_step *step);

  /* Describes a tensor of the step, with its data. */
  int32_t (*get_tensor)(amp_step *step, int32_t list, int32_t index,
                        amp_step_tensor *tensor);
  /* The bytes of device memory that the step has allocated. */
  int32_t (*get_memory)(amp_step *step, int64_t *bytes);
  /* The number of steps run, which a checkpoint keeps. */
  int32_t (*get_steps)(amp_step *step, int64_t *steps);

  /* Gives all states their initial values again. */
  int32_t (*initialize)(amp_step *step, uint64_t seed);
  /* Replaces all states by those of a checkpoint, of `save` or of amp-run. */
  int32_t (*load)(amp_step *step, const char *path);
  /* Writes a checkpoint. All ranks call this function, and rank 0 writes the
   * file. */
  int32_t (*save)(amp_step *step, const char *path);

  /* Waits and copies a tensor of any list but the batches to host memory.
   * `bytes` must be its size. */
  int32_t (*read)(amp_step *step, int32_t list, int32_t index, void *data,
                  uint64_t bytes);
  /* Copies host memory to a state or hyperparameter, and waits. */
  int32_t (*write)(amp_step *step, int32_t list, int32_t index,
                   const void *data, uint64_t bytes);
  /* Sets every element of a hyperparameter for the steps to come. Does not
   * wait. */
  int32_t (*set_hyperparameter)(amp_step *step, const char *name, double value);

  /* Runs what follows on another stream of the caller; null is the default
   * stream. Work there waits for the work that the step has enqueued. */
  int32_t (*set_stream)(amp_step *step, void *stream);
  /* Copies a batch into a slot, after the runs of that slot so far. Host memory
   * may be reused after the call; device memory when the copy is complete.
   * Labels in host memory are checked, labels in device memory are not. */
  int32_t (*set_batch)(amp_step *step, const amp_step_batch *batch);
  /* Enqueues steps on the batches of a slot and does not wait. The CPU runs
   * them before it returns. */
  int32_t (*run)(amp_step *step, int32_t slot, int32_t num_steps);
  /* Waits for all steps. */
  int32_t (*synchronize)(amp_step *step);
  /* Waits and reads the first element of each metric of the last step. `count`
   * must be the number of metrics. */
  int32_t (*read_metrics)(amp_step *step, double *values, int32_t count);

  /* Creates the forward function of a step, on the same device, with the
   * allocator and stream of the step. It has predictions and no metrics. It
   * has the states of the step at this time. The step must outlive it. */
  int32_t (*create_forward)(amp_step *step, amp_step **forward);
  /* Replaces the states of a forward function by the present ones of the step.
   */
  int32_t (*use_states)(amp_step *forward, amp_step *step);

  /* Appended in November 2026. Gathers the states that the ranks divide, so
   * that rank 0 can `read` them until the next run. All ranks call this
   * function. It has no effect if the ranks divide no state. */
  int32_t (*gather_states)(amp_step *step);

  /* Appended later in November 2026. Starts to count the watched values and
   * clears earlier counts. A step is counted if the number of steps run before
   * it is a multiple of `every`. 0 stops counting and keeps the counts. A run
   * with a counted step waits for it. After the first call, other steps compute
   * no predictions on CUDA, as with AMP_STEP_NO_PREDICTIONS. `done` sets the
   * number of steps run, for a caller that restored the state without the
   * library; -1 keeps the number. A positive `every` is an error if the program
   * was compiled without watched values, or if the step was created without
   * predictions. */
  int32_t (*watch)(amp_step *step, int64_t every, int64_t done);
  /* Waits, and prints the counts in one of the formats AMP_STEP_WATCH_*.
   * `title` names the run in a table, and the model in other formats. `*text`
   * belongs to the step and is valid until the next call. */
  int32_t (*report_watched)(amp_step *step, int32_t format, const char *title,
                            const char **text);
} amp_step_program;

/* The function of a shared library that returns its program, exported as
 * `amp_step_get_program`. Returns AMP_STEP_WRONG_VERSION if the library does
 * not have `version`. `message`, if not null, receives a text for an error, or
 * null.
 */
typedef int32_t (*amp_step_get_program_t)(uint32_t version,
                                          const amp_step_program **program,
                                          const char **message);

#ifdef __cplusplus
}
#endif

#endif /* AMP_RUNTIME_STEP_INTERFACE_H */
