//===- Costs.cpp - Minimal costs of a step --------------------------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "amp/Dialect/CUDA/IR/Float8ScaleKinds.h"
#include "amp/Target/CUDA/CUDAEmitter.h"

#include "EmitterSupport.h"
#include "RankCosts.h"
#include "amp/Dialect/AMP/IR/StepSignature.h"
#include "amp/Runtime/Host/KernelRates.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/ADT/SmallBitVector.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace mlir::cuda;

/// Analysis of the operands of products.
namespace {
enum class Precision { AsWritten, F32, TF32 };

struct Cost {
  double arithmetic, memory;
  double getSeconds() const { return std::max(arithmetic, memory); }
};
} // namespace

/// Looks through casts between float types in the body of a kernel.
static Value stripCasts(Value value) {
  while (Operation *op = value.getDefiningOp()) {
    if (!isa<arith::ExtFOp, arith::TruncFOp>(op))
      break;
    value = op->getOperand(0);
  }
  return value;
}

/// The outputs of `launch` that an f32 step would not need: an input, or
/// another output, in another type.
static llvm::SmallBitVector getCasts(LaunchOpInterface launch) {
  llvm::SmallBitVector casts(launch.getNumTargets());
  if (isa<CastsOp, QuantizeBlocksOp, QuantizeOp>(launch.getOperation()))
    casts.set();
  if (auto norm = dyn_cast<QuantizedNormOp>(launch.getOperation()))
    casts.set(norm.getNumStored(), launch.getNumTargets());
  if (auto optimizer = dyn_cast<OptimizerOp>(launch.getOperation()))
    casts.set(launch.getNumTargets() - optimizer.getCopies().size() -
                  optimizer.getNumQuantizedTargets(),
              launch.getNumTargets());
  auto kernel = dyn_cast<KernelOp>(launch.getOperation());
  if (!kernel || kernel.isReduction())
    return casts;
  Block &body = kernel.getBody().front();
  auto getElement = [&](unsigned target) {
    return launch.getTargetType(target).getElementType();
  };
  SmallVector<Value> values;
  for (Value yielded :
       body.getTerminator()->getOperands().take_front(kernel.getNumStored()))
    values.push_back(stripCasts(yielded));
  casts.set(kernel.getNumStored(), launch.getNumTargets());
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

/// Whether `launch` needs input `index` for more than `casts`.
static bool isRead(LaunchOpInterface launch, unsigned index,
                   const llvm::SmallBitVector &casts) {
  if (casts.none())
    return true;
  if (auto optimizer = dyn_cast<OptimizerOp>(launch.getOperation()))
    return index < optimizer.getInputs().size() -
                       optimizer.getOldCopies().size() -
                       optimizer.getQuantizedInputs().size();
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

/// The scratch memory of `launch` in an f32 step. Patches have the type of the
/// operands, and their rows are multiples of 16 bytes. All else is f32 already.
static double getScratchBytesInF32(LaunchOpInterface launch) {
  // Plans have operands of 16 bits. An f32 step has patches in their place.
  if (auto plan = dyn_cast<ConvPlanOp>(launch.getOperation())) {
    ConvPlanOp::Types types = plan.getForwardTypes();
    int64_t pixels =
                types.output.getNumElements() / types.output.getShape().back(),
            depth = types.filter.getNumElements() / types.filter.getDimSize(0);
    return double(pixels * int64_t(plan.getGroups()) *
                  llvm::alignTo(depth * 4, 16));
  }
  int64_t bytes = launch.getScratchBytes();
  auto conv = dyn_cast<ConvOp>(launch.getOperation());
  if (!conv || conv.getKind() == ConvKind::InputGrad || bytes == 0)
    return bytes;
  int64_t depth = 1;
  for (int64_t extent : conv.getForwardTypes().filter.getShape().drop_back())
    depth *= extent;
  auto getRowBytes = [&](int64_t elementBytes) {
    return llvm::alignTo(depth * elementBytes, 16);
  };
  int64_t width = launch.getInputType(0).getElementTypeBitWidth() / 8;
  return bytes / getRowBytes(width) * getRowBytes(4);
}

/// The bytes of `launch` in an f32 step: 16-bit values at their f32 size,
/// without values that only casts read and write.
static double getBytesInF32(LaunchOpInterface launch) {
  llvm::SmallBitVector casts = getCasts(launch);
  auto getScale = [](ShapedType type) {
    return isa<FloatType>(type.getElementType())
               ? std::max(32.0 / type.getElementTypeBitWidth(), 1.0)
               : 1.0;
  };
  double scale =
      launch.getInputs().empty() ? 1 : getScale(launch.getInputType(0));
  double bytes = scale * launch.getRereadBytes();
  bytes += 2 * getScratchBytesInF32(launch);
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

static Cost getCost(LaunchOpInterface launch, const amphost::GPUModel &target,
                    Precision precision) {
  double rate = target.f32;
  if (launch.isProduct()) {
    unsigned bits = launch.getInputType(0).getElementTypeBitWidth();
    if (precision == Precision::TF32 ||
        (precision == Precision::AsWritten && launch.usesTF32()))
      rate = target.tf32;
    else if (precision == Precision::AsWritten && bits == 16)
      rate = target.half;
    else if (precision == Precision::AsWritten && bits == 8)
      rate = target.getFloat8Rate();
  }
  double bytes = precision == Precision::AsWritten
                     ? double(getTrafficBytes(launch))
                     : getBytesInF32(launch);
  return {launch.getFlops() / rate, bytes / target.bandwidth};
}

//===----------------------------------------------------------------------===//
// Estimates
//===----------------------------------------------------------------------===//

/// Whether `map` takes the loops in their order, such as for a whole tensor, a
/// row or a column.
static bool isInOrder(AffineMap map) {
  int64_t last = -1;
  for (AffineExpr expr : map.getResults()) {
    if (isa<AffineConstantExpr>(expr))
      continue;
    auto dim = dyn_cast<AffineDimExpr>(expr);
    if (!dim || int64_t(dim.getPosition()) <= last)
      return false;
    last = dim.getPosition();
  }
  return true;
}

/// Whether `kernel` reads or writes single elements at computed places.
static bool isGather(KernelOp kernel) {
  const SmallVector<unsigned> order = getLoopOrder(kernel);
  for (auto [index, map] :
       llvm::enumerate(kernel.getMaps().getAsValueRange<AffineMapAttr>()))
    if (!kernel.isReduction() && !isInOrder(map) &&
        (index >= kernel.getNumElementInputs() ||
         !readsPacks(kernel, order, index)))
      return true;
  return llvm::any_of(
      kernel.getInputs().drop_front(kernel.getNumElementInputs()),
      [](Value input) { return cast<ShapedType>(input.getType()).getRank(); });
}

/// The part of the bandwidth that `launch` reaches.
static double getBandwidthPart(LaunchOpInterface launch) {
  namespace part = amphost::bandwidthPart;
  Operation *op = launch;
  if (auto kernel = dyn_cast<KernelOp>(op))
    return isGather(kernel) ? part::gather : part::elementwise;
  if (auto gemm = dyn_cast<GemmOp>(op))
    return gemm.getExtents().batch > 1 ? part::mixed : part::elementwise;
  if (isa<LayerNormAndGradOp, LayerNormGradOp, RMSNormAndGradOp, RMSNormGradOp>(
          op))
    return part::mixed;
  if (isa<BatchNormTrainingOp, BatchNormReluOp, BatchNormAddReluOp,
          BatchNormGradOp, BatchNormReluGradOp, BatchNormAddReluGradOp>(op))
    return part::batchNorm;
  return part::elementwise;
}

/// The time of a convolution that goes through a matrix of patches: a kernel
/// that finds the place of each element, before or after the product.
static double estimatePatches(ConvOp conv, const amphost::GPUModel &target) {
  int64_t scratch = conv.getScratchBytes();
  ShapedType image = conv.getForwardTypes().input;
  int64_t bytes = image.getElementTypeBitWidth() / 8;
  bool isPacked = image.getShape().back() % (16 / bytes) == 0;
  double packs = double(scratch) / (isPacked ? 16 : bytes);
  return std::max(
      scratch / (target.bandwidth * amphost::bandwidthPart::elementwise),
      packs * amphost::kPatchDivisions * amphost::kDivisionOperations /
          (target.f32 * amphost::kIntegerPart));
}

/// The kind of a convolution. Nothing for other launches.
static std::optional<ConvKind> getConvKind(Operation *launch) {
  if (auto conv = dyn_cast<ConvOp>(launch))
    return conv.getKind();
  if (auto plan = dyn_cast<ConvPlanOp>(launch))
    return plan.getKind();
  return std::nullopt;
}

/// The seconds that `launch` takes on `target`, with the rates that kernels
/// reach and the overhead of its nodes in a graph.
static double estimateSeconds(LaunchOpInterface launch,
                              const amphost::GPUModel &target) {
  Cost cost = getCost(launch, target, Precision::AsWritten);
  int64_t nodes = launch.getNumKernels();
  double arithmetic = cost.arithmetic, memory = cost.memory, apart = 0;
  auto gemm = dyn_cast<GemmOp>(launch.getOperation());
  auto conv = dyn_cast<ConvOp>(launch.getOperation());
  if (auto plan = dyn_cast<ConvPlanOp>(launch.getOperation()))
    arithmetic *= double(plan.getPaddedFlops()) / double(plan.getFlops());
  if (auto loss = dyn_cast<LinearCrossEntropyOp>(launch.getOperation())) {
    // Two products in three are not gradients of weights. Other kernels compute
    // the loss.
    arithmetic *= (2 / amphost::productPart::layer +
                   1 / amphost::productPart::weightGrad) /
                  3;
    memory -= loss.getLossBytes() / target.bandwidth;
    apart = loss.getLossBytes() /
            (target.bandwidth * amphost::bandwidthPart::elementwise);
  } else if (launch.isProduct()) {
    bool isWeightGrad =
        gemm ? gemm.getTransposeA()
        : isa<ScaledGemmOp>(launch.getOperation())
            ? launch->hasAttr(mlir::amp::AMPDialect::kGradientOfAttr)
            : getConvKind(launch) == ConvKind::FilterGrad;
    arithmetic /= isWeightGrad ? amphost::productPart::weightGrad
                               : amphost::productPart::layer;
  }
  if (conv && conv.getScratchBytes() > 0) {
    ++nodes;
    // One pass over the patches belongs to their own kernel.
    memory -= conv.getScratchBytes() / target.bandwidth;
    apart = estimatePatches(conv, target);
  }
  return std::max(arithmetic, memory / getBandwidthPart(launch)) + apart +
         double(nodes) * amphost::kNodeSeconds;
}

/// Prints the estimate of the step and the launches that lose most time against
/// their bounds.
static void printEstimate(ArrayRef<LaunchOpInterface> launches,
                          const amphost::GPUModel &target, raw_ostream &os) {
  double sum = 0;
  SmallVector<std::pair<double, LaunchOpInterface>> lost;
  for (LaunchOpInterface launch : launches) {
    double seconds = estimateSeconds(launch, target);
    sum += seconds;
    lost.push_back(
        {seconds - getCost(launch, target, Precision::AsWritten).getSeconds(),
         launch});
  }
  os << llvm::formatv("estimate {0:f3} us, up to {1} % more; {2} launches\n",
                      sum * 1e6, int(amphost::kEstimateError * 100 + 0.5),
                      launches.size());
  llvm::stable_sort(
      lost, [](const auto &a, const auto &b) { return a.first > b.first; });
  os << "farthest from their bounds:";
  lost.truncate(std::min<size_t>(lost.size(), 3));
  StringRef separator = " ";
  for (auto &[seconds, launch] : lost) {
    os << separator << launch.getName().value_or("")
       << llvm::formatv(" by {0:f3} us", seconds * 1e6);
    separator = ", ";
  }
  os << "\n";
}

/// Prints the parts of 8-bit products and of their copies, if there are any.
static void printFloat8(ArrayRef<LaunchOpInterface> launches,
                        const amphost::GPUModel &target, raw_ostream &os) {
  int64_t products = 0, flops = 0, copies = 0, bytes = 0, fused = 0;
  for (LaunchOpInterface launch : launches) {
    if (isa<ScaledGemmOp>(launch.getOperation())) {
      ++products;
      flops += launch.getFlops();
    }
    if (isa<QuantizeBlocksOp, QuantizeOp>(launch.getOperation())) {
      ++copies;
      bytes += getTrafficBytes(launch);
    }
    auto kernel = dyn_cast<KernelOp>(launch.getOperation());
    auto optimizer = dyn_cast<OptimizerOp>(launch.getOperation());
    fused += isa<QuantizedNormOp>(launch.getOperation()) ||
             (kernel && kernel.getQuantization()) ||
             (optimizer && optimizer.getQuantized());
  }
  if (products + copies + fused == 0)
    return;
  os << llvm::formatv("8-bit products: {0} launches, {1} operations at {2:f1} "
                      "TFLOP/s; {3} launches quantise, {4} bytes; {5} quantise "
                      "their results or find the magnitude\n",
                      products, flops, target.getFloat8Rate() / 1e12, copies,
                      bytes, fused);
}

/// Prints the bytes of state of each rank if the ranks divide a state.
static void printStateOfRanks(ProgramOp program, raw_ostream &os) {
  int64_t own = 0, whole = 0;
  bool hasParts = false;
  for (auto buffer : program.getBody().front().getOps<BufferOp>()) {
    std::optional<mlir::amp::Role> role =
        mlir::amp::symbolizeRole(buffer.getRole().value_or(""));
    if (!role || *role == mlir::amp::Role::Batch ||
        *role == mlir::amp::Role::Hyperparameter)
      continue;
    hasParts |= buffer.getPartOf().has_value();
    own += buffer.getBytes();
    whole +=
        buffer.getPartOf() ? getBytes(*buffer.getPartOf()) : buffer.getBytes();
  }
  if (hasParts)
    os << "state of each rank " << own << " bytes, of one rank without parts "
       << whole << " bytes\n";
}

std::string mlir::cuda::describeMissingProducts(ProgramOp program,
                                                int capability) {
  using ::amp::cuda::Float8Scale;
  for (auto product : program.getBody().front().getOps<ScaledGemmOp>()) {
    Float8Scale kind = getScaleKind(product, /*isB=*/false);
    if (!hasFloat8Scale(capability, Float8Scale::Tensor))
      return "8-bit products";
    if (!hasFloat8Scale(capability, kind))
      return hasBlocks(kind) ? "8-bit products with scales of blocks"
                             : "8-bit products with scales of rows";
  }
  return "";
}

void mlir::cuda::printCosts(ProgramOp program, StringRef name, int64_t nodes,
                            raw_ostream &os) {
  const amphost::GPUModel *model = amphost::findGPUTarget(name);
  assert(model && "expected a name of the table");
  const amphost::GPUModel &target = *model;
  os << "'" << program.getSymName() << "' on " << target.target << "\n"
     << llvm::formatv("{0,-32} {1,14} {2,14} {3,8} {4,12} {5,12}\n", "launch",
                      "operations", "bytes", "bound by", "roofline, us",
                      "estimate, us");
  double sums[3] = {};
  int64_t flops = 0, bytes = 0;
  auto launches = program.getBody().front().getOps<LaunchOpInterface>();
  auto print = [&](LaunchOpInterface launch) {
    Cost cost = getCost(launch, target, Precision::AsWritten);
    os << llvm::formatv("{0,-32} {1,14} {2,14} {3,8} {4,12:f3} {5,12:f3}",
                        launch.getName().value_or(""), launch.getFlops(),
                        getTrafficBytes(launch),
                        cost.arithmetic > cost.memory ? "compute" : "memory",
                        cost.getSeconds() * 1e6,
                        estimateSeconds(launch, target) * 1e6);
    if (std::optional<Reader> reader = getReader(launch))
      os << "  for " << stringifyReader(*reader);
    os << "\n";
  };
  SmallVector<LaunchOpInterface> training;
  for (LaunchOpInterface launch : launches) {
    // Collectives come after the launches.
    if (!isInEachStep(launch) || launch.isCollective())
      continue;
    training.push_back(launch);
    print(launch);
    flops += launch.getFlops();
    bytes += getTrafficBytes(launch);
    for (Precision precision :
         {Precision::AsWritten, Precision::F32, Precision::TF32})
      sums[int(precision)] +=
          getCost(launch, target, precision).getSeconds() * 1e6;
  }
  os << llvm::formatv("{0,-32} {1,14} {2,14} {3,8} {4,12:f3}\n", "step", flops,
                      bytes, "", sums[0])
     << llvm::formatv(
            "roofline bound as written {0:f3} us, in f32 {1:f3} us, with TF32 "
            "products {2:f3} us\n",
            sums[0], sums[1], sums[2]);
  printFloat8(training, target, os);
  printEstimate(training, target, os);
  if (program.getRanks())
    printRankCosts(
        program, {int64_t(*program.getRanks()), nodes}, target,
        [&](LaunchOpInterface launch) {
          return estimateSeconds(launch, target);
        },
        os);
  printStateOfRanks(program, os);
  os << "memory " << program.getArena() << " bytes";
  if (program.getBound())
    os << "; no plan takes less than " << *program.getBound();
  os << "\n";
  if (llvm::any_of(launches, refreshes))
    os << "only in steps before which the caller has changed a state:\n";
  for (LaunchOpInterface launch : launches)
    if (refreshes(launch))
      print(launch);
  if (llvm::none_of(launches, [](LaunchOpInterface launch) {
        return getReader(launch).has_value();
      }))
    return;
  os << "only in steps whose metrics or predictions are read:\n";
  double seconds = 0;
  for (LaunchOpInterface launch : launches) {
    if (!refreshes(launch))
      seconds += estimateSeconds(launch, target);
    if (getReader(launch))
      print(launch);
  }
  os << llvm::formatv("estimate of a step with all of them {0:f3} us\n",
                      seconds * 1e6);
  if (program.getPredictions())
    os << "with predictions the memory is " << *program.getPredictions()
       << " bytes\n";
}
