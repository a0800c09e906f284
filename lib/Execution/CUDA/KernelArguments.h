//===- KernelArguments.h - Which numbers kernels take -----------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A number of a kernel is an argument if it varies between programs of the same
// model, and a literal otherwise. A record in the cache says which numbers of
// the programs of one pattern have varied. Without a record, a translation for
// another batch size finds these numbers.
//
//===----------------------------------------------------------------------===//

#ifndef AMP_LIB_EXECUTION_CUDA_KERNELARGUMENTS_H
#define AMP_LIB_EXECUTION_CUDA_KERNELARGUMENTS_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace mlir::amp {

using KernelNumbers = std::vector<int64_t>;

/// Returns, for each of `numbers`, whether it is an argument. `identity` is the
/// same for all programs whose numbers correspond. `findOther` returns the
/// numbers of such a program of other extents, if there is one. It is called
/// only if `folder`, the cache, has no record. The record is updated.
std::vector<bool> findKernelArguments(
    llvm::StringRef folder, llvm::StringRef identity,
    const KernelNumbers &numbers,
    llvm::function_ref<std::optional<KernelNumbers>()> findOther);

} // namespace mlir::amp

#endif // AMP_LIB_EXECUTION_CUDA_KERNELARGUMENTS_H
