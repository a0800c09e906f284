//===- Costs.cpp - What a step costs at least -----------------------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "amp/Target/CUDA/CUDAEmitter.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/ADT/SmallBitVector.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace mlir::cuda;

// Dense peak rates and memory bandwidth of the SXM models, by NVIDIA's data
// sheets.
static constexpr DeviceModel kDevices[] = {
    {"a100", 19.5e12, 156e12, 312e12, 2.04e12},
    {"h100", 66.9e12, 494.7e12, 989.4e12, 3.35e12},
    {"h200", 66.9e12, 494.7e12, 989.4e12, 4.8e12},
};

const DeviceModel *mlir::cuda::findDevice(StringRef name) {
  for (const DeviceModel &device : kDevices)
    if (device.name == name)
      return &device;
  return nullptr;
}

/// How the operands of products are taken.
namespace {
enum class Precision { AsWritten, F32, TF32 };

struct Cost {
  double arithmetic, memory;
  double getSeconds() const { return std::max(arithmetic, memory); }
};
} // namespace

static bool usesTF32(LaunchOpInterface launch) {
  if (auto gemm = dyn_cast<GemmOp>(launch.getOperation()))
    return gemm.getTf32();
  if (auto conv = dyn_cast<ConvOp>(launch.getOperation()))
    return conv.getTf32();
  return false;
}

/// `value` of the body of a kernel before casts between float types.
static Value stripCasts(Value value) {
  while (Operation *op = value.getDefiningOp()) {
    if (!isa<arith::ExtFOp, arith::TruncFOp>(op))
      break;
    value = op->getOperand(0);
  }
  return value;
}

/// The outputs of `launch` that a step in f32 does without: what is an input,
/// or another output, in another type.
static llvm::SmallBitVector getCasts(LaunchOpInterface launch) {
  llvm::SmallBitVector casts(launch.getNumTargets());
  if (isa<CastsOp>(launch.getOperation()))
    casts.set();
  if (auto optimizer = dyn_cast<OptimizerOp>(launch.getOperation()))
    casts.set(launch.getNumTargets() - optimizer.getCopies().size(),
              launch.getNumTargets());
  auto kernel = dyn_cast<KernelOp>(launch.getOperation());
  if (!kernel || kernel.isReduction())
    return casts;
  Block &body = kernel.getBody().front();
  auto getElement = [&](unsigned target) {
    return launch.getTargetType(target).getElementType();
  };
  SmallVector<Value> values;
  for (Value yielded : body.getTerminator()->getOperands())
    values.push_back(stripCasts(yielded));
  for (unsigned target = 0; target < values.size(); ++target) {
    auto argument = dyn_cast<BlockArgument>(values[target]);
    if (argument && argument.getArgNumber() < kernel.getNumElementInputs() &&
        argument.getType() != getElement(target) &&
        kernel.getMap(argument.getArgNumber()) == kernel.getTargetMap(target))
      casts.set(target);
    for (unsigned other = 0; other < target; ++other)
      if (!casts[other] && values[other] == values[target] &&
          getElement(other) != getElement(target))
        casts.set(target);
  }
  return casts;
}

/// Whether something other than `casts` of `launch` needs input `index`.
static bool isRead(LaunchOpInterface launch, unsigned index,
                   const llvm::SmallBitVector &casts) {
  if (casts.none())
    return true;
  if (auto optimizer = dyn_cast<OptimizerOp>(launch.getOperation()))
    return index <
           optimizer.getInputs().size() - optimizer.getOldCopies().size();
  auto kernel = dyn_cast<KernelOp>(launch.getOperation());
  if (!kernel)
    return false;
  Block &body = kernel.getBody().front();
  SmallVector<Value> worklist;
  for (auto [target, value] :
       llvm::enumerate(body.getTerminator()->getOperands()))
    if (!casts[target])
      worklist.push_back(value);
  DenseSet<Value> seen;
  while (!worklist.empty()) {
    Value value = worklist.pop_back_val();
    if (value == body.getArgument(index))
      return true;
    if (Operation *op = value.getDefiningOp(); op && seen.insert(value).second)
      llvm::append_range(worklist, op->getOperands());
  }
  return false;
}

/// The bytes of `launch` in a step in f32: what a type of 16 bits would take
/// there, without what only casts read and write.
static double getBytesInF32(LaunchOpInterface launch) {
  llvm::SmallBitVector casts = getCasts(launch);
  auto getScale = [](ShapedType type) {
    Type element = type.getElementType();
    return element.isF16() || element.isBF16() ? 2.0 : 1.0;
  };
  double scale =
      launch.getInputs().empty() ? 1 : getScale(launch.getInputType(0));
  double bytes = scale * launch.getRereadBytes();
  // Patches have the type of the operands, partial sums are f32 already.
  auto conv = dyn_cast<ConvOp>(launch.getOperation());
  bool hasPatches = conv && conv.getKind() != ConvKind::InputGrad;
  bytes += (hasPatches ? scale : 1) * 2 * launch.getScratchBytes();
  auto add = [&](ShapedType type) { bytes += getScale(type) * getBytes(type); };
  SmallPtrSet<Value, 8> read;
  for (auto [index, input] : llvm::enumerate(launch.getInputs()))
    if (isRead(launch, index, casts) && read.insert(input).second)
      add(cast<ShapedType>(input.getType()));
  for (unsigned target = 0; target < launch.getNumTargets(); ++target)
    if (!casts[target])
      add(launch.getTargetType(target));
  return bytes;
}

static Cost getCost(LaunchOpInterface launch, const DeviceModel &device,
                    Precision precision) {
  double rate = device.f32;
  if (launch.isProduct()) {
    bool isLow = launch.getInputType(0).getElementTypeBitWidth() == 16;
    if (precision == Precision::TF32 ||
        (precision == Precision::AsWritten && usesTF32(launch)))
      rate = device.tf32;
    else if (precision == Precision::AsWritten && isLow)
      rate = device.half;
  }
  double bytes = precision == Precision::AsWritten
                     ? double(getTrafficBytes(launch))
                     : getBytesInF32(launch);
  return {launch.getFlops() / rate, bytes / device.bytes};
}

void mlir::cuda::printCosts(ProgramOp program, const DeviceModel &device,
                            raw_ostream &os) {
  os << "'" << program.getSymName() << "' on " << device.name << "\n"
     << llvm::formatv("{0,-32} {1,14} {2,14} {3,8} {4,12}\n", "launch",
                      "operations", "bytes", "bound by", "floor, us");
  double sums[3] = {};
  int64_t flops = 0, bytes = 0;
  auto launches = program.getBody().front().getOps<LaunchOpInterface>();
  for (LaunchOpInterface launch : launches) {
    Cost cost = getCost(launch, device, Precision::AsWritten);
    flops += launch.getFlops();
    bytes += getTrafficBytes(launch);
    os << llvm::formatv("{0,-32} {1,14} {2,14} {3,8} {4,12:f3}\n",
                        launch.getName().value_or(""), launch.getFlops(),
                        getTrafficBytes(launch),
                        cost.arithmetic > cost.memory ? "compute" : "memory",
                        cost.getSeconds() * 1e6);
    for (Precision precision :
         {Precision::AsWritten, Precision::F32, Precision::TF32})
      sums[int(precision)] +=
          getCost(launch, device, precision).getSeconds() * 1e6;
  }
  os << llvm::formatv("{0,-32} {1,14} {2,14} {3,8} {4,12:f3}\n", "step", flops,
                      bytes, "", sums[0])
     << llvm::formatv("floor as written {0:f3} us, in f32 {1:f3} us, with TF32 "
                      "products {2:f3} us\n",
                      sums[0], sums[1], sums[2])
     << "memory " << program.getArena() << " bytes";
  if (program.getBound())
    os << "; no plan takes less than " << *program.getBound();
  os << "\n";
}
