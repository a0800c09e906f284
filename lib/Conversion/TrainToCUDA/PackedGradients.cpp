//===- PackedGradients.cpp - Gradients of a packed product ----------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The gradient of an attention whose queries, keys and values are parts of one
// product is one tensor. The backward pass joins it by sums of padded tensors,
// or by a concatenation.
//
//===----------------------------------------------------------------------===//

#include "TrainToCUDA.h"

#include "amp/Dialect/Train/IR/Train.h"
#include "amp/Support/TensorTypes.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace mlir::cuda;
using mlir::amp::typeOf;

namespace {
/// A sum of three padded tensors, or a concatenation, that joins the gradients
/// of queries, keys and values in the rows of one tensor.
struct PackedGradients {
  Operation *root = nullptr;
  int64_t offsets[3] = {};
};
} // namespace

/// The only user of `value`, or null.
static Operation *getOnlyUser(Value value) {
  return value.hasOneUse() ? *value.getUsers().begin() : nullptr;
}

/// Whether `pad` pads nothing but the last dimension, with zeros.
static bool padsRows(train::PadOp pad) {
  auto isZero = [](int64_t count) { return count == 0; };
  return pad.getValue().isZero() && llvm::all_of(pad.getInterior(), isZero) &&
         llvm::all_of(pad.getLow().drop_back(), isZero) &&
         llvm::all_of(pad.getHigh().drop_back(), isZero);
}

/// Finds the tensor that joins `gradients`, each [batch, positions, heads,
/// size].
static PackedGradients findPacked(ArrayRef<Value> gradients) {
  PackedGradients packed;
  SmallVector<Value> rows;
  for (Value gradient : gradients) {
    auto reshape = dyn_cast_or_null<train::ReshapeOp>(getOnlyUser(gradient));
    if (!reshape || typeOf(gradient).getRank() != 4)
      return {};
    auto type = typeOf(reshape.getResult());
    // The rows of the gradient: [.., heads x size].
    if (type.getShape().back() !=
        typeOf(gradient).getDimSize(2) * typeOf(gradient).getDimSize(3))
      return {};
    rows.push_back(reshape.getResult());
  }
  if (auto concat = dyn_cast_or_null<train::ConcatOp>(getOnlyUser(rows[0]))) {
    if (concat.getInputs().size() != 3 ||
        int64_t(concat.getAxis()) != typeOf(rows[0]).getRank() - 1)
      return {};
    for (unsigned i = 0; i < 3; ++i) {
      if (getOnlyUser(rows[i]) != concat)
        return {};
      for (Value part : concat.getInputs()) {
        if (part == rows[i])
          break;
        packed.offsets[i] += typeOf(part).getShape().back();
      }
    }
    packed.root = concat;
    return packed;
  }
  SmallVector<Value> terms;
  for (auto [row, offset] : llvm::zip_equal(rows, packed.offsets)) {
    auto pad = dyn_cast_or_null<train::PadOp>(getOnlyUser(row));
    if (!pad || !padsRows(pad))
      return {};
    offset = pad.getLow().back();
    terms.push_back(pad.getResult());
  }
  // Two additions join the three terms.
  while (terms.size() > 1) {
    bool isJoined = false;
    for (Value term : terms) {
      auto add = dyn_cast_or_null<train::AddOp>(getOnlyUser(term));
      if (!add || add.getLhs() == add.getRhs() ||
          !llvm::is_contained(terms, add.getLhs()) ||
          !llvm::is_contained(terms, add.getRhs()))
        continue;
      Value lhs = add.getLhs(), rhs = add.getRhs();
      llvm::erase_if(terms,
                     [&](Value other) { return other == lhs || other == rhs; });
      terms.push_back(add.getResult());
      packed.root = add;
      isJoined = true;
      break;
    }
    if (!isJoined)
      return {};
  }
  return packed;
}

/// Whether the gradients fill the rows of the tensor that joins them.
static bool fillsRows(const PackedGradients &packed,
                      ArrayRef<Value> gradients) {
  const int64_t width = typeOf(packed.root->getResult(0)).getShape().back();
  SmallVector<std::pair<int64_t, int64_t>> ranges;
  for (auto [gradient, offset] : llvm::zip_equal(gradients, packed.offsets)) {
    auto type = typeOf(gradient);
    ranges.push_back({offset, type.getDimSize(2) * type.getDimSize(3)});
    if (type.getDimSize(1) != typeOf(gradients[0]).getDimSize(1))
      return false;
  }
  llvm::sort(ranges);
  int64_t end = 0;
  for (auto [offset, count] : ranges) {
    if (offset != end)
      return false;
    end += count;
  }
  const int64_t unit =
      AMP_CUDNN_ALIGNMENT * 8 / typeOf(gradients[0]).getElementTypeBitWidth();
  return end == width && width % unit == 0;
}

void mlir::cuda::packGradients(SDPAGradOp launch) {
  SmallVector<Value> gradients(launch.getResults());
  PackedGradients packed = findPacked(gradients);
  if (!packed.root || !fillsRows(packed, gradients))
    return;
  OpBuilder builder(launch);
  auto type = typeOf(packed.root->getResult(0));
  const int64_t width = type.getShape().back();
  HeadsAttr heads[3];
  for (unsigned i = 0; i < 3; ++i)
    heads[i] = HeadsAttr::get(builder.getContext(), packed.offsets[i],
                              typeOf(gradients[i]).getDimSize(1) * width,
                              typeOf(gradients[i]).getDimSize(3), width);
  NamedAttrList attributes(launch->getAttrDictionary());
  attributes.set("query_grad", heads[0]);
  attributes.set("key_grad", heads[1]);
  attributes.set("value_grad", heads[2]);
  auto joined =
      SDPAGradOp::create(builder, launch.getLoc(), TypeRange{type},
                         launch->getOperands(), attributes.getAttrs());
  packed.root->getResult(0).replaceAllUsesWith(joined.getResult(0));
  // Erase what joined the gradients.
  SmallVector<Operation *> dead = {packed.root};
  while (!dead.empty()) {
    Operation *op = dead.pop_back_val();
    if (!op->use_empty())
      continue;
    SmallVector<Value> operands(op->getOperands());
    const bool isLaunch = op == launch;
    op->erase();
    for (Value operand : operands)
      if (Operation *source = operand.getDefiningOp();
          !isLaunch && source && source->use_empty() &&
          !llvm::is_contained(dead, source))
        dead.push_back(source);
  }
}
