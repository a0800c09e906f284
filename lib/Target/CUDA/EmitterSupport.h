//===- EmitterSupport.h - What the parts of the emitter share ---*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AMP_LIB_TARGET_CUDA_EMITTERSUPPORT_H
#define AMP_LIB_TARGET_CUDA_EMITTERSUPPORT_H

#include "amp/Target/CUDA/CUDAEmitter.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/raw_ostream.h"

namespace mlir::cuda {

/// `name` as an identifier of C++: other characters become underscores.
std::string getIdentifier(StringRef name);

/// Gives identifiers that are unique.
class Identifiers {
public:
  std::string make(StringRef name);

private:
  llvm::StringSet<> taken;
};

/// The type of an element in memory: `__half`, `float`, `uint8_t` for i1.
StringRef getStorageType(Type type);
/// The type that kernels compute with: `float`, `bool` for i1.
StringRef getScalarType(Type type);
/// The enumerator of amp::cuda::Type: `F16`.
StringRef getTypeEnumerator(Type type);
/// `f32[64x128]`.
std::string describe(ShapedType type);
/// A literal of f32 or, if `isDouble`, of f64.
std::string getFloatLiteral(const APFloat &value, bool isDouble);
/// `value` as a string literal.
std::string quote(StringRef value);
/// `text`, which may be a name with any characters, for the inside of a
/// comment.
std::string getCommentText(StringRef text);
/// The file positions that `loc` carries: "model.mlir:12".
std::string describeLocation(Location loc);
/// The operations that a launch was made from, by the names in its locations.
std::string describeOperations(Operation *op);

/// Prints the scalar operations of a block.
class ScalarEmitter {
public:
  /// `indent` spaces in front of each line.
  ScalarEmitter(raw_ostream &os, unsigned indent) : os(os), indent(indent) {}

  void setName(Value value, std::string name) {
    names[value] = std::move(name);
  }
  /// Prints what `values` need of the operations of `block`.
  LogicalResult emit(Block &block, ValueRange values);
  /// The expression for `value`.
  std::string get(Value value) { return names.lookup(value); }

private:
  LogicalResult emit(Operation &op);

  raw_ostream &os;
  unsigned indent;
  DenseMap<Value, std::string> names;
};

/// Prints one program.
class ProgramEmitter {
public:
  ProgramEmitter(ProgramOp program, const EmitterOptions &options,
                 raw_ostream &os)
      : program(program), options(options), os(os) {}

  LogicalResult emit();
  /// Prints the program in a namespace, behind another one, with the rules by
  /// which its predictions are judged.
  LogicalResult emitForward();

private:
  void readProgram();
  LogicalResult verifyLaunches();
  LogicalResult emitParts();
  void emitBanner();
  bool isLossScale(BufferOp buffer);
  void emitPlan();
  /// Prints the elements of constants that do not count.
  void emitConstants();
  void emitProducts();
  LogicalResult emitOptimizers();
  LogicalResult emitKernels();
  LogicalResult emitKernel(KernelOp kernel);
  LogicalResult emitLaunches();
  LogicalResult emitLaunch(LaunchOpInterface launch);
  LogicalResult emitCall(CallOp call);
  void emitProduct(GemmOp gemm);
  void emitConvolution(ConvOp conv);
  void emitKernelLaunch(KernelOp kernel);
  void emitTables();

  /// Prints what computes `values` of `body` from the lanes at one place.
  LogicalResult emitValue(KernelOp kernel, ArrayRef<unsigned> order,
                          unsigned yielded, unsigned indent);
  /// The expression that reads element-wise input `index`.
  std::string getRead(KernelOp kernel, ArrayRef<unsigned> order,
                      unsigned index);

  std::string getName(LaunchOpInterface launch);
  /// `at::fc1_weight`.
  std::string getOffset(Value buffer);
  /// `run.at<float>(at::fc1_weight)`.
  std::string getPointer(Value buffer);
  /// The pointer to the flag of a launch, or `nullptr`.
  std::string getGuard(LaunchOpInterface launch);
  std::string getTickets();
  /// The buffer with this role, whose name is `name` unless that is empty.
  BufferOp findBuffer(StringRef role, StringRef name = {});

  ProgramOp program;
  const EmitterOptions &options;
  raw_ostream &os;
  Identifiers identifiers;
  DenseMap<Operation *, std::string> buffers;
  SmallVector<LaunchOpInterface> launches;
  DenseMap<Operation *, unsigned> products, tables;
  int64_t stateBytes = 0;
};

} // namespace mlir::cuda

#endif // AMP_LIB_TARGET_CUDA_EMITTERSUPPORT_H
