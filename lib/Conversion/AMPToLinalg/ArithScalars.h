//===- ArithScalars.h - Scalar arithmetic for updates of scales -*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef AMP_LIB_CONVERSION_AMPTOLINALG_ARITHSCALARS_H
#define AMP_LIB_CONVERSION_AMPTOLINALG_ARITHSCALARS_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace mlir::amp {

/// Scalars of arith, for `buildScaleUpdate` and `buildScaleAdaptation`.
class ArithScalars {
public:
  explicit ArithScalars(ImplicitLocOpBuilder &b) : b(b) {}
  Value real(float value) {
    return arith::ConstantOp::create(b, b.getF32FloatAttr(value));
  }
  Value integer(int32_t value) {
    return arith::ConstantOp::create(b, b.getI32IntegerAttr(value));
  }
  Value add(Value x, Value y) { return arith::AddIOp::create(b, x, y); }
  Value subtract(Value x, Value y) { return arith::SubIOp::create(b, x, y); }
  Value divide(Value x, Value y) { return arith::DivFOp::create(b, x, y); }
  /// The exponent alone is the next lower power of two.
  Value floorToPower(Value x) {
    Value exponent = integer(0x7F800000);
    Value bits = arith::BitcastOp::create(b, b.getI32Type(), x);
    return arith::BitcastOp::create(b, b.getF32Type(),
                                    arith::AndIOp::create(b, bits, exponent));
  }
  Value multiply(Value x, Value y) { return arith::MulFOp::create(b, x, y); }
  Value maximum(Value x, Value y) { return arith::MaximumFOp::create(b, x, y); }
  Value minimum(Value x, Value y) { return arith::MinimumFOp::create(b, x, y); }
  Value isLess(Value x, Value y) {
    return arith::CmpFOp::create(b, arith::CmpFPredicate::OLT, x, y);
  }
  Value isGreater(Value x, Value y) {
    return arith::CmpIOp::create(b, arith::CmpIPredicate::sgt, x, y);
  }
  Value isAtLeast(Value x, Value y) {
    return arith::CmpIOp::create(b, arith::CmpIPredicate::sge, x, y);
  }
  Value isEqual(Value x, Value y) {
    return arith::CmpIOp::create(b, arith::CmpIPredicate::eq, x, y);
  }
  Value both(Value x, Value y) { return arith::AndIOp::create(b, x, y); }
  Value select(Value condition, Value yes, Value no) {
    return arith::SelectOp::create(b, condition, yes, no);
  }

private:
  ImplicitLocOpBuilder &b;
};

} // namespace mlir::amp

#endif // AMP_LIB_CONVERSION_AMPTOLINALG_ARITHSCALARS_H
