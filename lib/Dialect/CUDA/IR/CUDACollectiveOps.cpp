//===- CUDACollectiveOps.cpp - Values of several ranks --------------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LaunchSupport.h"

#include "amp/Dialect/AMP/IR/AMPCollectiveOps.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace mlir::cuda;

//===----------------------------------------------------------------------===//
// Launches
//===----------------------------------------------------------------------===//

/// Verifies the rules of every collective.
static LogicalResult verifyCollective(LaunchOpInterface op) {
  if (op.getPredicate())
    return op->emitOpError("has a predicate, but all ranks must execute it");
  if (getReader(op))
    return op->emitOpError("has a reader, but all ranks must execute it in "
                           "every step");
  return verifyLaunch(op);
}

/// Whether the ranks can combine values of type `element` by `reduction`.
static bool canReduce(RankReduction reduction, Type element) {
  switch (reduction) {
  case RankReduction::Sum:
    return isa<FloatType>(element) || element.isInteger(32) ||
           element.isInteger(64);
  case RankReduction::Max:
    return element.isInteger(32) || element.isInteger(64);
  case RankReduction::And:
    return element.isInteger(1);
  }
  return false;
}

LogicalResult AllReduceOp::verify() {
  auto launch = cast<LaunchOpInterface>(getOperation());
  if (failed(verifyCounts(launch, getInputs().size(), getInputs().size())))
    return failure();
  for (unsigned index = 0; index < getInputs().size(); ++index) {
    ShapedType input = launch.getInputType(index);
    Type element = input.getElementType();
    if (!canReduce(getReduction(), element))
      return emitOpError("combines ")
             << element << " by '" << stringifyRankReduction(getReduction())
             << "', expected "
             << (getReduction() == RankReduction::Sum   ? "floats, i32 or i64"
                 : getReduction() == RankReduction::Max ? "i32 or i64"
                                                        : "i1");
    if (failed(verifyType(*this, "an output", launch.getTargetType(index),
                          input.getShape(), element)))
      return failure();
  }
  return verifyCollective(launch);
}

std::optional<unsigned> AllReduceOp::getTiedInput(unsigned target) {
  return target;
}

bool AllReduceOp::mayAlias(unsigned target, unsigned input) {
  return target == input && mayOverwrite(*this, target, input);
}

int64_t AllReduceOp::getFlops() {
  int64_t elements = 0;
  for (Value input : getInputs())
    elements += cast<ShapedType>(input.getType()).getNumElements();
  return elements;
}

/// Verifies that `part` is a contiguous part of `whole` along dimension
/// `along`, or a flat part.
static LogicalResult verifyPart(LaunchOpInterface op, ShapedType whole,
                                ShapedType part, int64_t along) {
  if (failed(verifyAxis(op, along, whole.getShape())))
    return failure();
  if (getAxisExtents(whole, along).outer != 1)
    return op->emitOpError("divides dimension ")
           << along << " of " << formatList(whole.getShape())
           << ", expected the extents before it to be 1";
  const bool isFlat =
      whole.getRank() == 1 && mlir::amp::isFlatPart(whole, part);
  SmallVector<int64_t> expected(isFlat ? part.getShape() : whole.getShape());
  if (!isFlat && part.getRank() == whole.getRank() &&
      part.getDimSize(along) > 0 &&
      whole.getDimSize(along) % part.getDimSize(along) == 0)
    expected[along] = part.getDimSize(along);
  Type element = whole.getElementType();
  if (failed(verifyType(op, "a part", part, expected, element)))
    return failure();
  if (!isa<FloatType>(element))
    return op->emitOpError("has elements of ")
           << element << ", expected floats";
  return success();
}

namespace {
/// The types of the whole and the part of one operand of a launch that divides.
struct Division {
  ShapedType whole, part;
};
} // namespace

/// Returns the operands that a launch divides between the ranks. Empty for
/// other launches.
static SmallVector<Division> getDivisions(LaunchOpInterface launch) {
  SmallVector<Division> divisions;
  const bool gathers = isa<AllGatherOp>(launch.getOperation());
  if (!gathers && !isa<RankPartOp, ReduceScatterOp>(launch.getOperation()))
    return divisions;
  for (unsigned i = 0; i < launch.getInputs().size(); ++i) {
    ShapedType from = launch.getInputType(i), to = launch.getTargetType(i);
    divisions.push_back(gathers ? Division{to, from} : Division{from, to});
  }
  return divisions;
}

/// Verifies a collective that divides dimension `along` of its operands.
static LogicalResult verifyParts(LaunchOpInterface launch, int64_t along) {
  const unsigned count = std::max<unsigned>(1, launch.getInputs().size());
  if (failed(verifyCounts(launch, count, count)))
    return failure();
  for (const Division &division : getDivisions(launch))
    if (failed(verifyPart(launch, division.whole, division.part, along)))
      return failure();
  return verifyCollective(launch);
}

LogicalResult ReduceScatterOp::verify() {
  return verifyParts(cast<LaunchOpInterface>(getOperation()), getAlong());
}

LogicalResult AllGatherOp::verify() {
  return verifyParts(cast<LaunchOpInterface>(getOperation()), getAlong());
}

int64_t ReduceScatterOp::getFlops() {
  int64_t elements = 0;
  for (Value input : getInputs())
    elements += cast<ShapedType>(input.getType()).getNumElements();
  return elements;
}

int64_t AllGatherOp::getFlops() { return 0; }

LogicalResult RankPartOp::verify() {
  auto launch = cast<LaunchOpInterface>(getOperation());
  if (failed(verifyCounts(launch, 1, 1)))
    return failure();
  ShapedType whole = launch.getInputType(0), part = launch.getTargetType(0);
  if (!mlir::amp::isFlatPart(whole, part))
    return emitOpError("takes ")
           << formatList(part.getShape()) << " of " << part.getElementType()
           << " as a part of " << formatList(whole.getShape()) << " of "
           << whole.getElementType()
           << ", expected one dimension and n / N elements, rounded up";
  return verifyLaunch(launch);
}

int64_t RankPartOp::getFlops() { return 0; }

int64_t RankPartOp::getReadBytes() {
  return getBytes(cast<LaunchOpInterface>(getOperation()).getTargetType(0));
}

//===----------------------------------------------------------------------===//
// Programs
//===----------------------------------------------------------------------===//

int64_t mlir::cuda::getUsedBytes(LaunchOpInterface launch, unsigned operand) {
  const int64_t bytes =
      mlir::cuda::getBuffer(launch->getOperand(operand)).getBytes();
  const unsigned numInputs = launch.getInputs().size();
  const bool gathers = isa<AllGatherOp>(launch.getOperation());
  if (!gathers && !isa<ReduceScatterOp>(launch.getOperation()))
    return bytes;
  const bool isWhole = gathers == (operand >= numInputs);
  auto ranks = launch->getParentOfType<ProgramOp>().getRanks();
  if (!isWhole || !ranks)
    return bytes;
  const Division division = getDivisions(launch)[operand % numInputs];
  return std::max(bytes, int64_t(*ranks) * getBytes(division.part));
}

bool mlir::cuda::usesMemoryOf(Operation *launch, Operation *other) {
  auto first = cast<LaunchOpInterface>(launch),
       second = cast<LaunchOpInterface>(other);
  for (unsigned i = 0; i < launch->getNumOperands(); ++i)
    for (unsigned j = 0; j < other->getNumOperands(); ++j) {
      BufferOp a = mlir::cuda::getBuffer(launch->getOperand(i)),
               b = mlir::cuda::getBuffer(other->getOperand(j));
      if (int64_t(a.getOffset()) <
              int64_t(b.getOffset()) + getUsedBytes(second, j) &&
          int64_t(b.getOffset()) <
              int64_t(a.getOffset()) + getUsedBytes(first, i))
        return true;
    }
  return false;
}

/// Verifies that `launch` has a part for each of `ranks` ranks. Without
/// `ranks`, the parts of a collective must divide the whole evenly.
static LogicalResult verifyRanks(LaunchOpInterface launch,
                                 std::optional<uint64_t> ranks) {
  for (const Division &division : getDivisions(launch)) {
    const int64_t all = division.whole.getNumElements(),
                  own = division.part.getNumElements();
    const bool isPart =
        ranks ? own * int64_t(*ranks) == all ||
                    (division.part.getRank() == 1 &&
                     mlir::amp::getFlatPartSize(all, *ranks) == own)
              : !launch.isCollective() || all == own ||
                    (own != 0 && all % own == 0);
    if (isPart)
      continue;
    auto diagnostic = launch->emitOpError("takes ")
                      << formatList(division.part.getShape())
                      << " as a part of "
                      << formatList(division.whole.getShape()) << ", expected ";
    if (ranks)
      return diagnostic << "a part for each of " << *ranks << " ranks";
    return diagnostic << "a program with 'ranks'";
  }
  return success();
}

/// Verifies that the parts of divided states fit the number of ranks of
/// `program`.
static LogicalResult verifyStateParts(ProgramOp program) {
  for (auto buffer : program.getBody().front().getOps<BufferOp>()) {
    if (!buffer.getPartOf())
      continue;
    if (!program.getRanks())
      return buffer.emitOpError("is a part of a state, expected a program with "
                                "'ranks'");
    const int64_t all = buffer.getPartOf()->getNumElements();
    const auto ranks = int64_t(*program.getRanks());
    if (mlir::amp::getFlatPartSize(all, ranks) !=
        buffer.getType().getNumElements())
      return buffer.emitOpError("has ")
             << buffer.getType().getNumElements() << " elements of "
             << Type(*buffer.getPartOf()) << ", expected "
             << mlir::amp::getFlatPartSize(all, ranks) << " for " << ranks
             << " ranks";
  }
  return success();
}

LogicalResult mlir::cuda::verifyAwaits(ProgramOp program) {
  if (failed(verifyStateParts(program)))
    return failure();
  llvm::SetVector<Operation *> running;
  for (Operation &op : program.getBody().front()) {
    if (auto await = dyn_cast<AwaitOp>(op)) {
      auto *found = llvm::find_if(running, [&](Operation *other) {
        return cast<LaunchOpInterface>(other).getName() ==
               await.getCollective();
      });
      if (found == running.end())
        return await.emitOpError("awaits '")
               << await.getCollective()
               << "', which is not a collective that runs at this place";
      // Collectives end in order.
      SmallVector<Operation *> others(std::next(found), running.end());
      running.clear();
      running.insert(others.begin(), others.end());
      continue;
    }
    auto launch = dyn_cast<LaunchOpInterface>(op);
    if (!launch)
      continue;
    if (failed(verifyRanks(launch, program.getRanks())))
      return failure();
    if (launch.isCollective()) {
      running.insert(&op);
      continue;
    }
    for (Operation *other : running)
      if (usesMemoryOf(&op, other)) {
        auto diagnostic =
            op.emitOpError("'")
            << launch.getName().value_or("")
            << "' uses memory of a collective that runs, expected "
               "a 'cuda.await' before it";
        diagnostic.attachNote(other->getLoc()) << "the collective is here";
        return diagnostic;
      }
  }
  if (running.empty())
    return success();
  return running.front()->emitOpError("is never awaited, expected a "
                                      "'cuda.await' of its name");
}

//===----------------------------------------------------------------------===//
// Generated code
//===----------------------------------------------------------------------===//

#define GET_OP_CLASSES
#include "amp/Dialect/CUDA/IR/CUDACollectiveOps.cpp.inc"

void CUDADialect::registerCollectiveOps() {
  addOperations<
#define GET_OP_LIST
#include "amp/Dialect/CUDA/IR/CUDACollectiveOps.cpp.inc"
      >();
}
