//===- ProductTable.h - What a library says of products ---------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Looks up the products of an emitted program in the table that the stage
// `probe` of `tools/dev gpu` writes: the answers of the heuristics of cuBLASLt
// on one GPU.
//
//===----------------------------------------------------------------------===//

#ifndef AMP_TARGET_CUDA_PRODUCTTABLE_H
#define AMP_TARGET_CUDA_PRODUCTTABLE_H

#include "mlir/Support/LLVM.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <string>
#include <vector>

namespace mlir::cuda {

/// The products of a program that a table does not accept, by their names.
struct ProductAnswers {
  /// The GPU and the version of the library.
  std::string library;
  /// Products for which the library has no algorithm.
  std::vector<std::string> refused;
  /// Products that the table does not have.
  std::vector<std::string> unknown;
};

/// Looks up the products of `source`, a program that `emitCUDA` printed, in the
/// table of the JSON text `table`. A product of 8-bit floats that is not in the
/// table is known by its types and scale modes: it is refused if the library
/// refuses all extents of the grid. Returns an error if the text is not a
/// table.
llvm::Expected<ProductAnswers> lookUpProducts(StringRef source,
                                              StringRef table);

} // namespace mlir::cuda

#endif // AMP_TARGET_CUDA_PRODUCTTABLE_H
