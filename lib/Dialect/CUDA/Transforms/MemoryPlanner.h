//===- MemoryPlanner.h - Makes a program of a step --------------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AMP_LIB_DIALECT_CUDA_TRANSFORMS_MEMORYPLANNER_H
#define AMP_LIB_DIALECT_CUDA_TRANSFORMS_MEMORYPLANNER_H

#include "amp/Dialect/AMP/IR/StepSignature.h"
#include "amp/Dialect/CUDA/IR/CUDA.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/StringSet.h"

namespace mlir::cuda {

/// Memory for one or more values.
struct PlannedBuffer {
  std::string name;
  RankedTensorType type;
  StringRef role;
  Location loc;
  mlir::amp::InitAttr init = {};
  /// The elements of a constant.
  ElementsAttr value = {};
  /// The index bound of a batch argument.
  IntegerAttr indexBound = {};
  /// Whether the rows of a batch argument are cumulative lengths.
  bool isCumulative = false;
  /// The type of the whole tensor, for a state that the ranks divide.
  TypeAttr partOf = {};
  /// Whether the halves of its elements are stored apart.
  bool isSplit = false;
  /// The bucket, whose buffers are contiguous. 0: no bucket.
  unsigned bucket = 0;
  /// The results that alone need it. Nothing if training needs it.
  std::optional<Reader> reader = {};
  /// The numbers of the first and last operation that use it.
  unsigned first = 0, last = 0;
  int64_t bytes = 0, offset = 0;
  Value memref = {};

  bool isPersistent() const { return !role.empty(); }
  /// Whether it follows the arena, for callers that want predictions.
  bool isForPredictions() const { return reader == Reader::Predictions; }
};

/// Makes a program of one step.
class MemoryPlanner {
public:
  /// `ranks` is the number of ranks that run the program. 0: any number.
  MemoryPlanner(func::FuncOp step, const mlir::amp::StepSignature &signature,
                int64_t ranks)
      : step(step), signature(signature), ranks(ranks),
        block(step.getBody().front()),
        terminator(cast<func::ReturnOp>(block.getTerminator())),
        builder(step.getContext()) {}

  LogicalResult run();
  ProgramOp getProgram() { return program; }

  /// The sizes of the plan in bytes.
  int64_t stateBytes = 0, plannedBytes = 0, boundBytes = 0;
  /// Bytes that follow the arena, for the predictions of a training step.
  int64_t predictionBytes = 0;

private:
  void markReaders();
  Value copy(Value value, Operation *before, StringRef name);
  bool isReadAfter(Value state, Operation *op);
  bool mayUpdateInPlace(OpResult value, Value state);
  bool mayWriteOver(LaunchOpInterface launch, Value input);
  void moveUpdatesToEnd();
  void moveUpdatesBehindCalls();
  void assignResults();
  void keepCopies();
  void copyTiedInputs();
  LogicalResult assignTemporaries();
  void keepInputsOfCollectives(const DenseMap<Operation *, unsigned> &numbers);
  void joinBuckets();
  void reserveParts();
  void addScratch();
  void placePersistent();
  /// Places the temporaries that training or metrics need.
  void placeTemporaries();
  /// Moves kernels that count values next to each other, so that few launches
  /// run them. Each reads its values before their memory is overwritten.
  LogicalResult placeCounters();
  /// Finds the live ranges of the temporaries of predictions again.
  LogicalResult updatePredictionRanges();
  /// Places predictions and their temporaries.
  void placePredictions();
  /// Places the temporaries that are for predictions or not, from `begin` on.
  /// Returns their bytes, and the least bytes of any plan in `bound`.
  int64_t placeTemporaries(bool forPredictions, int64_t begin, int64_t &bound);
  void emit();
  /// Returns `value`, or its buffer in the shape of the value.
  Value getMemory(Value value, IRMapping &mapping, OpBuilder &inner);
  LaunchOpInterface emitLaunch(LaunchOpInterface launch, IRMapping &mapping,
                               OpBuilder &inner);
  void nameLaunches();
  /// The memory of an input of `launch`, which is operation `number`, that the
  /// result `target` may take over. Null if the result needs separate memory.
  PlannedBuffer *findReusable(LaunchOpInterface launch, unsigned target,
                              unsigned number);

  PlannedBuffer *makeBuffer(const Twine &name, RankedTensorType type,
                            StringRef role, Location loc);
  Value getRoot(Value value);
  std::string getUniqueName(const Twine &name);

  func::FuncOp step;
  const mlir::amp::StepSignature &signature;
  const int64_t ranks;
  Block &block;
  func::ReturnOp terminator;
  OpBuilder builder;
  std::vector<std::unique_ptr<PlannedBuffer>> buffers;
  /// The memory of arguments and launch results.
  DenseMap<Value, PlannedBuffer *> bufferOf;
  /// Scratch memory of launches.
  DenseMap<Operation *, PlannedBuffer *> scratchOf;
  /// The number of buckets with a range of memory.
  unsigned numBuckets = 0;
  llvm::StringSet<> names;
  ProgramOp program;
};

/// The type of the memory of a tensor.
MemRefType getBufferType(RankedTensorType type);

} // namespace mlir::cuda

#endif // AMP_LIB_DIALECT_CUDA_TRANSFORMS_MEMORYPLANNER_H
