//===- TestSlotsDialect.cpp - An operation with slots as its text says ----===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Stands for the dialect of a consumer who implements PrecisionOpInterface,
// rightly or wrongly:
//
//   test_slots.dot(%a, %b) {operands = array<i64: 0, 1>, results = array<i64:
//   0>}
//
// has one compute slot of these operands and a storage slot of these results,
// which implies the slot `implies`; `numbers` are written past `add`.
//
//===----------------------------------------------------------------------===//

#include "amp/Interfaces/PrecisionOpInterface.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/DialectRegistry.h"

using namespace mlir;
using namespace mlir::amp;

namespace {

class DotOp : public Op<DotOp, OpTrait::ZeroRegions, OpTrait::VariadicResults,
                        OpTrait::ZeroSuccessors, OpTrait::VariadicOperands,
                        PrecisionOpInterface::Trait> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(DotOp)
  using Op::Op;

  static constexpr StringLiteral getOperationName() {
    return StringLiteral("test_slots.dot");
  }
  static ArrayRef<StringRef> getAttributeNames() { return {}; }

  SmallVector<unsigned> read(StringRef name) {
    SmallVector<unsigned> numbers;
    if (auto array = (*this)->getAttrOfType<DenseI64ArrayAttr>(name))
      for (int64_t number : array.asArrayRef())
        numbers.push_back(number);
    return numbers;
  }

  void getPrecisionSlots(PrecisionSlots &slots) {
    slots.reset(*this);
    slots.add(SlotKind::Compute, read("operands"), {});
    slots.add(SlotKind::Storage, {}, read("results"));
    for (unsigned slot : read("implies"))
      slots.addImplication(1, slot);
    for (unsigned slot : read("numbers"))
      slots.operandSlots[0] = slot;
    for (unsigned count : read("more"))
      for (unsigned i = 0; i < count; ++i)
        slots.add(SlotKind::Fixed);
  }
};

class SlotsDialect : public Dialect {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(SlotsDialect)
  explicit SlotsDialect(MLIRContext *context)
      : Dialect(getDialectNamespace(), context, TypeID::get<SlotsDialect>()) {
    addOperations<DotOp>();
  }
  static constexpr StringLiteral getDialectNamespace() {
    return StringLiteral("test_slots");
  }
};

} // namespace

namespace mlir::amp::test {
void registerSlotsDialect(DialectRegistry &registry) {
  registry.insert<SlotsDialect>();
}
} // namespace mlir::amp::test
