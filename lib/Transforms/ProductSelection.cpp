//===- ProductSelection.cpp - Which 8-bit products save time --------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ProductSelection.h"

#include "amp/Dialect/AMP/IR/AMPQuantizedOps.h"
#include "amp/Support/MaxFlow.h"
#include "amp/Support/TensorTypes.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::amp;

llvm::BitVector ProductSelection::choose() const {
  size_t numNeeds = 0;
  for (const Entry &entry : entries)
    numNeeds += entry.needs.size();
  // An entry is on the side of the source if it is chosen. An entry without
  // those that it needs would cut an arc that no cut may contain.
  MaxFlow flow(entries.size(), 0, numNeeds);
  for (auto [number, entry] : llvm::enumerate(entries)) {
    flow.addTerminal(number, entry.gain);
    for (Number need : entry.needs)
      flow.addArc(number, need, MaxFlow::infinite);
  }
  flow.run();
  llvm::BitVector chosen(entries.size());
  for (Number number = 0; number != entries.size(); ++number)
    if (flow.isOnSourceSide(number))
      chosen.set(number);
  return chosen;
}

int64_t Float8Costs::getProductTime(int64_t m, int64_t n, int64_t k,
                                    int64_t resultBytes, bool isFloat8) const {
  constexpr int64_t kUnit = 16;
  if (isFloat8)
    for (int64_t *extent : {&m, &n, &k})
      *extent = llvm::alignTo(*extent, kUnit);
  double rate = isFloat8 ? rates.float8 : rates.half;
  double flops = 2.0 * double(m) * double(n) * double(k);
  int64_t operandBytes = (m * k + k * n) * (isFloat8 ? 1 : 2);
  return std::max(int64_t(flops / rate * 1e12),
                  getTime(operandBytes + resultBytes));
}

int64_t Float8Costs::getReadBytes(int64_t bytes, bool isElementwise,
                                  bool contractsColumns) const {
  if (readsTiles())
    return bytes;
  // Only a row stays in registers between its magnitude and its codes.
  if (recipe.block == 0)
    return contractsColumns ? bytes : 2 * bytes;
  int64_t passes = recipe.isDelayed ? 1 : 2;
  return (isElementwise ? passes - 1 : passes) * bytes;
}

//===----------------------------------------------------------------------===//
// The products of a step
//===----------------------------------------------------------------------===//

namespace {

/// Builds the problem for the candidates of a step.
class StepSelection {
public:
  StepSelection(MutableArrayRef<Candidate> candidates,
                const ScalingRecipe &recipe, const GPURates &rates)
      : candidates(candidates), recipe(recipe), costs(rates, recipe) {}

  LogicalResult run();

private:
  using Number = ProductSelection::Number;
  struct CopyEntry {
    Number number;
    /// The entries of its orders, by whether products contract its columns.
    std::optional<Number> orders[2];
  };

  LogicalResult addProduct(Candidate &candidate);
  Number addCopy(const CopiedOperand &operand);
  std::optional<Number> findForward(const Candidate &candidate) const;

  MutableArrayRef<Candidate> candidates;
  const ScalingRecipe &recipe;
  Float8Costs costs;
  ProductSelection selection;
  llvm::MapVector<QuantizedCopies::Key, CopyEntry> copies;
  /// The reads of tensors that serve all copies of a format.
  llvm::MapVector<std::pair<Value, Type>, Number> reads;
  llvm::MapVector<Candidate *, Number> products;
};

} // namespace

/// Returns whether a kernel without products computes `value`. Such a kernel
/// can make the copy, too.
static bool isOfElementwiseKernel(Value value) {
  Operation *op = value.getDefiningOp();
  for (; op; op = op->getOperand(0).getDefiningOp()) {
    auto iface = dyn_cast<FloatRangeOpInterface>(op);
    if (!iface || iface.getElementFlow() != ElementFlow::Moves ||
        op->getNumOperands() != 1)
      break;
  }
  auto iface = dyn_cast_or_null<PrecisionOpInterface>(op);
  return iface && !isa<MatrixProductOpInterface>(op) &&
         iface.getProductFlops() == 0;
}

/// Adds the copy that `operand` needs, in the order that its product reads.
StepSelection::Number StepSelection::addCopy(const CopiedOperand &operand) {
  auto [it, isNew] =
      copies.try_emplace(QuantizedCopies::getKey(recipe, operand));
  CopyEntry &entry = it->second;
  Value source = std::get<Value>(it->first);
  int64_t elements = typeOf(source).getNumElements();
  if (isNew) {
    int64_t bytes = elements * typeOf(source).getElementTypeBitWidth() / 8;
    int64_t read = costs.getReadBytes(bytes, isOfElementwiseKernel(source),
                                      operand.contractsColumns);
    auto addRead = [&] { return selection.addCost(costs.getTime(read)); };
    if (costs.readsTiles()) {
      auto [shared, isFirst] =
          reads.try_emplace({source, std::get<Type>(it->first)});
      if (isFirst)
        shared->second = addRead();
      entry.number = shared->second;
    } else {
      entry.number = addRead();
    }
  }
  bool order = !costs.readsBothOrders() && operand.contractsColumns;
  std::optional<Number> &written = entry.orders[order];
  if (!written)
    written = selection.addCost(costs.getTime(elements), entry.number);
  return *written;
}

/// Returns the entry of the forward product of the layer to which `candidate`,
/// a product of the backward pass, belongs.
std::optional<StepSelection::Number>
StepSelection::findForward(const Candidate &candidate) const {
  Attribute layer = candidate.op->getAttr(AMPDialect::kBackwardOfAttr);
  Value other = skipInsertedCasts(
      candidate.isLhsGradient ? candidate.product.rhs : candidate.product.lhs);
  std::optional<Number> found;
  for (auto [product, number] : products) {
    if (!product->isForward())
      continue;
    if (layer && product->op->getAttr(AMPDialect::kIdAttr) == layer)
      return number;
    if (!found && (skipInsertedCasts(product->product.lhs) == other ||
                   skipInsertedCasts(product->product.rhs) == other))
      found = number;
  }
  return found;
}

LogicalResult StepSelection::addProduct(Candidate &candidate) {
  auto result = typeOf(candidate.op->getResult(0));
  auto lhs = typeOf(candidate.product.lhs), rhs = typeOf(candidate.product.rhs);
  if (!result.hasStaticShape() || !lhs.hasStaticShape() ||
      !rhs.hasStaticShape())
    return failure();
  SmallVector<int64_t, 2> left = getMatrixShape(lhs.getShape());
  SmallVector<int64_t, 2> right = getMatrixShape(rhs.getShape());
  int64_t k = left[candidate.product.transposeLhs ? 0 : 1];
  int64_t m = left[candidate.product.transposeLhs ? 1 : 0];
  int64_t n = right[candidate.product.transposeRhs ? 0 : 1];
  int64_t bytes = result.getNumElements() * result.getElementTypeBitWidth() / 8;
  candidate.savedTime =
      costs.getProductTime(m, n, k, bytes, /*isFloat8=*/false) -
      costs.getProductTime(m, n, k, bytes, /*isFloat8=*/true);
  SmallVector<Number> needs;
  for (bool isRhs : {false, true})
    needs.push_back(addCopy(candidate.getOperand(isRhs)));
  if (!candidate.isForward())
    if (std::optional<Number> forward = findForward(candidate))
      needs.push_back(*forward);
  products[&candidate] = selection.add(*candidate.savedTime, needs);
  return success();
}

LogicalResult StepSelection::run() {
  // Products of the forward pass come first, so that others find them.
  for (bool isForward : {true, false})
    for (Candidate &candidate : candidates)
      if (candidate.reason.empty() && candidate.isForward() == isForward &&
          failed(addProduct(candidate)))
        return failure();
  llvm::BitVector chosen = selection.choose();
  for (auto [candidate, number] : products)
    if (!chosen.test(number))
      candidate->reason =
          "it saves less time on the target than its copies take";
  return success();
}

LogicalResult mlir::amp::selectProducts(MutableArrayRef<Candidate> candidates,
                                        const ScalingRecipe &recipe,
                                        const GPURates &rates) {
  return StepSelection(candidates, recipe, rates).run();
}

//===----------------------------------------------------------------------===//
// Copies
//===----------------------------------------------------------------------===//

/// Adds the bytes of `copy` and, with `rates`, its time. `isRead` says that the
/// launch of another copy reads the tensor and makes this copy, too.
static void addCosts(SelectedCopy &copy, const ScalingRecipe &recipe,
                     const std::optional<GPURates> &rates, bool isFused,
                     bool isRead) {
  RankedTensorType type = typeOf(copy.getSource());
  if (!type.hasStaticShape())
    return;
  const GPURates none = {};
  Float8Costs costs(rates ? *rates : none, recipe);
  int64_t elements = type.getNumElements();
  copy.readBytes =
      isRead ? 0
             : costs.getReadBytes(elements * type.getElementTypeBitWidth() / 8,
                                  isFused &&
                                      isOfElementwiseKernel(copy.getSource()),
                                  copy.operand.contractsColumns);
  copy.writtenBytes = copy.getOrders() * elements;
  if (rates)
    copy.time = costs.getTime(*copy.readBytes) +
                copy.getOrders() * costs.getTime(elements);
}

std::vector<SelectedCopy>
mlir::amp::listCopies(ArrayRef<Candidate> candidates,
                      const ScalingRecipe &recipe,
                      const std::optional<GPURates> &rates, Sharing sharing) {
  // The second member of a key is the number of the layer plus one.
  llvm::MapVector<std::pair<QuantizedCopies::Key, unsigned>, SelectedCopy>
      copies;
  bool readsBothOrders = rates && rates->capability >= 100;
  for (auto [number, candidate] : llvm::enumerate(candidates)) {
    if (!candidate.reason.empty())
      continue;
    unsigned layer = sharing == Sharing::Layer
                         ? candidate.forward.value_or(unsigned(number)) + 1
                         : 0;
    for (bool isRhs : {false, true}) {
      CopiedOperand operand = candidate.getOperand(isRhs);
      QuantizedCopies::Key key = QuantizedCopies::getKey(recipe, operand);
      SelectedCopy &copy = copies[{key, layer}];
      if (copy.readers++ == 0) {
        copy.operand = operand;
        copy.key = key;
      }
      copy.isRead[!readsBothOrders && operand.contractsColumns] = true;
      copy.isReadBackward |= !candidate.isForward();
    }
  }
  std::vector<SelectedCopy> listed;
  llvm::DenseSet<std::tuple<Value, Type, unsigned>> read;
  for (auto &[key, copy] : copies) {
    bool isFirst = read.insert({std::get<Value>(copy.key),
                                std::get<Type>(copy.key), key.second})
                       .second;
    addCosts(copy, recipe, rates, sharing == Sharing::Step,
             recipe.block > 0 && !isFirst);
    listed.push_back(copy);
  }
  return listed;
}
