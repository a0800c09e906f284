//===- ParameterStorage.cpp - Halves and copies of parameters -------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TrainToCUDA.h"

#include "amp/Dialect/AMP/IR/AMPWeightOps.h"
#include "amp/Dialect/AMP/IR/StepSignature.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;
using namespace mlir::cuda;

//===----------------------------------------------------------------------===//
// Halves
//===----------------------------------------------------------------------===//

/// Whether `use` returns the new value of `parameter`.
static bool isUpdateOf(OpOperand &use, BlockArgument parameter) {
  auto step = cast<func::FuncOp>(parameter.getOwner()->getParentOp());
  StringRef updates = mlir::amp::AMPDialect::kUpdatesAttr;
  return isa<func::ReturnOp>(use.getOwner()) &&
         step.getResultAttr(use.getOperandNumber(), updates) ==
             step.getArgAttr(parameter.getArgNumber(),
                             mlir::amp::AMPDialect::kNameAttr);
}

/// Whether all results of `optimizer` are only new values of arguments. It is
/// then the last launch that reads these arguments.
static bool endsStep(OptimizerOp optimizer) {
  return llvm::all_of(optimizer->getUses(), [](OpOperand &use) {
    auto step = dyn_cast<func::ReturnOp>(use.getOwner());
    return step &&
           step->getParentOfType<func::FuncOp>().getResultAttr(
               use.getOperandNumber(), mlir::amp::AMPDialect::kUpdatesAttr);
  });
}

/// Returns the optimizer that is the only reader of `parameter` in f32. Returns
/// null if no operation reads the parameter in f32. If another operation reads
/// it, returns null and sets `other` to this operation.
static OptimizerOp findOnlyOptimizer(BlockArgument parameter,
                                     Operation *&other) {
  OptimizerOp found;
  for (OpOperand &use : parameter.getUses()) {
    if (isa<mlir::amp::UpperHalfOp>(use.getOwner()) ||
        isUpdateOf(use, parameter))
      continue;
    auto optimizer = dyn_cast<OptimizerOp>(use.getOwner());
    unsigned index = use.getOperandNumber();
    bool isParameter =
        optimizer && !found && endsStep(optimizer) &&
        index < optimizer.getNumParameters() &&
        optimizer.getResult(index).hasOneUse() &&
        isUpdateOf(*optimizer.getResult(index).use_begin(), parameter);
    if (!isParameter) {
      other = use.getOwner();
      return {};
    }
    found = optimizer;
  }
  return found;
}

void mlir::cuda::splitParameters(func::FuncOp step) {
  Builder builder(step.getContext());
  for (BlockArgument parameter : step.getArguments()) {
    if (mlir::amp::getRole(parameter) != mlir::amp::Role::Parameter ||
        llvm::none_of(parameter.getUsers(), [](Operation *user) {
          return isa<mlir::amp::UpperHalfOp>(user);
        }))
      continue;
    Operation *other = nullptr;
    OptimizerOp optimizer = findOnlyOptimizer(parameter, other);
    if (other) {
      reportDecomposed(other, "NotSplit",
                       "it reads a parameter in f32, whose halves are "
                       "therefore not stored apart");
      continue;
    }
    step.setArgAttr(parameter.getArgNumber(), kSplitAttr,
                    builder.getUnitAttr());
    if (optimizer) {
      SmallVector<int64_t> splits(optimizer.getSplits());
      for (auto [index, updated] : llvm::enumerate(optimizer.getParameters()))
        if (updated == parameter)
          splits.push_back(index);
      optimizer.setSplits(splits);
    }
    for (Operation *user : llvm::make_early_inc_range(parameter.getUsers()))
      if (auto half = dyn_cast<mlir::amp::UpperHalfOp>(user)) {
        OpBuilder at(half);
        Value view =
            UpperHalfOp::create(at, half.getLoc(), half.getType(), parameter);
        half.getHalf().replaceAllUsesWith(view);
        half.erase();
      }
  }
}

//===----------------------------------------------------------------------===//
// Casts
//===----------------------------------------------------------------------===//

void mlir::cuda::mergeParameterCasts(func::FuncOp step) {
  llvm::MapVector<Type, SmallVector<mlir::amp::CastOp>> groups;
  for (BlockArgument argument : step.getArguments()) {
    if (mlir::amp::getRole(argument) != mlir::amp::Role::Parameter ||
        !getElementTypeOrSelf(argument.getType()).isF32())
      continue;
    for (Operation *user : argument.getUsers())
      if (auto cast = dyn_cast<mlir::amp::CastOp>(user);
          cast && cast->getBlock() == &step.getBody().front() &&
          cast.getType().getElementTypeBitWidth() == 16)
        groups[cast.getType().getElementType()].push_back(cast);
  }
  for (auto &[type, casts] : groups) {
    if (casts.size() < 2)
      continue;
    SmallVector<Value> inputs;
    SmallVector<Type> types;
    SmallVector<Location> locations;
    for (mlir::amp::CastOp cast : casts) {
      inputs.push_back(cast.getInput());
      types.push_back(cast.getType());
      locations.push_back(getNamedLocation(cast));
    }
    OpBuilder builder = OpBuilder::atBlockBegin(&step.getBody().front());
    auto merged = CastsOp::create(builder, builder.getFusedLoc(locations),
                                  types, StringAttr(), inputs, ValueRange(),
                                  ValueRange(), Value());
    for (auto [cast, result] : llvm::zip_equal(casts, merged.getResults())) {
      cast.getResult().replaceAllUsesWith(result);
      cast.erase();
    }
  }
}
