//===- LaunchEmitter.cpp - The list of launches ---------------------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "EmitterSupport.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::cuda;

std::string ProgramEmitter::getName(LaunchOpInterface launch) {
  return launch.getName().value_or("launch").str();
}

std::string ProgramEmitter::getOffset(Value buffer) {
  return "at::" + buffers.lookup(getBuffer(buffer));
}

std::string ProgramEmitter::getPointer(Value buffer) {
  return ("run.at<" + getStorageType(shapedType(buffer).getElementType()) +
          ">(" + getOffset(buffer) + ")")
      .str();
}

std::string ProgramEmitter::getConstPointer(Value buffer) {
  return ("static_cast<const " +
          getStorageType(shapedType(buffer).getElementType()) + " *>(" +
          getPointer(buffer) + ")")
      .str();
}

std::string ProgramEmitter::getScratch(LaunchOpInterface launch) {
  return launch.getScratch().empty()
             ? "nullptr"
             : "run.at<void>(" + getOffset(launch.getScratch()[0]) + ")";
}

std::string ProgramEmitter::getGuard(LaunchOpInterface launch) {
  Value predicate = launch.getPredicate();
  return predicate ? getPointer(predicate) : "nullptr";
}

BufferOp ProgramEmitter::findBuffer(StringRef role, StringRef name) {
  for (auto buffer : program.getBody().front().getOps<BufferOp>())
    if (buffer.getRole() == role && (name.empty() || buffer.getName() == name))
      return buffer;
  return {};
}

std::string ProgramEmitter::getArrivalCounters() {
  // A program without reductions has no arrival counters.
  BufferOp arrivalCounters = findBuffer("arrival_counters");
  return arrivalCounters
             ? "run.at<unsigned>(at::" + buffers.lookup(arrivalCounters) + ")"
             : "nullptr";
}

//===----------------------------------------------------------------------===//
// Launches
//===----------------------------------------------------------------------===//

void ProgramEmitter::emitLaunch(LaunchOpInterface launch) {
  llvm::TypeSwitch<Operation *>(launch)
      .Case<GemmOp, ScaledGemmOp>([&](auto) { emitProduct(launch); })
      .Case([&](ConvOp op) { emitConvolution(op); })
      .Case([&](LinearCrossEntropyOp op) { emitLinearLoss(op); })
      .Case<AllGatherOp, AllReduceOp, ReduceScatterOp>(
          [&](auto) { emitCollective(launch); })
      .Case<ConvPlanOp, SDPAOp, SDPAGradOp>([&](auto) { emitPlanRun(launch); })
      .Case([&](RankPartOp op) { emitRankPart(op); })
      .Case([&](KernelOp op) { emitKernelLaunch(op); })
      .Case([&](CastsOp op) { emitCasts(op); })
      .Case([&](CheckGradientsOp op) { emitCheck(op); })
      .Case([&](OptimizerOp op) { emitOptimizer(op); })
      .Default([&](Operation *) { emitTunedKernel(launch); });
}

void ProgramEmitter::emitLaunchComment(LaunchOpInterface launch) {
  auto list = [&](ValueRange values) {
    llvm::interleaveComma(values.take_front(kMostInComment), os,
                          [&](Value value) {
                            os << getCommentText(getBuffer(value).getName())
                               << ": " << describe(shapedType(value));
                          });
    if (values.size() > kMostInComment)
      os << ", ...";
  };
  os << "  // " << getCommentText(describeOperations(launch, kMostInComment))
     << ":\n  //   ";
  list(launch.getInputs());
  os << "\n  //   -> ";
  list(launch.getOutputs());
  os << "\n  //   " << getTrafficBytes(launch) << " bytes, "
     << launch.getFlops() << " operations\n";
}

void ProgramEmitter::emitLaunches() {
  os << "//===-- One step "
        "------------------------------------------------------===//\n\n"
     << "Status enqueue(const StepRun &run) {\n";
  unsigned number = 0;
  for (Operation &op : program.getBody().front()) {
    if (auto await = dyn_cast<AwaitOp>(op))
      emitAwait(await);
    auto launch = dyn_cast<LaunchOpInterface>(op);
    if (!launch)
      continue;
    emitLaunchComment(launch);
    os << "  ";
    if (std::optional<Reader> reader = getReader(launch))
      os << "if (run.reader >= " << getReaderSpelling(*reader) << ") ";
    os << "{\n    LaunchScope scope = run.scope(" << number++ << ");\n";
    emitGemmBuffers(launch);
    emitPlanPointers(launch);
    emitCollectiveOperands(launch);
    os << "    AMP_RETURN_IF_ERROR(";
    emitLaunch(launch);
    os << ");\n  }\n";
  }
  os << "  return Status();\n}\n\n";
}
