//===- CompiledStep.h - A function compiled for this machine ----*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// See https://llvm.org/LICENSE.txt for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AMP_EXECUTION_COMPILEDSTEP_H
#define AMP_EXECUTION_COMPILEDSTEP_H

#include "amp/Execution/Errors.h"
#include "amp/Runtime/Host/Array.h"
#include "amp/Runtime/Step/Interface.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/BuiltinTypes.h"
#include <memory>

namespace llvm {
class MemoryBuffer;
namespace orc {
class LLJIT;
} // namespace orc
} // namespace llvm

namespace mlir {
class ExecutionEngine;
} // namespace mlir

namespace mlir::amp {

/// Registers the translation of the LLVM dialect to LLVM IR.
void registerExecutionDialects(DialectRegistry &registry);

/// The bits of the widest vector registers of this machine: 128, 256 or 512.
unsigned getHostVectorBits();

/// The static type of one buffer that a compiled function takes.
struct BufferType {
  host::ElementType type = host::ElementType::F32;
  host::Shape shape;

  std::string describe() const { return host::describeShape(shape, type); }
};

/// The element type of buffers with elements of `type`, if there is one.
std::optional<host::ElementType> getElementType(Type type);

/// The buffer of a statically shaped argument or result. Messages call it
/// `what`.
llvm::Expected<BufferType> getBufferType(RankedTensorType type,
                                         llvm::StringRef what);

/// A function of memrefs, JIT-compiled at the highest optimisation level for
/// the host. It works in place on its buffers and returns nothing.
class CompiledStep {
public:
  /// Compiles `module`, which is in the LLVM dialect and does not change.
  /// `function` takes a pointer to the elements of each of `buffers`, which are
  /// contiguous and row-major. `cache` is a folder for compiled code, or empty.
  static llvm::Expected<std::unique_ptr<CompiledStep>>
  compile(ModuleOp module, llvm::StringRef function,
          llvm::ArrayRef<BufferType> buffers, llvm::StringRef cache = "");

  /// Loads code that `compile` wrote to the file `object`. Returns null if the
  /// code cannot be loaded, for example because the file is missing or damaged.
  /// `isParallel` says whether the code uses threads.
  static std::unique_ptr<CompiledStep>
  loadObject(llvm::StringRef object, bool isParallel, llvm::StringRef function,
             llvm::ArrayRef<BufferType> buffers);

  ~CompiledStep();

  /// The path of the object file, or an empty string.
  llvm::StringRef getObject() const { return object; }
  /// Whether the code uses threads.
  bool isParallel() const { return parallel; }

  llvm::ArrayRef<BufferType> getBuffers() const { return buffers; }

  /// Runs the function on one array per buffer, in order. Checks that the
  /// arrays have the types of `getBuffers`. `caller` runs the operations that
  /// the function calls.
  llvm::Error run(llvm::ArrayRef<host::Array *> arrays,
                  const amp_step_caller &caller = {});

  /// The most bytes that the allocator counted at one time in the last run,
  /// without the arrays of the caller.
  int64_t getPeakBytes() const { return peakBytes; }

private:
  CompiledStep();

  /// Loads compiled code, whose symbols may be in `libraries`.
  llvm::Error load(std::unique_ptr<llvm::MemoryBuffer> object,
                   llvm::StringRef function,
                   llvm::ArrayRef<StringRef> libraries);

  llvm::SmallVector<BufferType> buffers;
  std::string object;
  bool parallel = false;
  /// The owner of the code: the engine that compiled it, or `loaded`.
  std::unique_ptr<ExecutionEngine> engine;
  std::unique_ptr<llvm::orc::LLJIT> loaded;
  void (*entry)(void **) = nullptr;
  int64_t peakBytes = 0;
};

} // namespace mlir::amp

#endif // AMP_EXECUTION_COMPILEDSTEP_H
