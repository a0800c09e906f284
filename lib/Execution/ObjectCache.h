//===- ObjectCache.h - Compiled code of steps in files ----------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A step that starts again loads its machine code from a file. The name of the
// file is a hash of the lowered module, LLVM's version and the processor. A
// second file contains the name of the first. Its own name is a hash of the
// step before lowering. With it, the same build of this program skips the
// lowering. The cache is optional: a file that cannot be read or written is not
// an error.
//
//===----------------------------------------------------------------------===//

#ifndef AMP_LIB_EXECUTION_OBJECTCACHE_H
#define AMP_LIB_EXECUTION_OBJECTCACHE_H

#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/Support/MemoryBuffer.h"
#include <optional>

namespace mlir::amp {

/// The file in `folder` of the code of `module`, which is in the LLVM dialect.
std::string getObjectPath(ModuleOp module, llvm::StringRef folder);

/// The object file that `writeObject` wrote, or null if it does not exist or
/// is damaged.
std::unique_ptr<llvm::MemoryBuffer> readObject(llvm::StringRef path);

/// Writes the file `path`, whole or not at all, and returns whether it is
/// whole. `dump` writes an object file to the path that it receives, and
/// returns whether it succeeded.
bool writeObject(llvm::StringRef path,
                 llvm::function_ref<bool(llvm::StringRef)> dump);

/// The contents of the file that refers to the object file of a step.
struct StoredStep {
  /// The name of the object file in the folder.
  std::string object;
  bool isParallel = false;
  /// `BoundStep::plannedBytes`.
  std::optional<int64_t> plannedBytes;
};

/// Returns the file in `folder` that refers to the code of `module`, a step
/// before lowering. `options` describes everything else that the lowering
/// depends on. Each build of this program uses its own files. Returns an empty
/// string if the build cannot be identified.
std::string getStoredStepPath(ModuleOp module, llvm::StringRef options,
                              llvm::StringRef folder);

/// Reads a file that `writeStoredStep` wrote. Returns nothing if the file is
/// missing or damaged.
std::optional<StoredStep> readStoredStep(llvm::StringRef path);

/// Writes the file `path` completely or not at all.
void writeStoredStep(llvm::StringRef path, const StoredStep &step);

} // namespace mlir::amp

#endif // AMP_LIB_EXECUTION_OBJECTCACHE_H
