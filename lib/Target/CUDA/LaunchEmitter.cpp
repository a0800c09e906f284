//===- LaunchEmitter.cpp - The list of launches ---------------------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "EmitterSupport.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/TypeSwitch.h"

#include <map>

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

bool ProgramEmitter::isOptional(BufferOp buffer) {
  return !numbers.printsLiterals() && (buffer.getRole() == "arrival_counters" ||
                                       optionalBuffers.contains(buffer));
}

std::string ProgramEmitter::getOptional(StringRef type, BufferOp buffer) {
  return ("run.find<" + type + ">(" +
          numbers.getHost(buffer ? buffer.getOffset() : -1) + ")")
      .str();
}

std::string ProgramEmitter::getScratch(LaunchOpInterface launch,
                                       StringRef type) {
  BufferOp buffer = launch.getScratch().empty()
                        ? BufferOp()
                        : getBuffer(launch.getScratch()[0]);
  if (!numbers.printsLiterals())
    return getOptional(type, buffer);
  if (buffer)
    return ("run.at<" + type + ">(at::" + buffers.lookup(buffer) + ")").str();
  return type == "void" ? "nullptr"
                        : ("static_cast<" + type + " *>(nullptr)").str();
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
  if (!numbers.printsLiterals())
    return getOptional("unsigned", arrivalCounters);
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
      .Case([&](CallOp op) { emitCall(op); })
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
     << (numbers.printsLiterals() ? ":\n" : "\n");
  if (!numbers.printsLiterals())
    return;
  os << "  //   ";
  list(launch.getInputs());
  os << "\n  //   -> ";
  list(launch.getOutputs());
  os << "\n  //   " << getTrafficBytes(launch) << " bytes, "
     << launch.getFlops() << " operations\n";
}

//===----------------------------------------------------------------------===//
// Headings
//===----------------------------------------------------------------------===//

/// Whether `launch` computes a gradient by itself, and does not only read one.
static bool computesGradient(LaunchOpInterface launch) {
  if (launch.isBackward())
    return true;
  SmallVector<StringRef> names;
  std::string operations = describeOperations(launch, SIZE_MAX);
  StringRef(operations).split(names, ", ");
  return llvm::any_of(names, [](StringRef name) {
    return name.starts_with("train.") && name.ends_with("_grad");
  });
}

static bool isUpdate(LaunchOpInterface launch) {
  return isa<CheckGradientsOp, OptimizerOp, UpdateScaleOp, UpdateQuantizerOp>(
      launch.getOperation());
}

/// Whether `launch` computes a loss besides its gradient.
static bool computesLoss(LaunchOpInterface launch) {
  return llvm::any_of(launch.getOutputs(), [](Value output) {
    return shapedType(output).getRank() == 0;
  });
}

/// Returns the headings of a step that differentiates, by the number of the
/// launch that follows. Others have none.
///
/// The backward pass begins at the first launch that computes a gradient, the
/// update at the first launch that checks gradients or updates a state. A step
/// whose launches have another order has no headings.
static std::map<size_t, StringRef>
findHeadings(ArrayRef<LaunchOpInterface> launches) {
  std::map<size_t, StringRef> headings;
  llvm::DenseSet<BufferOp> gradients, updated;
  std::optional<size_t> backward, update;
  for (auto [number, each] : llvm::enumerate(launches)) {
    LaunchOpInterface launch = each;
    auto reads = [&](const llvm::DenseSet<BufferOp> &buffers) {
      return llvm::any_of(launch.getInputs(), [&](Value input) {
        return buffers.contains(getBuffer(input));
      });
    };
    const bool updates = isUpdate(launch) || reads(updated);
    const bool differentiates =
        !updates && (computesGradient(launch) || reads(gradients));
    if (differentiates && update)
      return {};
    if (differentiates && !backward)
      backward = number;
    if (updates && !update)
      update = number;
    if (updates || differentiates)
      for (Value output : launch.getOutputs())
        (updates ? updated : gradients).insert(getBuffer(output));
  }
  if (!backward || !update || *backward == 0)
    return {};
  // A launch that computes a loss and its gradient is the first one of the
  // backward pass.
  headings[0] = "The forward pass";
  headings[*backward] = computesLoss(launches[*backward])
                            ? "The loss and the backward pass"
                            : "The backward pass";
  headings[*update] = "The update";
  return headings;
}

void ProgramEmitter::emitLaunches() {
  os << "//===-- One step "
        "------------------------------------------------------===//\n\n";
  unsigned number = 0, part = 0;
  beginPart(part);
  const std::map<size_t, StringRef> headings = findHeadings(launches);
  for (Operation &op : program.getBody().front()) {
    if (auto await = dyn_cast<AwaitOp>(op))
      emitAwait(await);
    auto launch = dyn_cast<LaunchOpInterface>(op);
    if (!launch)
      continue;
    auto call = dyn_cast<CallOp>(op);
    if (call) {
      endPart();
      beginPart(++part);
    }
    if (auto heading = headings.find(number); heading != headings.end())
      os << (number ? "\n" : "") << "  //===-- " << heading->second << "\n\n";
    auto kernel = dyn_cast<KernelOp>(op);
    const bool counts = kernel && kernel.isStatistics();
    if (counts && kernel.sharesLaunch()) {
      ++number;
      continue;
    }
    emitLaunchComment(launch);
    os << "  ";
    if (std::optional<Reader> reader = getReader(launch))
      os << "if (run.reader >= " << getReaderSpelling(*reader) << ") ";
    if (refreshes(launch))
      os << "if (run.refreshes) ";
    os << "{\n    LaunchScope scope = run.scope(" << number++ << ");\n";
    if (counts) {
      emitCounts(kernel);
      os << "  }\n";
      continue;
    }
    emitGemmBuffers(launch);
    emitPlanPointers(launch);
    emitCollectiveOperands(launch);
    if (call)
      emitCallOperands(call);
    os << "    AMP_RETURN_IF_ERROR(";
    emitLaunch(launch);
    os << ");\n  }\n";
    if (call) {
      endPart();
      beginPart(++part);
    }
  }
  endPart();
  if (numCalls > 0)
    emitPartList(part + 1);
}
