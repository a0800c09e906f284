//===- CollectiveEmitter.cpp - Collectives of NCCL ------------------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CollectiveRanges.h"
#include "EmitterSupport.h"

using namespace mlir;
using namespace mlir::cuda;

/// The type of NCCL for elements of type `type`. A boolean is a byte.
static StringRef getNCCLType(Type type) {
  if (type.isF16())
    return "ncclFloat16";
  if (type.isBF16())
    return "ncclBfloat16";
  if (type.isF32())
    return "ncclFloat32";
  if (type.isF64())
    return "ncclFloat64";
  if (type.isInteger(32))
    return "ncclInt32";
  return type.isInteger(64) ? "ncclInt64" : "ncclUint8";
}

/// The operation of NCCL for `reduction`. Booleans are 0 and 1.
static StringRef getNCCLOperation(RankReduction reduction) {
  switch (reduction) {
  case RankReduction::Sum:
    return "ncclSum";
  case RankReduction::Max:
    return "ncclMax";
  case RankReduction::And:
    return "ncclMin";
  }
  return "";
}

void ProgramEmitter::emitCollectiveOperands(LaunchOpInterface launch) {
  if (!launch.isCollective())
    return;
  os << "    const CollectiveOperand operands[] = {\n";
  for (const CollectiveRange &range : getCollectiveRanges(launch)) {
    ShapedType type = shapedType(range.input);
    os << "        {" << getPointer(range.input) << ", "
       << getPointer(range.output) << ", " << numbers.getHost(range.count)
       << ", " << getNCCLType(type.getElementType());
    // NCCL scatters parts of equal sizes.
    const auto ranks = int64_t(program.getRanks().value_or(1));
    if (isa<ReduceScatterOp>(launch.getOperation()) &&
        type.getNumElements() != range.count * ranks)
      os << ", " << numbers.getHost(type.getNumElements());
    os << "},\n";
  }
  os << "    };\n    AMP_RETURN_IF_ERROR(run.ranks->begin("
     << collectives.lookup(launch) << ", run.stream));\n";
}

void ProgramEmitter::emitCollective(LaunchOpInterface launch) {
  const std::string arguments =
      "(run, " + std::to_string(collectives.lookup(launch)) + ", operands";
  if (auto reduce = dyn_cast<AllReduceOp>(launch.getOperation()))
    os << "allReduce" << arguments << ", "
       << getNCCLOperation(reduce.getReduction()) << ")";
  else
    os << (isa<AllGatherOp>(launch.getOperation()) ? "allGather"
                                                   : "reduceScatter")
       << arguments << ")";
}

void ProgramEmitter::emitRankPart(RankPartOp part) {
  auto launch = cast<LaunchOpInterface>(part.getOperation());
  os << "copyRankPart(run, " << getConstPointer(launch.getInputs()[0]) << ", "
     << numbers.getHost(launch.getInputType(0).getNumElements()) << ", "
     << getPointer(launch.getOutputs()[0]) << ", "
     << numbers.getHost(launch.getTargetType(0).getNumElements()) << ")";
}

void ProgramEmitter::emitAwait(AwaitOp await) {
  for (auto [op, index] : collectives)
    if (cast<LaunchOpInterface>(op).getName() == await.getCollective())
      os << "  // What follows waits for " << await.getCollective()
         << ".\n  AMP_RETURN_IF_ERROR(run.ranks->await(" << index
         << ", run.stream));\n";
}

void ProgramEmitter::emitCollectives() {
  if (collectives.empty())
    return;
  os << "const CollectiveInfo kCollectives[] = {\n";
  for (LaunchOpInterface launch : launches) {
    if (!launch.isCollective())
      continue;
    int64_t elements = 0;
    for (unsigned i = 0; i < launch.getInputs().size(); ++i)
      elements += std::max(launch.getInputType(i).getNumElements(),
                           launch.getTargetType(i).getNumElements());
    os << "    {" << quote(getName(launch)) << ", " << numbers.getHost(elements)
       << "},\n";
  }
  os << "};\nconst CollectiveTable kCollectiveTable = {kCollectives, "
     << collectives.size() << ", " << int64_t(program.getRanks().value_or(0))
     << ", joinRanks, connectCallers};\n\n";
}
