//===- ProductReport.cpp - The 8-bit products of a step as JSON -----------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ProductReport.h"

#include "amp/Dialect/AMP/IR/InsertedCast.h"
#include "amp/Support/LocationText.h"
#include "amp/Support/OutputFile.h"
#include "amp/Support/TensorTypes.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace mlir::amp;

static int64_t getFlops(Operation *op) {
  auto iface = dyn_cast<PrecisionOpInterface>(op);
  return iface ? iface.getProductFlops() : 0;
}

/// Whether `op` gives the elements of its only operand in another type or
/// shape.
static bool isView(Operation *op) {
  if (op->getNumOperands() != 1 || op->getNumResults() != 1)
    return false;
  auto iface = dyn_cast<FloatRangeOpInterface>(op);
  return CastLike(op) ||
         (iface && iface.getElementFlow() == ElementFlow::Moves);
}

/// Returns the bytes of the 16-bit tensor that the backward pass reads as
/// `copy` instead. Returns std::nullopt if it does not, or if something else
/// still reads the tensor there.
static std::optional<int64_t>
findFreedBytes(const SelectedCopy &copy,
               const ProductReport::Decision &decision) {
  Value source = copy.getSource();
  if (copy.operand.kind != CopyKind::Input || isa<BlockArgument>(source) ||
      !typeOf(source).hasStaticShape())
    return std::nullopt;
  llvm::DenseSet<Operation *> readers;
  bool hasDequantized = false;
  for (const Candidate &candidate : decision.candidates)
    if (candidate.reason.empty() || candidate.dequantized) {
      readers.insert(candidate.op);
      hasDequantized |= candidate.dequantized.has_value();
    }
  // Of the copies with scales of rows or blocks, the backward pass reads one.
  if (!copy.isReadBackward && !hasDequantized)
    return std::nullopt;
  bool isSaved = false;
  SmallVector<Value> values = {source};
  while (!values.empty())
    for (Operation *user : values.pop_back_val().getUsers()) {
      bool isBackward = decision.chooser.isBackward(user);
      if (readers.contains(user))
        isSaved |= isBackward;
      else if (isBackward)
        return std::nullopt;
      else if (isView(user))
        values.push_back(user->getResult(0));
    }
  return isSaved ? std::optional(2 * typeOf(source).getNumElements())
                 : std::nullopt;
}

//===----------------------------------------------------------------------===//
// Parts
//===----------------------------------------------------------------------===//

static double toMicroseconds(int64_t picoseconds) {
  return double(picoseconds) * 1e-6;
}

/// Names of a module may hold any bytes, but those of JSON are UTF-8.
static std::string toText(StringRef name) { return llvm::json::fixUTF8(name); }

static llvm::json::Object describeProduct(const Candidate &candidate) {
  llvm::json::Object product{
      {"op", candidate.op->getName().getStringRef()},
      {"location", toText(LocationText(candidate.op->getLoc()).place)},
      {"pass", candidate.isForward() ? "forward" : "backward"},
      {"bits", candidate.reason.empty() ? 8 : 16},
      {"flops", getFlops(candidate.op)}};
  if (candidate.isOfLayer)
    product["layer"] = toText(candidate.getLayer());
  if (!candidate.reason.empty())
    product["reason"] = candidate.reason;
  if (candidate.savedTime)
    product["savedMicroseconds"] = toMicroseconds(*candidate.savedTime);
  return product;
}

static llvm::json::Object describeCopy(const SelectedCopy &copy) {
  std::string format;
  llvm::raw_string_ostream(format) << std::get<Type>(copy.key);
  llvm::json::Object object{{"layer", toText(copy.operand.layer)},
                            {"kind", stringifyKind(copy.operand.kind)},
                            {"format", format},
                            {"readers", copy.readers},
                            {"orders", copy.getOrders()}};
  if (auto blocks =
          cast_or_null<DenseI64ArrayAttr>(std::get<Attribute>(copy.key)))
    object["blocks"] = llvm::json::Array(blocks.asArrayRef());
  if (copy.readBytes) {
    object["readBytes"] = *copy.readBytes;
    object["writtenBytes"] = *copy.writtenBytes;
  }
  if (copy.freedBytes)
    object["freedBytes"] = *copy.freedBytes;
  if (copy.time)
    object["microseconds"] = toMicroseconds(*copy.time);
  return object;
}

static llvm::json::Object sumCopies(ArrayRef<SelectedCopy> copies) {
  int64_t read = 0, written = 0, freed = 0;
  for (const SelectedCopy &copy : copies) {
    read += copy.readBytes.value_or(0);
    written += copy.writtenBytes.value_or(0);
    freed += copy.freedBytes.value_or(0);
  }
  return llvm::json::Object{{"copies", int64_t(copies.size())},
                            {"readBytes", read},
                            {"writtenBytes", written},
                            {"freedBytes", freed}};
}

/// The operations of all products, of layers, and of those with 8-bit operands.
static llvm::json::Object sumProducts(FunctionOpInterface function,
                                      ArrayRef<Candidate> candidates) {
  int64_t all = 0, ofLayers = 0, kept = 0, low = 0;
  function->walk([&](Operation *op) { all += getFlops(op); });
  for (const Candidate &candidate : candidates) {
    int64_t flops = getFlops(candidate.op);
    ofLayers += candidate.isOfLayer ? flops : 0;
    kept += candidate.isOfLayer && candidate.isKept ? flops : 0;
    low += candidate.reason.empty() ? flops : 0;
  }
  llvm::json::Object sums{{"flops", all},
                          {"layerFlops", ofLayers},
                          {"keptFlops", kept},
                          {"float8Flops", low}};
  if (ofLayers > kept)
    sums["float8Share"] = double(low) / double(ofLayers - kept);
  return sums;
}

//===----------------------------------------------------------------------===//
// The report
//===----------------------------------------------------------------------===//

std::vector<SelectedCopy> ProductReport::add(FunctionOpInterface function,
                                             const Decision &decision) {
  std::vector<SelectedCopy> copies =
      listCopies(decision.candidates, decision.recipe, decision.rates);
  llvm::json::Array products, listed;
  for (const Candidate &candidate : decision.candidates)
    products.push_back(describeProduct(candidate));
  for (SelectedCopy &copy : copies) {
    copy.freedBytes = findFreedBytes(copy, decision);
    listed.push_back(describeCopy(copy));
  }
  llvm::json::Object entry{
      {"name", toText(function.getName())},
      {"recipe", decision.recipe.name},
      {"products", std::move(products)},
      {"copies", std::move(listed)},
      {"productTotals", sumProducts(function, decision.candidates)},
      {"copyTotals", sumCopies(copies)},
      {"moduleCopyTotals",
       sumCopies(listCopies(decision.candidates, decision.recipe,
                            decision.rates, Sharing::Layer))}};
  if (!decision.target.empty())
    entry["target"] = decision.target;
  functions.push_back(std::move(entry));
  return copies;
}

LogicalResult ProductReport::write(StringRef path, Operation *root) const {
  llvm::json::Object report{{"version", 1},
                            {"functions", llvm::json::Array(functions)}};
  std::string text =
      llvm::formatv("{0:2}\n", llvm::json::Value(std::move(report)));
  if (llvm::Error error = writeOutputFile(path, text))
    return root->emitError("amp-quantize-products: ")
           << llvm::toString(std::move(error));
  return success();
}
