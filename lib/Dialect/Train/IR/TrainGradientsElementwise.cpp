//===- TrainGradientsElementwise.cpp - Rules of elementwise operations ----===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "GradientRules.h"

#include <cmath>

using namespace mlir;
using namespace mlir::train;

//===----------------------------------------------------------------------===//
// Unary
//===----------------------------------------------------------------------===//

/// The rule of y = f(x). FORMULA computes dx from x, y and dy.
#define AMP_UNARY_RULE(OP, FORMULA)                                            \
  AMP_GRADIENT_RULE(OP) {                                                      \
    TrainBuilder t(builder, getLoc());                                         \
    [[maybe_unused]] Value x = getInput(), y = getResult();                    \
    Value dy = resultGradients[0];                                             \
    operandGradients[0] = FORMULA;                                             \
    return success();                                                          \
  }

AMP_UNARY_RULE(NegOp, t.neg(dy))
AMP_UNARY_RULE(AbsOp, t.mul(dy, t.sign(x)))
AMP_UNARY_RULE(SinOp, t.mul(dy, t.cos(x)))
AMP_UNARY_RULE(CosOp, t.neg(t.mul(dy, t.sin(x))))
AMP_UNARY_RULE(ErfOp, t.mul(t.mul(dy, t.exp(t.neg(t.square(x)))), M_2_SQRTPI))
AMP_UNARY_RULE(SqrtOp, t.div(t.mul(dy, 0.5), y))
AMP_UNARY_RULE(LogOp, t.div(dy, x))
AMP_UNARY_RULE(Log1pOp, t.div(dy, t.add(x, 1.0)))
AMP_UNARY_RULE(ExpOp, t.mul(dy, y))
// y + 1 would cancel where y is near -1.
AMP_UNARY_RULE(Expm1Op, t.mul(dy, t.exp(x)))
AMP_UNARY_RULE(RsqrtOp, t.mul(t.mul(dy, -0.5), t.div(y, x)))
AMP_UNARY_RULE(ReciprocalOp, t.neg(t.mul(dy, t.square(y))))
AMP_UNARY_RULE(SquareOp, t.mul(dy, t.mul(x, 2.0)))
AMP_UNARY_RULE(ReluOp,
               ReluGradOp::create(builder, getLoc(), dy.getType(), y, dy))
AMP_UNARY_RULE(TanhOp,
               TanhGradOp::create(builder, getLoc(), dy.getType(), y, dy))
AMP_UNARY_RULE(SigmoidOp,
               SigmoidGradOp::create(builder, getLoc(), dy.getType(), y, dy))
AMP_UNARY_RULE(GeluOp, GeluGradOp::create(builder, getLoc(), dy.getType(), x,
                                          dy, getApproximate()))
AMP_UNARY_RULE(SiluOp,
               SiluGradOp::create(builder, getLoc(), dy.getType(), x, dy))
AMP_UNARY_RULE(ClipOp, ClipGradOp::create(builder, getLoc(), dy.getType(), x,
                                          dy, getMinAttr(), getMaxAttr()))

#undef AMP_UNARY_RULE

// The function is constant except at zero, so the derivative is zero.
AMP_GRADIENT_RULE(SignOp) { return success(); }

//===----------------------------------------------------------------------===//
// Backward operations of activations
//===----------------------------------------------------------------------===//

// Each operation is linear in `grad` (operand 1). Its derivative by `grad` is
// the operation itself, applied to the incoming gradient.

AMP_GRADIENT_RULE(ReluGradOp) {
  // The mask is constant in `output` except at zero.
  if (wanted[1])
    operandGradients[1] = ReluGradOp::create(builder, getLoc(), getType(),
                                             getOutput(), resultGradients[0]);
  return success();
}

AMP_GRADIENT_RULE(TanhGradOp) {
  TrainBuilder t(builder, getLoc());
  Value d = resultGradients[0];
  if (wanted[0])
    operandGradients[0] = t.mul(t.mul(d, getGrad()), t.mul(getOutput(), -2.0));
  if (wanted[1])
    operandGradients[1] =
        TanhGradOp::create(builder, getLoc(), getType(), getOutput(), d);
  return success();
}

AMP_GRADIENT_RULE(SigmoidGradOp) {
  TrainBuilder t(builder, getLoc());
  Value d = resultGradients[0];
  if (wanted[0])
    operandGradients[0] =
        t.mul(t.mul(d, getGrad()), t.sub(1.0, t.mul(getOutput(), 2.0)));
  if (wanted[1])
    operandGradients[1] =
        SigmoidGradOp::create(builder, getLoc(), getType(), getOutput(), d);
  return success();
}

/// The derivative by the input of the backward operation `op`, through its
/// decomposition.
static LogicalResult differentiateByInput(Operation *op, OpBuilder &builder,
                                          ArrayRef<Value> resultGradients,
                                          Value &inputGradient) {
  BitVector input(2);
  input.set(0);
  SmallVector<Value> gradients(2);
  if (failed(differentiateDecomposition(op, builder, resultGradients, input,
                                        gradients)))
    return failure();
  inputGradient = gradients[0];
  return success();
}

AMP_GRADIENT_RULE(SiluGradOp) {
  if (wanted[1])
    operandGradients[1] = SiluGradOp::create(builder, getLoc(), getType(),
                                             getInput(), resultGradients[0]);
  if (!wanted[0])
    return success();
  return differentiateByInput(*this, builder, resultGradients,
                              operandGradients[0]);
}

AMP_GRADIENT_RULE(GeluGradOp) {
  if (wanted[1])
    operandGradients[1] =
        GeluGradOp::create(builder, getLoc(), getType(), getInput(),
                           resultGradients[0], getApproximate());
  if (!wanted[0])
    return success();
  return differentiateByInput(*this, builder, resultGradients,
                              operandGradients[0]);
}

AMP_GRADIENT_RULE(ClipGradOp) {
  // The mask is constant in `input` except at the limits.
  if (wanted[1])
    operandGradients[1] =
        ClipGradOp::create(builder, getLoc(), getType(), getInput(),
                           resultGradients[0], getMinAttr(), getMaxAttr());
  return success();
}

//===----------------------------------------------------------------------===//
// Binary, with broadcasting
//===----------------------------------------------------------------------===//

AMP_GRADIENT_RULE(AddOp) {
  TrainBuilder t(builder, getLoc());
  for (unsigned i : wanted.set_bits())
    operandGradients[i] =
        sumToType(t, resultGradients[0], (*this)->getOperand(i).getType());
  return success();
}

AMP_GRADIENT_RULE(SubOp) {
  TrainBuilder t(builder, getLoc());
  Value dy = resultGradients[0];
  if (wanted[0])
    operandGradients[0] = sumToType(t, dy, getLhs().getType());
  if (wanted[1])
    operandGradients[1] = t.neg(sumToType(t, dy, getRhs().getType()));
  return success();
}

AMP_GRADIENT_RULE(MulOp) {
  TrainBuilder t(builder, getLoc());
  Value dy = resultGradients[0];
  if (wanted[0])
    operandGradients[0] = sumToType(t, t.mul(dy, getRhs()), getLhs().getType());
  if (wanted[1])
    operandGradients[1] = sumToType(t, t.mul(dy, getLhs()), getRhs().getType());
  return success();
}

AMP_GRADIENT_RULE(DivOp) {
  TrainBuilder t(builder, getLoc());
  Value dy = resultGradients[0];
  if (wanted[0])
    operandGradients[0] = sumToType(t, t.div(dy, getRhs()), getLhs().getType());
  // The quotient comes first, as in PyTorch, so that low types round alike.
  if (wanted[1]) {
    Value slope = t.div(getResult(), getRhs());
    operandGradients[1] =
        sumToType(t, t.mul(t.neg(dy), slope), getRhs().getType());
  }
  return success();
}

/// Sends the gradient to the left operand where `chosen` is true, and to the
/// right operand elsewhere.
static void splitGradient(TrainBuilder &t, Value chosen, Value dy, Value lhs,
                          Value rhs, bool wantLhs, bool wantRhs, Value &dLhs,
                          Value &dRhs) {
  Value zero = t.scalar(0.0, dy);
  if (wantLhs)
    dLhs = sumToType(t, t.select(chosen, dy, zero), lhs.getType());
  if (wantRhs)
    dRhs = sumToType(t, t.select(chosen, zero, dy), rhs.getType());
}

// Ties go to the left.
AMP_GRADIENT_RULE(MaximumOp) {
  TrainBuilder t(builder, getLoc());
  Value left = t.compare(ComparePredicate::GE, getLhs(), getRhs());
  splitGradient(t, left, resultGradients[0], getLhs(), getRhs(), wanted[0],
                wanted[1], operandGradients[0], operandGradients[1]);
  return success();
}

AMP_GRADIENT_RULE(MinimumOp) {
  TrainBuilder t(builder, getLoc());
  Value left = t.compare(ComparePredicate::LE, getLhs(), getRhs());
  splitGradient(t, left, resultGradients[0], getLhs(), getRhs(), wanted[0],
                wanted[1], operandGradients[0], operandGradients[1]);
  return success();
}

AMP_GRADIENT_RULE(SelectOp) {
  TrainBuilder t(builder, getLoc());
  splitGradient(t, getCondition(), resultGradients[0], getOnTrue(),
                getOnFalse(), wanted[1], wanted[2], operandGradients[1],
                operandGradients[2]);
  return success();
}

AMP_GRADIENT_RULE(PowOp) {
  TrainBuilder t(builder, getLoc());
  Value x = getLhs(), p = getRhs(), dy = resultGradients[0];
  Value zero = t.scalar(0.0, x), one = t.scalar(1.0, x);
  if (wanted[0]) {
    // x⁰ is constant even where x^(p - 1) is infinite.
    Value slope = t.mul(p, t.pow(x, t.sub(p, one)));
    Value constant = t.compare(ComparePredicate::EQ, p, zero);
    operandGradients[0] =
        sumToType(t, t.mul(dy, t.select(constant, zero, slope)), x.getType());
  }
  if (wanted[1]) {
    // 0^p is constant for p > 0, although ln 0 is infinite.
    Value constant = t.compare(ComparePredicate::EQ, x, zero);
    Value slope = t.mul(getResult(), t.log(t.select(constant, one, x)));
    operandGradients[1] =
        sumToType(t, t.mul(dy, t.select(constant, zero, slope)), p.getType());
  }
  return success();
}
