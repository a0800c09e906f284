//===- DocumentOffsets.cpp - Documents as samples of attention ------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A plan that takes documents as samples reads their lengths and, for each of
// its tensors, the elements at which they begin. The conversion moves heads to
// other tensors more than once, so this computes the offsets after the last of
// these moves.
//
//===----------------------------------------------------------------------===//

#include "TrainToCUDA.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::cuda;

namespace {
/// The launches that compute offsets, by cumulative lengths and strides.
class DocumentTables {
public:
  template <typename OpTy>
  void update(OpTy launch, unsigned first, ArrayRef<HeadsAttr> heads);

private:
  DocumentOffsetsOp getTable(OpBuilder &builder, Location loc, Value cumulative,
                             int64_t positions, ArrayRef<int64_t> rows);

  SmallVector<DocumentOffsetsOp> tables;
};
} // namespace

DocumentOffsetsOp DocumentTables::getTable(OpBuilder &builder, Location loc,
                                           Value cumulative, int64_t positions,
                                           ArrayRef<int64_t> rows) {
  for (DocumentOffsetsOp table : tables)
    if (table.getInputs()[0] == cumulative &&
        int64_t(table.getPositions()) == positions && table.getRows() == rows)
      return table;
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointAfterValue(cumulative);
  const int64_t documents =
      cast<ShapedType>(cumulative.getType()).getNumElements();
  Type types[] = {
      RankedTensorType::get({documents}, builder.getI32Type()),
      RankedTensorType::get(
          {int64_t(rows.size()), int64_t(llvm::alignTo(documents + 1, 2))},
          builder.getI64Type())};
  tables.push_back(DocumentOffsetsOp::create(
      builder, loc, types, StringAttr(), cumulative, ValueRange(), ValueRange(),
      Value(), positions, rows));
  return tables.back();
}

template <typename OpTy>
void DocumentTables::update(OpTy launch, unsigned first,
                            ArrayRef<HeadsAttr> heads) {
  if (!launch.getDocuments())
    return;
  Value cumulative = launch->getOperand(first);
  if (auto table = cumulative.getDefiningOp<DocumentOffsetsOp>())
    cumulative = table.getInputs()[0];
  SmallVector<int64_t> rows = {launch.getSizes().getHeads()};
  for (HeadsAttr each : heads)
    rows.push_back(each.getPosition());
  llvm::sort(rows);
  rows.erase(llvm::unique(rows), rows.end());
  OpBuilder builder(launch);
  DocumentOffsetsOp table = getTable(builder, launch.getLoc(), cumulative,
                                     launch.getSizes().getQueries(), rows);
  launch->setOperand(first, table.getResult(0));
  launch->setOperand(first + 1, table.getResult(1));
  launch.setRows(rows);
}

void mlir::cuda::updateDocumentOffsets(func::FuncOp step) {
  DocumentTables tables;
  for (auto launch : step.getOps<SDPAOp>())
    tables.update(launch, 3,
                  {launch.getQuery(), launch.getKey(), launch.getValue(),
                   launch.getOutput()});
  for (auto launch : step.getOps<SDPAGradOp>())
    tables.update(launch, 6,
                  {launch.getQuery(), launch.getKey(), launch.getValue(),
                   launch.getOutput(), launch.getGrad(), launch.getQueryGrad(),
                   launch.getKeyGrad(), launch.getValueGrad()});
}
