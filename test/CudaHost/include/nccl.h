//===- nccl.h - NCCL on the CPU ---------------------------------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Replaces the header of NCCL when programs are compiled for the CPU. It
// declares only what they use. The ranks are processes of one machine, which
// exchange values over shared memory. A collective is work on a stream: it runs
// when the host waits for the stream, and waits there for the other ranks. The
// environment controls it:
//
//   AMP_NCCL_HOST_ORDER=ring|rank  the order of sums: that of a ring, with a
//     rounding to the type of the elements at each hop, which is the default,
//     or that of the ranks, in f32 for low types, with one rounding
//   AMP_NCCL_HOST_DELAY=rank:n:ms  that rank waits before its collective n
//   AMP_NCCL_HOST_EXIT=rank:n, AMP_NCCL_HOST_STOP=rank:n  that rank ends, or
//     stops for ever, before its collective n
//   AMP_NCCL_HOST_REGISTERED=1  a collective fails if its memory is not
//     registered
//   AMP_NCCL_HOST_SILENT=1  the end of a rank is not an error for the other
//     ranks. They wait, as kernels on a GPU may
//
// It rejects collectives that differ between the ranks in kind, number of
// elements, type, operation or order, or in whether they are captured, and
// buffers outside of device memory. Memory that a communicator has registered
// cannot be freed, and the communicator cannot be destroyed before it has
// deregistered all memory.
//
//===----------------------------------------------------------------------===//

#ifndef AMP_TEST_CUDAHOST_NCCL_H
#define AMP_TEST_CUDAHOST_NCCL_H

#include "cuda_runtime.h"

#define NCCL_UNIQUE_ID_BYTES 128
// A test may define an older version.
#ifndef NCCL_VERSION_CODE
#define NCCL_MAJOR 2
#define NCCL_MINOR 28
#define NCCL_VERSION_CODE 22809
#endif

struct ncclComm;
using ncclComm_t = ncclComm *;

struct ncclUniqueId {
  char internal[NCCL_UNIQUE_ID_BYTES];
};

enum ncclResult_t {
  ncclSuccess = 0,
  ncclUnhandledCudaError = 1,
  ncclSystemError = 2,
  ncclInternalError = 3,
  ncclInvalidArgument = 4,
  ncclInvalidUsage = 5,
  ncclRemoteError = 6,
  ncclInProgress = 7,
};

enum ncclDataType_t {
  ncclInt8 = 0,
  ncclUint8 = 1,
  ncclInt32 = 2,
  ncclUint32 = 3,
  ncclInt64 = 4,
  ncclUint64 = 5,
  ncclFloat16 = 6,
  ncclFloat32 = 7,
  ncclFloat64 = 8,
  ncclBfloat16 = 9,
};

enum ncclRedOp_t { ncclSum, ncclProd, ncclMax, ncclMin, ncclAvg };

struct ncclConfig_t {
  int blocking;
};
#define NCCL_CONFIG_INITIALIZER                                                \
  { 1 }

extern "C" {
ncclResult_t ncclGetUniqueId(ncclUniqueId *id);
ncclResult_t ncclCommInitRankConfig(ncclComm_t *communicator, int ranks,
                                    ncclUniqueId id, int rank,
                                    ncclConfig_t *config);
ncclResult_t ncclCommCount(ncclComm_t communicator, int *count);
ncclResult_t ncclCommUserRank(ncclComm_t communicator, int *rank);
ncclResult_t ncclCommDestroy(ncclComm_t communicator);
ncclResult_t ncclMemAlloc(void **memory, size_t bytes);
ncclResult_t ncclMemFree(void *memory);
ncclResult_t ncclCommRegister(const ncclComm_t communicator, void *memory,
                              size_t bytes, void **handle);
ncclResult_t ncclCommDeregister(const ncclComm_t communicator, void *handle);
ncclResult_t ncclCommGetAsyncError(ncclComm_t communicator,
                                   ncclResult_t *error);
const char *ncclGetErrorString(ncclResult_t result);
const char *ncclGetLastError(ncclComm_t communicator);

ncclResult_t ncclGroupStart();
ncclResult_t ncclGroupEnd();
ncclResult_t ncclAllReduce(const void *from, void *to, size_t count,
                           ncclDataType_t type, ncclRedOp_t operation,
                           ncclComm_t communicator, cudaStream_t stream);
ncclResult_t ncclReduceScatter(const void *from, void *to, size_t count,
                               ncclDataType_t type, ncclRedOp_t operation,
                               ncclComm_t communicator, cudaStream_t stream);
ncclResult_t ncclAllGather(const void *from, void *to, size_t count,
                           ncclDataType_t type, ncclComm_t communicator,
                           cudaStream_t stream);
} // extern "C"

#endif // AMP_TEST_CUDAHOST_NCCL_H
