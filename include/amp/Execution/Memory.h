//===- Memory.h - What memory there is and who wants it ---------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// See https://llvm.org/LICENSE.txt for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AMP_EXECUTION_MEMORY_H
#define AMP_EXECUTION_MEMORY_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <cstdint>

namespace mlir::amp {

/// The bytes that this process can have at most: main memory and swap, less if
/// a limit of the process or of its control group says so.
uint64_t getMemoryLimit();

/// Fails if `what`, which takes `bytes`, cannot be had.
llvm::Error checkMemory(llvm::StringRef what, uint64_t bytes);

/// An `aligned_alloc` that never returns null: when memory runs out, LLVM's
/// handler for that is called, which does not return.
void *allocateArray(size_t alignment, size_t bytes);

/// The `aligned_alloc` and the `free` of compiled steps, which count what is
/// allocated. They go together: each knows its buffers by a header.
void *allocateForStep(size_t alignment, size_t bytes);
void freeForStep(void *pointer);

/// Bytes that compiled steps have asked for on this thread.
struct StepMemory {
  /// Those that are not freed yet, and the most there were.
  int64_t live = 0;
  int64_t peak = 0;
};

/// The count of this thread; whoever wants the peak of something sets it back
/// before.
StepMemory &getStepMemory();

/// Has the C library keep what compiled steps free, as far as it can be told:
/// each step allocates the same buffers again, and memory that went back to the
/// kernel has to be mapped and cleared again, page by page.
void keepFreedMemory();

} // namespace mlir::amp

#endif // AMP_EXECUTION_MEMORY_H
