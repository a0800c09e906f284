//===- CompileStep.h - Compiles steps for the C interface ---------*- C -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Compiles a module to a program of amp/Runtime/Step/Interface.h. The shared
// library libAMPStep.so exports this function. It needs no header of MLIR.
//
//===----------------------------------------------------------------------===//

#ifndef AMP_C_COMPILESTEP_H
#define AMP_C_COMPILESTEP_H

#include "amp/Runtime/Step/Interface.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Flags of amp_step_compile_options. */
enum {
  AMP_STEP_STRICT_ROUNDING = 1 << 0, /* cuda: as --strict-rounding */
  AMP_STEP_SHARD_OPTIMIZER = 1 << 1, /* as --shard-optimizer; needs num_ranks */
  /* cuda: translates the step and notes its numbers, so that later programs
   * that differ from it in numbers alone take these as arguments. Compiles
   * nothing, and gives a null program. Appended in November 2026. */
  AMP_STEP_NOTE_NUMBERS = 1 << 2
};

/* How to compile. Null pointers and zeros stand for the defaults. Texts are
 * those of the options of amp-run. */
typedef struct amp_step_compile_options {
  uint32_t size;              /* sizeof(amp_step_compile_options) */
  uint32_t flags;             /* of the enum above */
  const char *backend;        /* "cpu" (the default) or "cuda" */
  const char *entry;          /* the step function; default: the only one */
  const char *precision;      /* "f32", "fp16", "bf16"; default: as written */
  const char *loss_scale;     /* needs a precision */
  const char *master_weights; /* needs a precision */
  const char *pipeline;       /* further options; needs a precision */
  int64_t batch_size;         /* cuda: fixes an open batch */
  uint32_t threads;           /* cpu: 0 chooses */
  int32_t device;             /* cuda: the GPU to compile for */
  const char *cuda_compiler;  /* cuda: as --cuda-compiler */
  const char *cuda_cache;     /* cuda: as --cuda-cache */
  /* Appended in November 2026; a smaller `size` leaves it out. */
  const char *cpu_cache; /* cpu: a folder for compiled code; null: none */
  /* Appended later in November 2026. The number of ranks that run the step
   * together (0 means 1), and the rank of this process. `batch_size` is then
   * the batch of one rank. */
  int32_t num_ranks;
  int32_t rank;
  /* Appended later in November 2026. A regular expression that selects the
   * values that `watch` of a program counts by their names, as --watch of
   * amp-run does. "." selects all values. Null: no counts. On CUDA the counts
   * are also predictions. */
  const char *watch;
} amp_step_compile_options;

/* Compiles the step of a module, which is `length` bytes of MLIR text or
 * bytecode. program->release frees the program; its steps must be destroyed
 * first. A program of CUDA stays loaded to the end of the process: `release`
 * has no effect. `version` is AMP_STEP_VERSION. For an error returns its code,
 * and in `message`, if not null, its text with the diagnostics of MLIR, until
 * the next call of this thread. Threads may call it at the same time. */
int32_t amp_step_compile(uint32_t version, const char *module, uint64_t length,
                         const amp_step_compile_options *options,
                         const amp_step_program **program,
                         const char **message);

#ifdef __cplusplus
}
#endif

#endif /* AMP_C_COMPILESTEP_H */
