//===- OutlineKernels.cpp - Functions for loop nests ----------------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// See https://llvm.org/LICENSE.txt for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A step is one function with thousands of loops. Some passes of LLVM visit all
// loops of a function for each of its loops, which makes compilation quadratic.
// This pass outlines every nest into a function and merges equal functions.
//
//===----------------------------------------------------------------------===//

#include "amp/CodeGen/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/ViewLikeInterface.h"
#include "mlir/Transforms/RegionUtils.h"
#include "llvm/ADT/Hashing.h"
#include "llvm/ADT/SetVector.h"

namespace mlir::amp {
#define GEN_PASS_DEF_OUTLINEKERNELS
#include "amp/CodeGen/Passes.h.inc"
} // namespace mlir::amp

using namespace mlir;
using namespace mlir::amp;

/// A loop with more nests in it than this is not outlined as a whole.
static constexpr unsigned kMaxNests = 8;

//===----------------------------------------------------------------------===//
// Choice of kernels
//===----------------------------------------------------------------------===//

static bool isBuffer(Value value) {
  return isa<BaseMemRefType>(value.getType());
}

/// Whether `op` is a loop nest over buffers that uses only buffers and scalars
/// from its surroundings.
static bool isKernel(Operation *op) {
  if (auto generic = dyn_cast<linalg::LinalgOp>(op))
    // An operation without loops is straight-line code.
    return generic.hasPureBufferSemantics() && generic.getNumLoops() != 0;
  if (!isa<scf::ForOp, scf::WhileOp, scf::ParallelOp>(op) ||
      llvm::any_of(op->getResults(), isBuffer))
    return false;
  unsigned nests = 0;
  WalkResult result = op->walk([&](Operation *inner) {
    if (isa<linalg::LinalgOp, scf::ForOp, scf::WhileOp, scf::ParallelOp>(inner))
      ++nests;
    bool stays = isa<memref::DeallocOp, CallOpInterface>(inner);
    return stays || nests > kMaxNests + 1 ? WalkResult::interrupt()
                                          : WalkResult::advance();
  });
  return !result.wasInterrupted();
}

/// Appends the outermost kernels in `region`.
static void collectKernels(Region &region, SmallVectorImpl<Operation *> &list) {
  for (Block &block : region)
    for (Operation &op : block) {
      if (isKernel(&op))
        list.push_back(&op);
      else
        for (Region &inner : op.getRegions())
          collectKernels(inner, list);
    }
}

//===----------------------------------------------------------------------===//
// Overlap of buffers
//===----------------------------------------------------------------------===//

/// The allocation, constant or buffer of the step that `buffer` is a part of.
/// Null if it is unknown.
static Value getRoot(Value buffer) {
  while (auto view = buffer.getDefiningOp<ViewLikeOpInterface>())
    buffer = view.getViewSource();
  if (auto argument = dyn_cast<BlockArgument>(buffer)) {
    auto function = dyn_cast<func::FuncOp>(argument.getOwner()->getParentOp());
    bool distinct = function && function.getArgAttr(
                                    argument.getArgNumber(),
                                    LLVM::LLVMDialect::getNoAliasAttrName());
    return distinct ? buffer : Value();
  }
  bool distinct = isa<memref::AllocOp, memref::AllocaOp, memref::GetGlobalOp>(
      buffer.getDefiningOp());
  return distinct ? buffer : Value();
}

/// Whether `op` may write `buffer`.
static bool mayWrite(Operation *op, Value buffer) {
  auto structured = dyn_cast<linalg::LinalgOp>(op);
  return !structured || llvm::is_contained(structured.getDpsInits(), buffer);
}

/// For each of `values`, whether it is a buffer that does not overlap with the
/// others. Buffers that are only read do not count.
static SmallVector<bool> findDistinct(Operation *op, ValueRange values) {
  SmallVector<Value> roots;
  for (Value value : values)
    roots.push_back(isBuffer(value) ? getRoot(value) : Value());
  SmallVector<bool> distinct(values.size(), false);
  for (auto [value, root] : llvm::zip(values, roots))
    if (isBuffer(value) && !root)
      return distinct;
  for (unsigned i = 0; i < values.size(); ++i) {
    if (!roots[i])
      continue;
    bool clash = false;
    for (unsigned j = 0; j < values.size(); ++j)
      clash |= i != j && roots[i] == roots[j] &&
               (mayWrite(op, values[i]) || mayWrite(op, values[j]));
    distinct[i] = !clash;
  }
  return distinct;
}

//===----------------------------------------------------------------------===//
// The functions
//===----------------------------------------------------------------------===//

/// Whether a pointer alone can represent a buffer of this type.
static bool isPointer(Type type) {
  auto memref = dyn_cast<MemRefType>(type);
  int64_t offset;
  SmallVector<int64_t> strides;
  return memref && memref.hasStaticShape() &&
         succeeded(memref.getStridesAndOffset(strides, offset)) &&
         !ShapedType::isDynamic(offset) &&
         llvm::none_of(strides, ShapedType::isDynamic);
}

static llvm::hash_code hashBody(func::FuncOp function) {
  llvm::hash_code hash = hash_value(function.getFunctionType());
  function.getBody().walk([&](Operation *op) {
    hash =
        llvm::hash_combine(hash, OperationEquivalence::computeHash(
                                     op, OperationEquivalence::ignoreHashValue,
                                     OperationEquivalence::ignoreHashValue,
                                     OperationEquivalence::IgnoreLocations));
  });
  return hash;
}

static bool areEqual(func::FuncOp lhs, func::FuncOp rhs) {
  return lhs.getFunctionType() == rhs.getFunctionType() &&
         lhs.getArgAttrsAttr() == rhs.getArgAttrsAttr() &&
         OperationEquivalence::isRegionEquivalentTo(
             &lhs.getBody(), &rhs.getBody(),
             OperationEquivalence::IgnoreLocations);
}

namespace {

struct OutlineKernels : mlir::amp::impl::OutlineKernelsBase<OutlineKernels> {
  void runOnOperation() override {
    known.clear();
    SymbolTable symbols(getOperation());
    for (auto function :
         llvm::to_vector(getOperation().getOps<func::FuncOp>())) {
      SmallVector<Operation *> kernels;
      collectKernels(function.getBody(), kernels);
      // A function that consists of one nest stays as it is.
      if (kernels.size() < 2)
        continue;
      for (Operation *kernel : kernels)
        outline(kernel, function, symbols);
    }
  }

private:
  void outline(Operation *op, func::FuncOp parent, SymbolTable &symbols);
  func::FuncOp deduplicate(func::FuncOp function, SymbolTable &symbols);

  llvm::DenseMap<size_t, SmallVector<func::FuncOp, 1>> known;
};

} // namespace

void OutlineKernels::outline(Operation *op, func::FuncOp parent,
                             SymbolTable &symbols) {
  llvm::SetVector<Value> captured(op->operand_begin(), op->operand_end());
  getUsedValuesDefinedAbove(op->getRegions(), captured);
  SmallVector<Value> arguments;
  SmallVector<Operation *> copied;
  for (Value value : captured) {
    Operation *source = value.getDefiningOp();
    if (source && (source->hasTrait<OpTrait::ConstantLike>() ||
                   isa<memref::GetGlobalOp>(source)))
      copied.push_back(source);
    else
      arguments.push_back(value);
  }

  OpBuilder builder(&getContext());
  auto type = builder.getFunctionType(ValueRange(arguments).getTypes(),
                                      op->getResultTypes());
  auto function = func::FuncOp::create(
      op->getLoc(), (parent.getName() + "_kernel").str(), type);
  function.setPrivate();
  Block *body = function.addEntryBlock();
  builder.setInsertionPointToStart(body);
  IRMapping mapping;
  mapping.map(arguments, body->getArguments());
  for (Operation *constant : copied)
    builder.clone(*constant, mapping);
  Operation *inner = builder.clone(*op, mapping);
  func::ReturnOp::create(builder, op->getLoc(), inner->getResults());

  StringRef noAlias = LLVM::LLVMDialect::getNoAliasAttrName();
  for (auto [index, distinct] : llvm::enumerate(findDistinct(op, arguments)))
    if (distinct)
      function.setArgAttr(index, noAlias, builder.getUnitAttr());
  if (llvm::all_of(arguments, [](Value value) {
        return !isBuffer(value) || isPointer(value.getType());
      }))
    function->setAttr("llvm.bareptr", builder.getUnitAttr());
  function->setAttr(
      "llvm.linkage",
      LLVM::LinkageAttr::get(&getContext(), LLVM::Linkage::Internal));
  // Prevent LLVM from inlining the functions again.
  function->setAttr("passthrough", builder.getStrArrayAttr({"noinline"}));

  function = deduplicate(function, symbols);
  builder.setInsertionPoint(op);
  auto call = func::CallOp::create(builder, op->getLoc(), function, arguments);
  op->replaceAllUsesWith(call);
  op->erase();
}

/// Adds `function` to the module, or returns an equal function of the module.
func::FuncOp OutlineKernels::deduplicate(func::FuncOp function,
                                         SymbolTable &symbols) {
  SmallVector<func::FuncOp, 1> &equals = known[hashBody(function)];
  for (func::FuncOp other : equals)
    if (areEqual(function, other)) {
      ++numShared;
      function.erase();
      return other;
    }
  ++numKernels;
  symbols.insert(function);
  equals.push_back(function);
  return function;
}
