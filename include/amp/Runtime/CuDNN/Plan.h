//===- Plan.h - The C interface of cuDNN's graphs -----------------*- C -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Generated programs reach the graphs of cuDNN through this C99 interface. The
// library amp_cudnn implements it over the headers of cuDNN's frontend, which
// take a minute to compile, so that no generated source includes them.
// The library loads cuDNN when a plan is created and needs it nowhere else.
//
// A plan is one graph for fixed shapes, types and strides. Attention.h and
// similar headers describe plans and name their pointers.
//
// Errors: each function that returns int32_t returns AMP_CUDNN_OK or an error
// code. After an error, amp_cudnn_last_error() is its message, until the next
// call of this thread. No function throws. Outputs do not change after an
// error.
//
// Threads: any thread may create, run and destroy plans, but only one at a
// time may use the same plan.
//
//===----------------------------------------------------------------------===//

#ifndef AMP_RUNTIME_CUDNN_PLAN_H
#define AMP_RUNTIME_CUDNN_PLAN_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Marks the functions that the library exports. */
#define AMP_CUDNN_EXPORT __attribute__((visibility("default")))

/* Error codes. */
enum {
  AMP_CUDNN_OK = 0,
  AMP_CUDNN_INVALID = 1,     /* a null pointer or a description without sense */
  AMP_CUDNN_UNAVAILABLE = 2, /* cuDNN, the CUDA runtime or a GPU is missing */
  AMP_CUDNN_UNSUPPORTED = 3, /* cuDNN has no kernel for this graph */
  AMP_CUDNN_UNKNOWN = 4,     /* a check without a GPU cannot tell */
  AMP_CUDNN_FAILED = 5       /* a call of cuDNN or of the CUDA runtime failed */
};

/* Element types. */
enum {
  AMP_CUDNN_F32 = 0,
  AMP_CUDNN_F16 = 1,
  AMP_CUDNN_BF16 = 2,
  AMP_CUDNN_I32 = 3,
  AMP_CUDNN_I64 = 4
};

/* Every data pointer and the workspace are multiples of this number of bytes
 * unless a header says otherwise. */
#define AMP_CUDNN_ALIGNMENT 16

typedef struct amp_cudnn_plan amp_cudnn_plan;

/* The bytes of device memory that amp_cudnn_run needs as its workspace. */
AMP_CUDNN_EXPORT int64_t amp_cudnn_workspace_bytes(const amp_cudnn_plan *plan);

/* Enqueues the plan on `stream`, a cudaStream_t. `pointers` has an entry of
 * device memory for each name of the plan's kind; an entry that the plan does
 * not use may be null. The call allocates nothing, waits for nothing, and may
 * be captured into a CUDA graph. */
AMP_CUDNN_EXPORT int32_t amp_cudnn_run(amp_cudnn_plan *plan,
                                       void *const *pointers, void *workspace,
                                       void *stream);

/* Does nothing with null. */
AMP_CUDNN_EXPORT void amp_cudnn_destroy(amp_cudnn_plan *plan);

/* The message of the last error of this thread, never null. */
AMP_CUDNN_EXPORT const char *amp_cudnn_last_error(void);

/* The version of the cuDNN that is loaded, as in CUDNN_VERSION, or 0 without
 * cuDNN. */
AMP_CUDNN_EXPORT int64_t amp_cudnn_version(void);

#ifdef __cplusplus
}
#endif

#endif /* AMP_RUNTIME_CUDNN_PLAN_H */
