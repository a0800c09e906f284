//===- Fusion.cpp - Fusion and names of kernels ---------------------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TrainToCUDA.h"

#include "amp/Dialect/AMP/IR/StepSignature.h"
#include "amp/Dialect/Train/IR/Train.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace mlir::cuda;

//===----------------------------------------------------------------------===//
// Readers of a reduction
//===----------------------------------------------------------------------===//

/// Appends the operations of `from` to `to`, with its arguments replaced by
/// `arguments`. Returns the yielded values.
static SmallVector<Value> appendBody(Block &from, Block *to,
                                     ValueRange arguments) {
  IRMapping mapping;
  mapping.map(from.getArguments(), arguments);
  OpBuilder builder = OpBuilder::atBlockEnd(to);
  for (Operation &op : from.without_terminator())
    builder.clone(op, mapping);
  return llvm::map_to_vector(from.getTerminator()->getOperands(),
                             [&](Value v) { return mapping.lookup(v); });
}

/// Whether `kernel` computes each element of its only result from the element
/// at the same position of its only input.
static bool isPointwise(KernelOp kernel) {
  if (kernel.isReduction() || kernel.getPredicate() ||
      kernel.getInputs().size() != 1 || kernel.getResults().size() != 1 ||
      kernel.getNumElementInputs() != 1)
    return false;
  AffineMap map = kernel.getMap(0);
  // Extents of 1 may also be read at 0.
  if (map.getNumResults() != kernel.getExtents().size())
    return false;
  for (auto [loop, expr] : llvm::enumerate(map.getResults())) {
    if (expr == getAffineDimExpr(loop, kernel.getContext()))
      continue;
    auto constant = dyn_cast<AffineConstantExpr>(expr);
    if (!constant || constant.getValue() != 0 || kernel.getExtents()[loop] != 1)
      return false;
  }
  return kernel.getBody().getOps<IndexOp>().empty() &&
         cast<ShapedType>(kernel.getInputs()[0].getType()).getNumElements() ==
             kernel.getNumOutputElements();
}

/// The pointwise kernel that is the only reader of `value`, possibly in another
/// shape.
static KernelOp getPointwiseReader(Value value) {
  if (!value.hasOneUse())
    return {};
  Operation *user = *value.user_begin();
  if (auto view = dyn_cast<ViewOp>(user))
    return getPointwiseReader(view.getResult());
  auto kernel = dyn_cast<KernelOp>(user);
  return kernel && isPointwise(kernel) ? kernel : KernelOp();
}

/// Moves the pointwise kernel after `reduction` into its 'finish'.
static bool absorbReader(KernelOp reduction) {
  if (!reduction.isReduction() || reduction.getPredicate())
    return false;
  KernelOp reader = getPointwiseReader(reduction.getResults()[0]);
  if (!reader)
    return false;
  OpBuilder builder(reduction);
  auto type = cast<RankedTensorType>(reduction.getResults()[0].getType());
  auto result = type.clone(
      cast<ShapedType>(reader.getResults()[0].getType()).getElementType());
  auto merged = KernelOp::create(
      builder, builder.getFusedLoc({reduction.getLoc(), reader.getLoc()}),
      result, StringAttr(), reduction.getInputs(), ValueRange(), ValueRange(),
      Value(), reduction.getExtentsAttr(), reduction.getMapsAttr(),
      reduction.getReducedAttr(), reduction.getCombineAttr(),
      QuantizationAttr());
  merged.getBody().takeBody(reduction.getBody());
  Block &finish = merged.getFinish().emplaceBlock();
  Type combined =
      merged.getBody().front().getTerminator()->getOperand(0).getType();
  SmallVector<Value> values{finish.addArgument(combined, reduction.getLoc())};
  if (!reduction.getFinish().empty())
    values = appendBody(reduction.getFinish().front(), &finish, values);
  values = appendBody(reader.getBody().front(), &finish, values);
  OpBuilder inner = OpBuilder::atBlockEnd(&finish);
  YieldOp::create(inner, reader.getLoc(), values);

  builder.setInsertionPoint(reader);
  Value last = merged.getResults()[0];
  if (last.getType() != reader.getResults()[0].getType())
    last = ViewOp::create(builder, reader.getLoc(),
                          reader.getResults()[0].getType(), last);
  Value read = reader.getInputs()[0];
  reader.getResults()[0].replaceAllUsesWith(last);
  reader.erase();
  while (auto view = read.getDefiningOp<ViewOp>()) {
    read = view.getSource();
    view.erase();
  }
  reduction.erase();
  return true;
}

//===----------------------------------------------------------------------===//
// Adjacent kernels
//===----------------------------------------------------------------------===//

/// The maximum number of pointers in a merged kernel. Many more do not fit into
/// registers.
static constexpr unsigned kMaxOperands = 32;
static unsigned countOperands(KernelOp kernel) {
  return kernel.getInputs().size() + kernel.getNumResults();
}

/// Whether `second`, which comes later, may run at the position of `first`.
static bool mayMerge(KernelOp first, KernelOp second) {
  if (first.isReduction() || second.isReduction() || first.getPredicate() ||
      second.getPredicate() ||
      first.getNumOutputElements() != second.getNumOutputElements() ||
      first.getExtents() != second.getExtents())
    return false;
  for (Value input : second.getInputs()) {
    Operation *definition = input.getDefiningOp();
    if (definition && (definition == first.getOperation() ||
                       !definition->isBeforeInBlock(first)))
      return false;
  }
  return first.getNumOutputElements() == 1 ||
         llvm::any_of(second.getInputs(), [&](Value input) {
           return llvm::is_contained(first.getInputs(), input);
         });
}

static KernelOp mergeSiblings(KernelOp first, KernelOp second) {
  OpBuilder builder(first);
  SmallVector<Value> inputs, captured;
  SmallVector<AffineMap> maps, outputs;
  SmallVector<Type> types;
  for (KernelOp kernel : {first, second}) {
    unsigned elements = kernel.getNumElementInputs();
    for (auto [index, input] : llvm::enumerate(kernel.getInputs())) {
      if (index < elements) {
        inputs.push_back(input);
        maps.push_back(kernel.getMap(index));
      } else {
        captured.push_back(input);
      }
    }
    for (auto [index, result] : llvm::enumerate(kernel.getResults())) {
      outputs.push_back(kernel.getTargetMap(index));
      types.push_back(result.getType());
    }
  }
  unsigned numElements = inputs.size();
  llvm::append_range(inputs, captured);
  llvm::append_range(maps, outputs);
  auto merged = KernelOp::create(
      builder, builder.getFusedLoc({first.getLoc(), second.getLoc()}), types,
      StringAttr(), inputs, ValueRange(), ValueRange(), Value(),
      first.getExtentsAttr(), builder.getAffineMapArrayAttr(maps),
      DenseI64ArrayAttr(), CombineAttr(), QuantizationAttr());
  Block &body = merged.getBody().emplaceBlock();
  for (auto [index, input] : llvm::enumerate(inputs))
    body.addArgument(index < numElements
                         ? cast<ShapedType>(input.getType()).getElementType()
                         : input.getType(),
                     input.getLoc());
  SmallVector<Value> yielded;
  unsigned element = 0, capture = numElements, result = 0;
  for (KernelOp kernel : {first, second}) {
    SmallVector<Value> arguments;
    for (unsigned index = 0; index < kernel.getInputs().size(); ++index)
      arguments.push_back(body.getArgument(
          index < kernel.getNumElementInputs() ? element++ : capture++));
    llvm::append_range(yielded,
                       appendBody(kernel.getBody().front(), &body, arguments));
    for (Value old : kernel.getResults())
      old.replaceAllUsesWith(merged.getResult(result++));
  }
  OpBuilder inner = OpBuilder::atBlockEnd(&body);
  YieldOp::create(inner, merged.getLoc(), yielded);
  second.erase();
  first.erase();
  return merged;
}

void mlir::cuda::mergeKernels(func::FuncOp step) {
  Block &block = step.getBody().front();
  for (bool changed = true; changed;) {
    changed = false;
    for (KernelOp kernel : llvm::to_vector(block.getOps<KernelOp>()))
      if (absorbReader(kernel)) {
        changed = true;
        break;
      }
  }
  // A kernel that moves across a product extends lifetimes. Parts of a batch,
  // which are read in turn, would all be copied first. A scalar takes no
  // memory.
  SmallVector<KernelOp> kernels;
  SmallVector<unsigned> products;
  unsigned numProducts = 0;
  for (Operation &op : block) {
    auto launch = dyn_cast<LaunchOpInterface>(op);
    numProducts += launch && launch.isProduct();
    if (auto kernel = dyn_cast<KernelOp>(op)) {
      kernels.push_back(kernel);
      products.push_back(numProducts);
    }
  }
  for (size_t i = 0; i < kernels.size(); ++i)
    for (size_t j = i + 1; j < kernels.size();) {
      bool isNear =
          products[i] == products[j] || kernels[i].getNumOutputElements() == 1;
      if (!isNear ||
          countOperands(kernels[i]) + countOperands(kernels[j]) >
              kMaxOperands ||
          !mayMerge(kernels[i], kernels[j])) {
        ++j;
        continue;
      }
      kernels[i] = mergeSiblings(kernels[i], kernels[j]);
      kernels.erase(kernels.begin() + j);
      products.erase(products.begin() + j);
    }
}

//===----------------------------------------------------------------------===//
// Names
//===----------------------------------------------------------------------===//

/// Appends the names of operations that `loc` carries.
static void readNames(Location loc, SetVector<StringRef> &names) {
  if (auto fused = dyn_cast<FusedLoc>(loc)) {
    for (Location part : fused.getLocations())
      readNames(part, names);
  } else if (auto named = dyn_cast<NameLoc>(loc)) {
    StringRef name = named.getName();
    if (name.contains('.'))
      names.insert(name.substr(name.rfind('.') + 1));
    readNames(named.getChildLoc(), names);
  }
}

/// The parameter that `value` is, or is a version of.
static StringRef getParameterName(func::FuncOp step, Value value) {
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    auto name = step.getArgAttrOfType<StringAttr>(
        argument.getArgNumber(), mlir::amp::AMPDialect::kNameAttr);
    if (name && mlir::amp::getRole(argument) == mlir::amp::Role::Parameter)
      return name;
    return {};
  }
  Operation *op = value.getDefiningOp();
  if (isa<QuantizeBlocksOp, QuantizeOp, UpperHalfOp, ViewOp,
          train::TransposeOp>(op))
    return getParameterName(step, op->getOperand(0));
  if (isa<CastsOp>(op))
    return getParameterName(
        step, op->getOperand(cast<OpResult>(value).getResultNumber()));
  if (isa<KernelOp>(op) && op->getNumOperands() == 1)
    return getParameterName(step, op->getOperand(0));
  return {};
}

/// Turns "fc1.weight" into "fc1". A name without parts does not change.
static std::string getLayer(StringRef parameter) {
  auto [layer, part] = parameter.rsplit('.');
  return layer.str();
}

/// The name of a product: that of the gradient that it computes, or of the
/// layer whose parameter it multiplies.
static std::string getProductName(func::FuncOp step, LaunchOpInterface launch) {
  if (auto gradients = launch->getAttrOfType<ArrayAttr>(
          mlir::amp::AMPDialect::kGradientOfAttr))
    for (Attribute gradient : gradients)
      if (auto name = dyn_cast<StringAttr>(gradient); name && !name.empty())
        return (name.getValue() + "_grad").str();
  // Turn "a.q.weight", "a.k.weight" into "a.q_k".
  if (auto joined = launch.getInputs()[1].getDefiningOp<train::ConcatOp>()) {
    std::string base;
    for (Value part : joined.getInputs()) {
      std::string layer = getLayer(getParameterName(step, part));
      if (layer.empty())
        return launch.getDefaultName().str();
      base += base.empty() ? layer : "_" + layer.substr(layer.rfind('.') + 1);
    }
    return base;
  }
  StringRef parameter = getParameterName(step, launch.getInputs()[1]);
  if (parameter.empty())
    return launch.getDefaultName().str();
  return getLayer(parameter) +
         (launch->hasAttr(mlir::amp::AMPDialect::kBackwardOfAttr)
              ? "_input_grad"
              : "");
}

/// The name of a tuned kernel: the layer whose parameter it reads.
static std::string getTunedName(func::FuncOp step, LaunchOpInterface launch) {
  for (Value input : launch.getInputs().drop_front())
    if (StringRef parameter = getParameterName(step, input); !parameter.empty())
      return getLayer(parameter) + (launch.isBackward() ? "_grad" : "");
  return launch.getDefaultName().str();
}

/// The name of a generated kernel: its source operations.
static std::string getKernelName(KernelOp kernel) {
  SetVector<StringRef> names;
  for (Region *region : {&kernel.getBody(), &kernel.getFinish()})
    region->walk([&](Operation *op) { readNames(op->getLoc(), names); });
  readNames(kernel.getLoc(), names);
  names.remove("constant");
  SmallVector<StringRef> shown(names.begin(), names.end());
  if (shown.size() > 3)
    shown.resize(3);
  return shown.empty() ? kernel.getDefaultName().str() : llvm::join(shown, "_");
}

static std::string getBaseName(func::FuncOp step, LaunchOpInterface launch) {
  if (launch.getName())
    return launch.getName()->str();
  if (isa<GemmOp, ConvOp, ConvPlanOp, ScaledGemmOp>(launch.getOperation()))
    return getProductName(step, launch);
  if (isa<QuantizeBlocksOp, QuantizeOp>(launch.getOperation()))
    if (StringRef parameter = getParameterName(step, launch.getInputs()[0]);
        !parameter.empty())
      return (parameter + "_8bit").str();
  if (launch->hasTrait<TunedKernel>())
    return getTunedName(step, launch);
  if (auto kernel = dyn_cast<KernelOp>(launch.getOperation()))
    return getKernelName(kernel);
  return launch.getDefaultName().str();
}

void mlir::cuda::nameLaunches(func::FuncOp step) {
  llvm::StringSet<> taken;
  step.walk([&](LaunchOpInterface launch) {
    std::string base;
    for (char c : getBaseName(step, launch))
      base += llvm::isAlnum(c) ? c : '_';
    if (base.empty() || llvm::isDigit(base.front()) || isReservedName(base))
      base = "launch_" + base;
    std::string name = base;
    for (unsigned next = 2; !taken.insert(name).second; ++next)
      name = base + "_" + std::to_string(next);
    launch->setAttr("name", StringAttr::get(step.getContext(), name));
  });
}
