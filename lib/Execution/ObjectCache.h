//===- ObjectCache.h - Compiled code of steps in files ----------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A step that starts again finds its machine code in a file. The name of the
// file is a hash of the lowered module, LLVM's version and the processor. The
// cache is optional: it is not an error if a file cannot be read or written.
//
//===----------------------------------------------------------------------===//

#ifndef AMP_LIB_EXECUTION_OBJECTCACHE_H
#define AMP_LIB_EXECUTION_OBJECTCACHE_H

#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/Support/MemoryBuffer.h"

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

} // namespace mlir::amp

#endif // AMP_LIB_EXECUTION_OBJECTCACHE_H
