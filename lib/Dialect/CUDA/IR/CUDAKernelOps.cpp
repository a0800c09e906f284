//===- CUDAKernelOps.cpp - Generated kernels ------------------------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LaunchSupport.h"

#include "amp/Dialect/CUDA/IR/Float8ScaleKinds.h"
#include "amp/Runtime/CUDA/Sizes.h"
#include "amp/Runtime/Host/ValueStatistics.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/AffineExpr.h"
#include "mlir/IR/AffineMap.h"
#include "llvm/Support/CheckedArithmetic.h"

using namespace mlir;
using namespace mlir::cuda;

/// The syntax of a list of integers: `[1, 2]`.
static ParseResult parseIntegers(OpAsmParser &parser,
                                 DenseI64ArrayAttr &values) {
  SmallVector<int64_t> list;
  if (parser.parseCommaSeparatedList(OpAsmParser::Delimiter::Square, [&] {
        return parser.parseInteger(list.emplace_back());
      }))
    return failure();
  values = parser.getBuilder().getDenseI64ArrayAttr(list);
  return success();
}

static void printIntegers(OpAsmPrinter &printer, Operation *,
                          DenseI64ArrayAttr values) {
  printer << formatList(values);
}

bool KernelOp::isReducedLoop(int64_t loop) {
  return isReduction() && llvm::is_contained(*getReduced(), loop);
}

int64_t KernelOp::getNumOutputElements() {
  int64_t count = 1;
  for (auto [loop, extent] : llvm::enumerate(getExtents()))
    if (!isReducedLoop(loop))
      count *= extent;
  return count;
}

int64_t KernelOp::getNumReducedElements() {
  int64_t count = 1;
  for (auto [loop, extent] : llvm::enumerate(getExtents()))
    if (isReducedLoop(loop))
      count *= extent;
  return count;
}

bool KernelOp::isColumnReduction() {
  if (!isReduction() || getNumOutputElements() == 1)
    return false;
  auto launch = cast<LaunchOpInterface>(getOperation());
  // The largest input determines the order.
  std::optional<unsigned> largest;
  int64_t most = 1;
  for (unsigned input = 0; input < getNumElementInputs(); ++input)
    if (int64_t count = launch.getInputType(input).getNumElements();
        count > most) {
      most = count;
      largest = input;
    }
  if (!largest)
    return false;
  AffineMap map = getMap(*largest);
  auto last = dyn_cast<AffineDimExpr>(map.getResult(map.getNumResults() - 1));
  return last && !isReducedLoop(last.getPosition());
}

unsigned KernelOp::getNumStored() {
  size_t targets = getOutputs().size() + getResults().size();
  std::optional<QuantizationAttr> quantization = getQuantization();
  size_t copies = quantization ? quantization->getTypes().size() : 0;
  return targets > copies ? targets - copies : 0;
}

/// Returns the last operation before `op` that is not a view, or null.
static Operation *skipViewsBefore(Operation *op) {
  do
    op = op->getPrevNode();
  while (isa_and_nonnull<UpperHalfOp, ViewOp>(op));
  return op;
}

bool KernelOp::sharesLaunch() {
  auto other = dyn_cast_if_present<KernelOp>(skipViewsBefore(getOperation()));
  return isStatistics() && other && other.isStatistics() &&
         getReader(cast<LaunchOpInterface>(getOperation())) ==
             getReader(cast<LaunchOpInterface>(other.getOperation()));
}

/// Whether `kernel` begins a launch because the table of the previous launch is
/// full.
static bool beginsLaunch(KernelOp kernel) {
  SmallVector<KernelOp> group(1, kernel);
  while (group.back().sharesLaunch())
    group.push_back(cast<KernelOp>(skipViewsBefore(group.back())));
  int size = 0, words = 0;
  for (KernelOp each : llvm::reverse(group)) {
    const int own = 1 + int(each.getOperands().size() + each->getNumResults());
    if (size == ::amp::cuda::kMostCounted ||
        words + own > ::amp::cuda::kMostCountedWords)
      size = words = 0;
    ++size;
    words += own;
  }
  return size == 1;
}

int64_t KernelOp::getNumKernels() {
  if (!isStatistics())
    return 1;
  if (sharesLaunch())
    return beginsLaunch(*this);
  // The first launch that counts follows a fill of memory, which clears the
  // counts of the step that several blocks add.
  bool isCleared = false;
  for (KernelOp other : getOperation()->getBlock()->getOps<KernelOp>()) {
    if (!other.isStatistics())
      continue;
    if (other->isBeforeInBlock(*this))
      return 1;
    isCleared |= other.getPredicate() || other.getNumReducedElements() >
                                             ::amp::cuda::kMostCountedByBlock;
  }
  return isCleared ? 2 : 1;
}

int64_t KernelOp::getScratchBytes() {
  if (std::optional<QuantizationAttr> quantization = getQuantization();
      quantization && quantization->getAmax())
    return ::amp::cuda::quantizeScratchBytes(quantization->getRows(),
                                             quantization->getColumns());
  if (!isReduction() || isStatistics())
    return 0;
  // The type in which values are combined. The verifier of the regions, which
  // runs later, checks that it exists.
  auto yield = dyn_cast_if_present<YieldOp>(
      getBody().front().empty() ? nullptr : &getBody().front().back());
  if (!yield || yield.getNumOperands() != 1)
    return 0;
  Type combined = yield.getOperand(0).getType();
  int words = combined.isF64() || combined.isInteger(64) ? 2 : 1;
  int64_t reduced = getNumReducedElements(), kept = getNumOutputElements();
  if (kept == 1)
    return ::amp::cuda::reduceScratchBytes(reduced, words);
  if (isColumnReduction())
    return ::amp::cuda::columnScratchBytes(reduced, kept, words);
  return 0;
}

bool KernelOp::mayAlias(unsigned target, unsigned input) {
  auto launch = cast<LaunchOpInterface>(getOperation());
  if (isReduction() || input >= getNumElementInputs() ||
      target >= getNumStored())
    return false;
  // The kernel may read the same value elsewhere in another order.
  for (unsigned other = 0; other < getInputs().size(); ++other)
    if (getInputs()[other] == getInputs()[input] &&
        (other >= getNumElementInputs() ||
         getMap(other) != getTargetMap(target)))
      return false;
  return launch.getInputType(input) == launch.getTargetType(target);
}

int64_t KernelOp::getFlops() {
  // Counts each floating-point operation of the body as one.
  auto count = [](Region &region) {
    int64_t operations = 0;
    for (Operation &op : region.getOps())
      if (op.getNumResults() == 1 && isa<FloatType>(op.getResult(0).getType()))
        if (StringRef dialect = op.getName().getDialectNamespace();
            (dialect == "arith" || dialect == "math") &&
            op.getNumOperands() > 0 &&
            !op.getName().getStringRef().ends_with("tf") &&
            !op.getName().getStringRef().ends_with("cf"))
          ++operations;
    return operations;
  };
  if (isStatistics())
    return getNumReducedElements() *
           (count(getBody()) +
            cast<LaunchOpInterface>(getOperation()).getNumTargets() *
                ::amp::cuda::kOperationsPerCount);
  int64_t outputs = getNumOutputElements();
  int64_t flops = outputs * getNumReducedElements() *
                  (count(getBody()) + (isReduction() ? 1 : 0));
  if (!getFinish().empty())
    flops += outputs * count(getFinish());
  if (getQuantization())
    flops += 2 * outputs;
  return flops;
}

std::string KernelOp::getTargetSuffix(unsigned target) {
  unsigned stored = getNumStored();
  if (target >= stored)
    return getQuantization()->getTargetSuffix(target - stored).str();
  return getOutputs().size() + getResults().size() == 1
             ? ""
             : "." + std::to_string(target);
}

int64_t mlir::cuda::getArrivalCounterBytes() {
  return ::amp::cuda::kArrivalCounterBytes;
}

//===----------------------------------------------------------------------===//
// Verification
//===----------------------------------------------------------------------===//

/// The least and greatest value of `expr` over loops of these extents. Nothing
/// if they are unknown.
static std::optional<std::pair<int64_t, int64_t>>
getBounds(AffineExpr expr, ArrayRef<int64_t> extents) {
  if (auto constant = dyn_cast<AffineConstantExpr>(expr))
    return std::pair(constant.getValue(), constant.getValue());
  if (auto dim = dyn_cast<AffineDimExpr>(expr))
    return std::pair(int64_t(0), extents[dim.getPosition()] - 1);
  auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
  if (!binary)
    return std::nullopt;
  auto lhs = getBounds(binary.getLHS(), extents);
  auto rhs = getBounds(binary.getRHS(), extents);
  if (!lhs || !rhs)
    return std::nullopt;
  auto pair = [](std::optional<int64_t> least, std::optional<int64_t> greatest)
      -> std::optional<std::pair<int64_t, int64_t>> {
    if (!least || !greatest)
      return std::nullopt;
    return std::minmax(*least, *greatest);
  };
  if (expr.getKind() == AffineExprKind::Add)
    return pair(llvm::checkedAdd(lhs->first, rhs->first),
                llvm::checkedAdd(lhs->second, rhs->second));
  if (rhs->first != rhs->second)
    return std::nullopt;
  int64_t factor = rhs->first;
  switch (expr.getKind()) {
  case AffineExprKind::Mul:
    return pair(llvm::checkedMul(lhs->first, factor),
                llvm::checkedMul(lhs->second, factor));
  case AffineExprKind::Mod:
    // C++ computes the printed remainder, which has the sign of the dividend.
    if (lhs->first < 0 || factor <= 0)
      return std::nullopt;
    return std::pair(int64_t(0), factor - 1);
  case AffineExprKind::FloorDiv:
    if (lhs->first < 0 || factor <= 0)
      return std::nullopt;
    return std::pair(lhs->first / factor, lhs->second / factor);
  default:
    return std::nullopt;
  }
}

static LogicalResult verifyMap(KernelOp op, AffineMap map, ShapedType type,
                               const Twine &what) {
  SmallVector<int64_t> extents(op.getExtents());
  if (map.getNumDims() != extents.size() || map.getNumSymbols() != 0 ||
      map.getNumResults() != type.getRank())
    return op.emitOpError()
           << "the map of " << what << " is " << AffineMapAttr::get(map)
           << ", expected one of " << extents.size() << " loops to "
           << type.getRank() << " dimensions";
  for (auto [expr, extent] :
       llvm::zip_equal(map.getResults(), type.getShape())) {
    auto bounds = getBounds(expr, extents);
    if (!bounds || bounds->first < 0 || bounds->second >= extent) {
      auto diagnostic = op.emitOpError();
      if (!bounds) {
        diagnostic
            << "the map of " << what << " is " << AffineMapAttr::get(map)
            << ", expected floordiv and mod of a non-negative value by a "
               "positive constant";
        return diagnostic;
      }
      diagnostic << "the map of " << what << " leaves the dimension of "
                 << extent << " elements: it runs from " << bounds->first
                 << " to " << bounds->second;
      return diagnostic;
    }
  }
  return success();
}

static bool isFloat8(Type type) {
  return isa<Float8E4M3FNType, Float8E5M2Type>(type);
}

/// Verifies that a kernel stores no 8-bit floats. Their codes are integers in
/// C++.
static LogicalResult verifyNoFloat8(LaunchOpInterface launch,
                                    unsigned numStored) {
  for (unsigned target = 0; target < numStored; ++target)
    if (Type element = launch.getTargetType(target).getElementType();
        isFloat8(element))
      return launch->emitOpError("writes ")
             << element << ", expected another element type";
  return success();
}

/// Verifies that a kernel reads 8-bit floats only as their codes.
static LogicalResult verifyReadsCodes(KernelOp op) {
  WalkResult result = op.getBody().walk([&](Operation *inner) {
    for (Type type : inner->getOperandTypes())
      if (isFloat8(type) && !isa<arith::BitcastOp>(inner)) {
        inner->emitOpError("reads ")
            << type << " in a kernel, expected arith.bitcast to its code, i8";
        return WalkResult::interrupt();
      }
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

/// Verifies the 8-bit copies that `op` writes in addition to its stored
/// outputs.
static LogicalResult verifyCopies(KernelOp op) {
  std::optional<QuantizationAttr> quantization = op.getQuantization();
  if (!quantization)
    return success();
  auto launch = cast<LaunchOpInterface>(op.getOperation());
  if (op.isReduction() || op.getPredicate())
    return op.emitOpError("combines 'quantize' with 'reduce' or a predicate, "
                          "expected neither");
  if (launch.getNumTargets() < quantization->getTypes().size() ||
      op.getInputs().size() <
          op.getNumElementInputs() + quantization->takesScale())
    return op.emitOpError("has ")
           << op.getInputs().size() << " inputs and " << launch.getNumTargets()
           << " targets, expected the inputs and targets of " << *quantization;
  if (llvm::checkedMul<int64_t>(quantization->getRows(),
                                quantization->getColumns()) !=
      std::optional<int64_t>(op.getNumOutputElements()))
    return op.emitOpError("quantises ")
           << quantization->getRows() << " rows of "
           << quantization->getColumns() << " columns, expected "
           << op.getNumOutputElements() << " elements";
  if (getScaleKinds(*quantization).first == ::amp::cuda::Float8Scale::Outer)
    return op.emitOpError("has scales of rows, expected blocks of 32, 128 or "
                          "128 x 128 elements");
  return verifyQuantization(launch, *quantization, op.getNumStored());
}

/// Verifies the outputs of a kernel that counts values.
static LogicalResult verifyStatistics(KernelOp op) {
  auto launch = cast<LaunchOpInterface>(op.getOperation());
  unsigned targets = launch.getNumTargets();
  if (targets == 0 || targets > KernelOp::kMaxStatistics)
    return op.emitOpError("counts values for ")
           << targets << " outputs, expected 1 to " << KernelOp::kMaxStatistics;
  if (op.getReduced()->size() != op.getExtents().size())
    return op.emitOpError("counts values over ")
           << op.getReduced()->size() << " of " << op.getExtents().size()
           << " loops, expected all of them";
  AffineMap first = AffineMap::get(op.getExtents().size(), 0,
                                   getAffineConstantExpr(0, op.getContext()));
  for (unsigned target = 0; target < targets; ++target) {
    if (op.getTargetMap(target) != first)
      return op.emitOpError("the map of output ")
             << target << " is " << AffineMapAttr::get(op.getTargetMap(target))
             << ", expected " << AffineMapAttr::get(first);
    if (failed(verifyType(op, "output " + std::to_string(target),
                          launch.getTargetType(target),
                          {::amphost::kNumStatistics},
                          IntegerType::get(op.getContext(), 64))))
      return failure();
  }
  return success();
}

LogicalResult KernelOp::verify() {
  auto launch = cast<LaunchOpInterface>(getOperation());
  unsigned targets = getNumStored();
  if (failed(verifyNoFloat8(launch, targets)))
    return failure();
  if (getMaps().size() < targets ||
      getMaps().size() > targets + getInputs().size())
    return emitOpError("has ") << getMaps().size() << " maps, expected one per "
                               << "element-wise input and one per output";
  for (auto [loop, extent] : llvm::enumerate(getExtents()))
    if (extent <= 0)
      return emitOpError("loop ") << loop << " has extent " << extent;
  if (!hasCountableElements(getExtents()))
    return emitOpError("has loops over ")
           << formatList(getExtents())
           << ", expected extents whose product is at most 2^40";
  if (getReduced().has_value() != getCombine().has_value())
    return emitOpError("needs 'reduce' and 'with' together");
  SmallVector<int64_t> kept;
  SmallVector<AffineExpr> dims;
  if (isReduction()) {
    if (targets != 1 && !isStatistics())
      return emitOpError("reduces to ") << targets << " outputs, expected one";
    ArrayRef<int64_t> loops = *getReduced();
    if (loops.empty() && !isStatistics())
      return emitOpError("reduces over no loop");
    for (int64_t loop : loops)
      if (loop < 0 || loop >= int64_t(getExtents().size()))
        return emitOpError("reduces over loop ")
               << loop << " of " << getExtents().size();
  }
  for (auto [loop, extent] : llvm::enumerate(getExtents()))
    if (!isReducedLoop(loop)) {
      kept.push_back(extent);
      dims.push_back(getAffineDimExpr(loop, getContext()));
    }
  AffineMap inOrder =
      AffineMap::get(getExtents().size(), 0, dims, getContext());
  if (isStatistics() && failed(verifyStatistics(*this)))
    return failure();
  for (unsigned target = 0; target < targets && !isStatistics(); ++target) {
    if (getTargetMap(target) != inOrder)
      return emitOpError("the map of output ")
             << target << " is " << AffineMapAttr::get(getTargetMap(target))
             << ", expected " << AffineMapAttr::get(inOrder);
    if (launch.getTargetType(target).getShape() != ArrayRef<int64_t>(kept))
      return emitOpError("output ")
             << target << " has shape "
             << formatList(launch.getTargetType(target).getShape())
             << ", expected the extents of the loops, " << formatList(kept);
  }
  for (unsigned input = 0; input < getNumElementInputs(); ++input)
    if (failed(verifyMap(*this, getMap(input), launch.getInputType(input),
                         "input " + Twine(input))))
      return failure();
  if (failed(verifyCopies(*this)))
    return failure();
  return verifyLaunch(launch);
}

LogicalResult KernelOp::verifyRegions() {
  auto launch = cast<LaunchOpInterface>(getOperation());
  Block &body = getBody().front();
  if (body.getNumArguments() != getInputs().size())
    return emitOpError("has a body of ")
           << body.getNumArguments() << " arguments, expected one per input, "
           << getInputs().size();
  for (auto [index, argument] : llvm::enumerate(body.getArguments())) {
    Type expected = launch.getInputType(index);
    if (index < getNumElementInputs())
      expected = launch.getInputType(index).getElementType();
    if (argument.getType() != expected)
      return emitOpError("argument ")
             << index << " of the body is of type " << argument.getType()
             << ", expected " << expected;
  }
  auto verifyYield = [&](Block &block, StringRef what,
                         TypeRange types) -> LogicalResult {
    auto yield = dyn_cast<YieldOp>(block.getTerminator());
    if (yield && yield.getOperandTypes() == types)
      return success();
    auto diagnostic = emitOpError("the ") << what << " must yield ";
    llvm::interleaveComma(types, diagnostic);
    return diagnostic;
  };
  if (failed(verifyReadsCodes(*this)))
    return failure();
  SmallVector<Type> stored;
  for (unsigned target = 0; target < getNumStored(); ++target)
    stored.push_back(launch.getTargetType(target).getElementType());
  if (getQuantization()) {
    auto yield = dyn_cast<YieldOp>(body.getTerminator());
    if (!yield || yield.getNumOperands() != stored.size() + 1 ||
        !isWide(yield->getOperands().back().getType()))
      return emitOpError("quantises no value of the body, expected a last one "
                         "of f16, bf16 or f32");
    stored.push_back(yield->getOperands().back().getType());
  }
  if (!isReduction()) {
    if (!getFinish().empty())
      return emitOpError("has 'finish' but reduces nothing");
    return verifyYield(body, "body", stored);
  }
  if (isStatistics()) {
    if (!getFinish().empty())
      return emitOpError("has 'finish' but counts values");
    return verifyYield(
        body, "body",
        SmallVector<Type>(2 * stored.size(), Float32Type::get(getContext())));
  }
  auto yield = dyn_cast<YieldOp>(body.getTerminator());
  if (!yield || yield.getNumOperands() != 1)
    return emitOpError("the body of a reduction must yield one value");
  Type combined = yield.getOperand(0).getType();
  bool isLogical = getCombine() == Combine::And || getCombine() == Combine::Or;
  bool isExtremum =
      getCombine() == Combine::Maximum || getCombine() == Combine::Minimum;
  bool fits = isLogical ? combined.isInteger(1)
              : isExtremum
                  ? combined.isF32()
                  : combined.isF32() || combined.isF64() ||
                        combined.isInteger(1) || combined.isInteger(32) ||
                        combined.isInteger(64);
  if (!fits)
    return emitOpError("cannot combine values of type ")
           << combined << " with '" << stringifyCombine(*getCombine())
           << "'; expected f32, f64, i1, i32 or i64 for add and mul, f32 for "
              "maximum and minimum, i1 for and and or";
  if (getFinish().empty()) {
    if (combined != stored.front())
      return emitOpError("stores values of type ")
             << combined << " in an output of " << stored.front()
             << "; expected a 'finish' that converts them";
    return success();
  }
  Block &finish = getFinish().front();
  if (finish.getNumArguments() != 1 ||
      finish.getArgument(0).getType() != combined)
    return emitOpError("'finish' must take one value of type ") << combined;
  return verifyYield(finish, "'finish'", stored);
}

LogicalResult IndexOp::verify() {
  auto kernel = (*this)->getParentOfType<KernelOp>();
  if (!kernel)
    return emitOpError("expected to be inside a 'cuda.kernel'");
  if (int64_t(getLoop()) < 0 ||
      int64_t(getLoop()) >= int64_t(kernel.getExtents().size()))
    return emitOpError("asks for loop ")
           << int64_t(getLoop()) << " of " << kernel.getExtents().size();
  if ((*this)->getParentRegion() == &kernel.getFinish())
    return emitOpError("is in 'finish', which has no loops");
  return success();
}

//===----------------------------------------------------------------------===//
// Generated code
//===----------------------------------------------------------------------===//

#define GET_OP_CLASSES
#include "amp/Dialect/CUDA/IR/CUDAKernelOps.cpp.inc"

void CUDADialect::registerKernelOps() {
  addOperations<
#define GET_OP_LIST
#include "amp/Dialect/CUDA/IR/CUDAKernelOps.cpp.inc"
      >();
}
