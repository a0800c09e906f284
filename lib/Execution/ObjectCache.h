//===- ObjectCache.h - Compiled code of steps in files ----------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A step that starts again finds its machine code in a file. The name of the
// file is a hash of the lowered module, LLVM's version and the processor. A
// second file, with a hash of the step before it is lowered, names the first,
// so the same build of this program does not lower the step. The cache is
// optional: it is not an error if a file cannot be read or written.
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

/// Writes the file `path`, whole or not at all. `dump` writes an object file
/// to the path that it receives.
void writeObject(llvm::StringRef path,
                 llvm::function_ref<void(llvm::StringRef)> dump);

/// The code of a step, as a file next to its object file keeps it.
struct StoredStep {
  /// The name of the object file in the folder.
  std::string object;
  bool isParallel = false;
  /// `BoundStep::plannedBytes`.
  std::optional<int64_t> plannedBytes;
};

/// The file in `folder` that says which code `module` becomes, which is a step
/// before it is lowered. `options` are all that the lowering depends on besides
/// the module. Another build of this program has other files. Empty if the
/// program cannot be identified.
std::string getStoredStepPath(ModuleOp module, llvm::StringRef options,
                              llvm::StringRef folder);

/// What `writeStoredStep` wrote, if it exists and is not damaged.
std::optional<StoredStep> readStoredStep(llvm::StringRef path);

/// Writes the file `path`, whole or not at all.
void writeStoredStep(llvm::StringRef path, const StoredStep &step);

} // namespace mlir::amp

#endif // AMP_LIB_EXECUTION_OBJECTCACHE_H
