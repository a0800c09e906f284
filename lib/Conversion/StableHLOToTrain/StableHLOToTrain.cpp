//===- StableHLOToTrain.cpp - Forward losses of JAX as train graphs -------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "amp/Conversion/Passes.h"

#include "StableHLOImporter.h"
#include "amp/Dialect/AMP/IR/AMP.h"
#include "amp/Dialect/AMP/IR/StepSignature.h"
#include "amp/Support/ConvertOnCopy.h"
#include "amp/Support/SymbolUses.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/StringMap.h"

namespace mlir::amp {
#define GEN_PASS_DEF_STABLEHLOTOTRAIN
#include "amp/Conversion/Passes.h.inc"
} // namespace mlir::amp

using namespace mlir;
using namespace mlir::amp;
using namespace mlir::train;

namespace {

struct StableHLOToTrain final
    : mlir::amp::impl::StableHLOToTrainBase<StableHLOToTrain> {
  using Base::Base;

  void runOnOperation() override {
    if (optimizer != "none" && optimizer != "sgd" && optimizer != "adam") {
      getOperation().emitError("stablehlo-to-train: unknown optimizer '")
          << optimizer << "', expected none, sgd or adam";
      return signalPassFailure();
    }
    if (failed(convertOnCopy(getOperation(), [&](Operation *root) {
          return convert(cast<ModuleOp>(root));
        })))
      signalPassFailure();
  }

private:
  LogicalResult convert(ModuleOp module) {
    SmallVector<func::FuncOp> steps;
    for (auto function : module.getOps<func::FuncOp>())
      if (isStepFunction(function))
        steps.push_back(function);
    if (steps.empty())
      return module.emitError(
          "stablehlo-to-train: no function has arguments with 'amp.role'; "
          "expected a loss that is marked by position");
    for (func::FuncOp step : steps)
      if (failed(StableHLOImporter(step).run(optimizer, learningRate)))
        return failure();
    eraseUnused(module);
    return success();
  }

  /// Erases private functions without uses. Their bodies have been inlined into
  /// the steps.
  static void eraseUnused(ModuleOp module) {
    llvm::StringMap<func::FuncOp> unused;
    SmallVector<Operation *> worklist;
    for (Operation &op : *module.getBody()) {
      auto function = dyn_cast<func::FuncOp>(op);
      if (function && function.isPrivate() && !isStepFunction(function))
        unused[function.getName()] = function;
      else
        worklist.push_back(&op);
    }
    while (!worklist.empty())
      worklist.pop_back_val()->walk([&](Operation *op) {
        forEachSymbolRef(op, [&](SymbolRefAttr symbol) {
          auto it = unused.find(symbol.getRootReference().getValue());
          if (it == unused.end())
            return;
          worklist.push_back(it->second);
          unused.erase(it);
        });
      });
    for (auto &entry : unused)
      entry.second.erase();
  }
};

} // namespace

Value StableHLOImporter::get(Value value) {
  auto it = known.find(value);
  if (it == known.end())
    return {};
  Known &entry = it->second;
  if (entry.value || !entry.number)
    return entry.value;
  auto type = dyn_cast<RankedTensorType>(value.getType());
  if (!type || !type.hasStaticShape() || !isFloat(type))
    return {};
  auto number = builder.getFloatAttr(type.getElementType(), *entry.number);
  return train::ConstantOp::create(
      builder, value.getLoc(), DenseElementsAttr::get(type, number.getValue()));
}

StringRef StableHLOImporter::getBody(Operation *op) {
  if (op->getNumRegions() != 1 || !op->getRegion(0).hasOneBlock())
    return {};
  Block &body = op->getRegion(0).front();
  if (llvm::range_size(body) != 2)
    return {};
  return body.front().getName().stripDialect();
}

//===----------------------------------------------------------------------===//
// Walk
//===----------------------------------------------------------------------===//

void StableHLOImporter::visitBlock(Block &block,
                                   SmallVectorImpl<Value> &returned) {
  for (Operation &op : block) {
    if (isa<func::ReturnOp>(op) ||
        op.getName().getStringRef() == "stablehlo.return") {
      returned.assign(op.operand_begin(), op.operand_end());
      continue;
    }
    visit(&op);
  }
}

void StableHLOImporter::visit(Operation *op) {
  if (auto call = dyn_cast<func::CallOp>(op)) {
    auto callee = SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(
        op, call.getCalleeAttr());
    // A recursive function cannot be inlined. Its call is reported as
    // unsupported.
    if (callee && callee.getBody().hasOneBlock() && callee != function &&
        !llvm::is_contained(callees, callee)) {
      callees.push_back(callee);
      for (auto [argument, operand] :
           llvm::zip(callee.getArguments(), call.getOperands()))
        known[argument] = known.lookup(operand);
      SmallVector<Value> returned;
      visitBlock(callee.getBody().front(), returned);
      for (auto [result, value] : llvm::zip(call.getResults(), returned))
        known[result] = known.lookup(value);
      callees.pop_back();
      return;
    }
  }
  // Values of an earlier call of this function are not valid any more.
  for (Value result : op->getResults()) {
    known.erase(result);
    gelus.erase(result);
    averages.erase(result);
  }
  advice = {};
  StringRef dialect = op->getName().getDialectNamespace();
  bool isKnown = dialect == "stablehlo" || dialect == "chlo";
  if (isKnown && !areOperandsValid(op))
    advice = "its operands do not fit";
  else if (convertMany(op) || convert(op)) {
    if (haveResultTypes(op))
      return;
    advice = "its results have other types than it computes";
    for (Value result : op->getResults())
      known.erase(result);
  }
  // The operation that needs unknown integers or booleans reports itself.
  bool hasFloats = llvm::any_of(op->getResultTypes(), [](Type type) {
    return isa<FloatType>(getElementTypeOrSelf(type));
  });
  if (!hasFloats && advice.empty())
    return;
  if (unsupported.empty())
    firstUnsupported = op->getLoc();
  std::string name = op->getName().getStringRef().str();
  if (!advice.empty())
    name += (" (" + advice + ")").str();
  ++unsupported[builder.getStringAttr(name)];
  // Continue, so that the error names the others as well.
  for (OpResult result : op->getResults())
    if (auto type = dyn_cast<RankedTensorType>(result.getType());
        type && type.hasStaticShape() && isFloat(type))
      known[result] = {Value(), 0.0, std::nullopt};
}

/// Converts operations with any number of results.
bool StableHLOImporter::convertMany(Operation *op) {
  StringRef name = op->getName().getStringRef();
  for (Type type : op->getResultTypes())
    if (auto tensor = dyn_cast<RankedTensorType>(type);
        !tensor || !tensor.hasStaticShape())
      return false;
  if (name == "stablehlo.while")
    return convertWhile(op);
  if (name == "stablehlo.case" || name == "stablehlo.if")
    return convertBranches(op);
  if (name == "stablehlo.sort")
    return convertSort(op);
  if (name == "chlo.top_k")
    return convertTopK(op);
  return name == "stablehlo.reduce" && op->getNumResults() == 2 &&
         convertArgReduce(op);
}

bool StableHLOImporter::convert(Operation *op) {
  StringRef name = op->getName().stripDialect();
  StringRef dialect = op->getName().getDialectNamespace();
  if ((dialect != "stablehlo" && dialect != "chlo") || op->getNumResults() != 1)
    return false;
  auto type = dyn_cast<RankedTensorType>(op->getResult(0).getType());
  if (!type || !type.hasStaticShape())
    return false;
  if (fold(op))
    return true;
  if (!isFloat(type)) {
    if ((name == "compare" || name == "is_finite") &&
        isFloat(op->getOperand(0).getType()))
      return convertElementwise(op, name);
    return convertIntegers(op) || convertComputed(op);
  }
  return convertResult(op, name);
}

/// Converts an operation whose result consists of floats.
bool StableHLOImporter::convertResult(Operation *op, StringRef name) {
  if (name == "select")
    return convertSelect(op);
  if (name == "convert")
    return convertConvert(op);
  if (name == "iota")
    return convertIota(op);
  if (name == "erfc")
    return convertErfc(op);
  if (name == "concatenate")
    return convertConcatenate(op);
  if (name == "pad")
    return convertPad(op);
  if (name == "dot_general")
    return convertDot(op);
  if (name == "convolution")
    return convertConvolution(op);
  if (name == "reduce")
    return convertReduce(op);
  if (name == "reduce_window")
    return convertPool(op);
  if (name == "gather")
    return convertGather(op) || convertAnyGather(op);
  if (name == "reverse")
    return convertReverse(op);
  if (name == "erf_inv")
    return convertErfInv(op);
  if (name == "bitcast_convert")
    return computeConversion(op);
  if (name == "dynamic_slice")
    return convertDynamicSlice(op);
  if (name == "dynamic_update_slice")
    return convertDynamicUpdate(op);
  if (name == "scatter")
    return convertScatter(op) || convertAnyScatter(op);
  if (name == "remainder")
    return convertRemainder(op);
  return convertElementwise(op, name) || convertMovement(op, name);
}

//===----------------------------------------------------------------------===//
// The step
//===----------------------------------------------------------------------===//

/// Describes an argument. Signed integers are indices.
static Known describeArgument(Value argument, bool isSigned) {
  Known result{argument, std::nullopt, std::nullopt};
  auto type = dyn_cast<RankedTensorType>(argument.getType());
  if (isSigned && type && type.hasStaticShape() &&
      (type.getElementType().isSignlessInteger(32) ||
       type.getElementType().isSignlessInteger(64)))
    result.integers =
        KnownIntegers{KnownIntegers::Kind::Index,
                      llvm::to_vector(type.getShape()), argument, 0, nullptr};
  return result;
}

LogicalResult StableHLOImporter::run(StringRef optimizer, double learningRate) {
  if (!function.getBody().hasOneBlock())
    return function.emitError("expected a loss of one block");
  for (GradientSeedOp seed : function.getBody().getOps<GradientSeedOp>())
    return seed.emitError("stablehlo-to-train: expected a loss without its "
                          "backward pass, as 'amp_jax.lower_loss' writes it, "
                          "got a training step");
  Block *old = &function.getBody().front();
  unsigned loss = function.getNumResults();
  for (unsigned i = 0; i < function.getNumResults(); ++i)
    if (auto metric = function.getResultAttrOfType<StringAttr>(
            i, AMPDialect::kMetricAttr);
        metric && metric.getValue() == "loss")
      loss = i;
  bool updates = optimizer != "none";
  if (updates &&
      (loss == function.getNumResults() || function.getNumResults() != 1))
    return function.emitError(
        "expected a loss as the only result, with 'amp.metric' = \"loss\"");

  Block *block =
      builder.createBlock(&function.getBody(), function.getBody().begin());
  SmallVector<Type> inputs;
  for (BlockArgument argument : old->getArguments()) {
    // Arithmetic has operations for unsigned integers and no types.
    RankedTensorType type = getComputedType(argument.getType());
    inputs.push_back(type ? type : argument.getType());
    known[argument] =
        describeArgument(block->addArgument(inputs.back(), argument.getLoc()),
                         inputs.back() == argument.getType());
  }
  SmallVector<Value> returned, results;
  visitBlock(*old, returned);
  function.setFunctionType(
      builder.getFunctionType(inputs, function.getFunctionType().getResults()));
  for (Value value : returned)
    results.push_back(get(value));
  if (unsupported.empty() && llvm::is_contained(results, Value()))
    ++unsupported[builder.getStringAttr("a result other than tensor<...xf32>")];
  if (!unsupported.empty()) {
    block->dropAllReferences();
    block->erase();
    auto diag = emitError(firstUnsupported)
                << "stablehlo-to-train: unsupported here: ";
    llvm::interleaveComma(unsupported, diag, [&](const auto &entry) {
      diag << entry.second << " x " << entry.first.getValue();
    });
    return diag;
  }
  // Erase operations that only a part of a pattern needed.
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(*block)))
    if (isOpTriviallyDead(&op) && !llvm::is_contained(results, op.getResult(0)))
      op.erase();
  builder.setInsertionPointToEnd(block);
  if (updates &&
      failed(addUpdates(optimizer, learningRate, results[0], results)))
    return failure();
  func::ReturnOp::create(builder, function.getLoc(), results);
  // No callee reads values of the old body any more.
  old->dropAllDefinedValueUses();
  old->erase();
  return success();
}
