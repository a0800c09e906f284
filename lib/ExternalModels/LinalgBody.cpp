//===- LinalgBody.cpp - What a structured operation computes --------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LinalgBody.h"

#include "amp/Interfaces/Proportional.h"
#include "amp/Interfaces/Rounding.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::amp;
using linalg::LinalgOp;

//===----------------------------------------------------------------------===//
// Classification
//===----------------------------------------------------------------------===//

namespace {
enum class Structure {
  Contraction,
  Elementwise,
  Movement,
  Extremum,
  Reduction,
  Other,
};
} // namespace

/// Skips conversions between floats.
static Value skipCasts(Value value) {
  while (Operation *op = value.getDefiningOp()) {
    if (!isa<arith::ExtFOp, arith::TruncFOp>(op))
      break;
    value = op->getOperand(0);
  }
  return value;
}

/// Returns whether the body adds the product of both inputs to the result.
static bool isSumOfProducts(LinalgOp op) {
  Block *body = op.getBlock();
  auto add = skipCasts(body->getTerminator()->getOperand(0))
                 .getDefiningOp<arith::AddFOp>();
  if (!add)
    return false;
  Value first = skipCasts(add.getLhs()), second = skipCasts(add.getRhs());
  Value accumulator = body->getArgument(2);
  if (first != accumulator)
    std::swap(first, second);
  auto product = second.getDefiningOp<arith::MulFOp>();
  if (first != accumulator || !product)
    return false;
  Value lhs = skipCasts(product.getLhs()), rhs = skipCasts(product.getRhs());
  Value a = body->getArgument(0), b = body->getArgument(1);
  return (lhs == a && rhs == b) || (lhs == b && rhs == a);
}

/// Returns whether the body keeps the larger or smaller of input and result.
static bool isExtremum(LinalgOp op) {
  Value yielded = skipCasts(op.getBlock()->getTerminator()->getOperand(0));
  Operation *combiner = yielded.getDefiningOp();
  return combiner &&
         isa<arith::MaximumFOp, arith::MinimumFOp, arith::MaxNumFOp,
             arith::MinNumFOp>(combiner) &&
         llvm::all_of(combiner->getOperands(), [](Value operand) {
           return isa<BlockArgument>(skipCasts(operand));
         });
}

static Structure classify(LinalgOp op) {
  Block *body = op.getBlock();
  SmallVector<utils::IteratorType> iterators = op.getIteratorTypesArray();
  auto isParallel = [](utils::IteratorType type) {
    return type == utils::IteratorType::parallel;
  };
  if (llvm::all_of(iterators, isParallel)) {
    bool moves =
        llvm::all_of(body->getTerminator()->getOperands(), [&](Value value) {
          auto argument = dyn_cast<BlockArgument>(skipCasts(value));
          return (argument && argument.getOwner() == body) ||
                 matchPattern(value, m_Constant());
        });
    return moves ? Structure::Movement : Structure::Elementwise;
  }
  if (op.getNumDpsInits() != 1)
    return Structure::Other;
  if (op.getNumDpsInputs() == 2 && body->getNumArguments() == 3 &&
      isSumOfProducts(op))
    return Structure::Contraction;
  return isExtremum(op) ? Structure::Extremum : Structure::Reduction;
}

//===----------------------------------------------------------------------===//
// Range
//===----------------------------------------------------------------------===//

/// Returns whether `a` and `b`, values in the body of a structured operation,
/// are one element: one value, or the same elements of one operand.
static bool readSame(Value a, Value b) {
  a = skipCasts(a);
  b = skipCasts(b);
  if (a == b)
    return true;
  auto first = dyn_cast<BlockArgument>(a), second = dyn_cast<BlockArgument>(b);
  if (!first || !second || first.getOwner() != second.getOwner())
    return false;
  auto op = dyn_cast<LinalgOp>(first.getOwner()->getParentOp());
  if (!op)
    return false;
  OpOperand *left = op.getMatchingOpOperand(first),
            *right = op.getMatchingOpOperand(second);
  return left->get() == right->get() &&
         op.getMatchingIndexingMap(left) == op.getMatchingIndexingMap(right);
}

/// Adds to `factors` `value` and the scalars of a body to which it is
/// proportional, up to a limit.
static void collectFactors(Value value, SmallVectorImpl<Value> &factors) {
  constexpr size_t limit = 6;
  factors.push_back(value);
  for (size_t next = 0; next < factors.size(); ++next)
    if (Operation *op = factors[next].getDefiningOp())
      for (OpOperand &operand : op->getOpOperands())
        if (factors.size() < limit &&
            !matchPattern(operand.get(), m_Constant()) &&
            isProportionalTo(op, operand.getOperandNumber()))
          factors.push_back(operand.get());
}

/// Returns whether `op` is a product whose factors are proportional to one
/// element.
static bool isSquare(Operation *op) {
  if (!isa<arith::MulFOp, math::FmaOp>(op))
    return false;
  SmallVector<Value, 6> left, right;
  collectFactors(op->getOperand(0), left);
  collectFactors(op->getOperand(1), right);
  return llvm::any_of(left, [&](Value a) {
    return llvm::any_of(right, [&](Value b) { return readSame(a, b); });
  });
}

/// Returns whether `value`, computed in f32 from values that fit a low type,
/// may be much larger than these values.
static bool mayGrow(Value value, unsigned depth = 0) {
  Operation *op = value.getDefiningOp();
  if (!op)
    return false;
  // Limit the depth of the search.
  if (depth > 32)
    return true;
  Attribute constant;
  if (matchPattern(value, m_Constant(&constant)))
    return !fitsHalf(constant);
  if (isa<math::ExpOp, math::Exp2Op, math::ExpM1Op, math::PowFOp, math::FPowIOp,
          math::RsqrtOp, math::LogOp, math::Log2Op, math::Log10Op,
          math::Log1pOp, math::TanOp, math::SinhOp, math::CoshOp,
          math::AtanhOp>(op))
    return true;
  // These are bounded for any operand.
  if (isa<math::TanhOp, math::ErfOp, math::ErfcOp, math::SinOp, math::CosOp,
          math::AtanOp, math::Atan2Op>(op))
    return false;
  if (isSquare(op))
    return true;
  if (auto divide = dyn_cast<arith::DivFOp>(op)) {
    // A reciprocal, unless the denominator is at least one: 1 / (1 + exp(x)).
    if (!matchPattern(divide.getLhs(), m_Constant()))
      return mayGrow(divide.getLhs(), depth + 1);
    auto sum = divide.getRhs().getDefiningOp<arith::AddFOp>();
    auto isOne = [](Value term) {
      FloatAttr number;
      return matchPattern(term, m_Constant(&number)) &&
             number.getValue().isExactlyValue(1.0);
    };
    auto isPositive = [](Value term) {
      return isa_and_nonnull<math::ExpOp, math::Exp2Op, math::AbsFOp>(
          term.getDefiningOp());
    };
    return !(sum && ((isOne(sum.getLhs()) && isPositive(sum.getRhs())) ||
                     (isOne(sum.getRhs()) && isPositive(sum.getLhs()))));
  }
  return llvm::any_of(op->getOperands(), [&](Value operand) {
    return isa<FloatType>(operand.getType()) && mayGrow(operand, depth + 1);
  });
}

/// Returns whether a scalar operand (the value of a fill) fits a low type.
static bool scalarsFit(LinalgOp op) {
  return llvm::all_of(op.getDpsInputs(), [](Value input) {
    Attribute constant;
    return !isa<FloatType>(input.getType()) ||
           !matchPattern(input, m_Constant(&constant)) || fitsHalf(constant);
  });
}

//===----------------------------------------------------------------------===//
// Slots
//===----------------------------------------------------------------------===//

/// The variant in the name that a policy uses for the body.
static StringRef getVariant(Structure structure) {
  switch (structure) {
  case Structure::Contraction:
    return PrecisionSlots::contraction;
  case Structure::Elementwise:
    return PrecisionSlots::elementwise;
  case Structure::Movement:
    return PrecisionSlots::movement;
  // A maximum is an element.
  case Structure::Extremum:
    return PrecisionSlots::movement;
  case Structure::Reduction:
  case Structure::Other:
    return PrecisionSlots::reduction;
  }
  llvm_unreachable("every structure has a name");
}

/// Returns the name of the only operation of the body apart from casts and
/// constants, or an empty name.
static StringRef getElementName(LinalgOp op) {
  StringRef name;
  for (Operation &nested : op.getBlock()->without_terminator()) {
    if (isa<arith::ExtFOp, arith::TruncFOp>(nested) ||
        nested.hasTrait<OpTrait::ConstantLike>())
      continue;
    if (!name.empty())
      return {};
    name = nested.getName().getStringRef();
  }
  return name;
}

/// Returns whether the results of `op` are only read as the initial values of
/// reductions, which are f32.
static bool startsAccumulators(LinalgOp op) {
  return !op->use_empty() && llvm::all_of(op->getUses(), [](OpOperand &use) {
    auto user = dyn_cast<LinalgOp>(use.getOwner());
    return user && user.isDpsInit(&use) && user.getNumReductionLoops() != 0 &&
           classify(user) != Structure::Extremum;
  });
}

static void addSlots(LinalgOp op, Structure structure, PrecisionSlots &slots) {
  if (structure == Structure::Movement && startsAccumulators(op))
    return getUniformPrecisionSlots(op, SlotKind::Fixed, slots);
  if (structure == Structure::Elementwise || structure == Structure::Movement) {
    bool grows = !scalarsFit(op) ||
                 llvm::any_of(op.getBlock()->getTerminator()->getOperands(),
                              [](Value value) { return mayGrow(value); });
    return getUniformPrecisionSlots(
        op, grows ? SlotKind::Range : SlotKind::Storage, slots);
  }
  // Inputs that the body does not read only give a shape, such as the window of
  // a pooling. They keep their types.
  SmallVector<unsigned> inputs;
  for (OpOperand *input : op.getDpsInputOperands())
    if (getPrecisionElementType(input->get().getType()) &&
        !op.getMatchingBlockArgument(input).use_empty())
      inputs.push_back(input->getOperandNumber());
  bool isFloat = op->getNumResults() == 1 &&
                 getPrecisionElementType(op->getResult(0).getType());
  if (structure == Structure::Extremum && isFloat) {
    inputs.push_back(op.getDpsInitOperand(0)->getOperandNumber());
    slots.add(SlotKind::Storage, inputs, {0});
    return;
  }
  int8_t operands = PrecisionSlots::none;
  if (!inputs.empty())
    operands =
        slots.add(structure == Structure::Contraction ? SlotKind::Compute
                                                      : SlotKind::Storage,
                  inputs, {});
  if (!isFloat || operands == PrecisionSlots::none ||
      structure == Structure::Other)
    return;
  // An operation that reads low inputs has a rounded result.
  bool isWide = llvm::all_of(inputs, [&](unsigned input) {
    return getElementTypeOrSelf(op->getOperand(input)).isF32();
  });
  SlotKind kind = !isWide                               ? SlotKind::Fixed
                  : structure == Structure::Contraction ? SlotKind::Storage
                                                        : SlotKind::Range;
  int8_t result = slots.add(kind, {}, {0});
  slots.addImplication(result, operands);
  slots.roundedSlot = result;
}

/// Adds the constants that a body yields or selects: the values that a fill or
/// a mask stores.
static void addStoredScalars(LinalgOp op, PrecisionSlots &slots) {
  Block *body = op.getBlock();
  auto outside = [&](Value value) {
    auto argument = dyn_cast<BlockArgument>(value);
    return argument && argument.getOwner() == body
               ? op.getMatchingOpOperand(argument)->get()
               : value;
  };
  for (auto [index, yielded] :
       llvm::enumerate(body->getTerminator()->getOperands())) {
    if (index >= slots.resultSlots.size())
      break;
    SmallVector<Value, 4> choices = {yielded};
    while (!choices.empty()) {
      Value choice = choices.pop_back_val();
      if (auto select = choice.getDefiningOp<arith::SelectOp>())
        choices.append({select.getTrueValue(), select.getFalseValue()});
      else
        addStoredScalar(outside(choice), slots.resultSlots[index], slots);
    }
  }
}

/// Returns whether the body of `op` computes in a type wider than f32.
static bool computesWide(LinalgOp op) {
  return llvm::any_of(*op.getBlock(), [](Operation &nested) {
    return llvm::any_of(nested.getResultTypes(), [](Type type) {
      auto number = dyn_cast<FloatType>(type);
      return number && number.getWidth() > 32;
    });
  });
}

void mlir::amp::getStructuredSlots(LinalgOp op, PrecisionSlots &slots) {
  slots.reset(op);
  if (!op.hasPureTensorSemantics())
    return;
  // The random numbers must stay those of f32.
  if (isa<linalg::FillRng2DOp>(op))
    return getUniformPrecisionSlots(op, SlotKind::Fixed, slots);
  // Whoever computes in more than f32 wants the f32 operands.
  if (computesWide(op))
    return getUniformPrecisionSlots(op, SlotKind::Fixed, slots);
  Structure structure = classify(op);
  addSlots(op, structure, slots);
  // A fill of something new follows its readers, each of which may have its
  // own.
  if (auto fill = dyn_cast<linalg::FillOp>(op.getOperation()))
    slots.isConstant = isFreshFill(fill);
  addStoredScalars(op, slots);
  if (!isa<linalg::GenericOp, linalg::MapOp, linalg::ReduceOp,
           linalg::ElementwiseOp>(op))
    return;
  StringRef element =
      structure == Structure::Elementwise ? getElementName(op) : StringRef();
  slots.variant = element.empty() ? getVariant(structure) : element;
}

bool mlir::amp::isFreshFill(linalg::FillOp fill) {
  return fill.hasPureTensorSemantics() && fill->getNumResults() == 1 &&
         isa_and_nonnull<tensor::EmptyOp>(
             fill.getDpsInitOperand(0)->get().getDefiningOp()) &&
         matchPattern(skipCasts(fill.getDpsInputOperand(0)->get()),
                      m_Constant());
}

/// The arithmetic of `op`, all of whose operands are elements.
static Arithmetic getArithmeticOfElements(Operation *op) {
  return llvm::TypeSwitch<Operation *, Arithmetic>(op)
      .Case<arith::AddFOp>([](auto) { return Arithmetic::Add; })
      .Case<arith::SubFOp>([](auto) { return Arithmetic::Subtract; })
      .Case<arith::MulFOp>([](arith::MulFOp product) {
        return skipCasts(product.getLhs()) == skipCasts(product.getRhs())
                   ? Arithmetic::Square
                   : Arithmetic::Multiply;
      })
      .Case<math::ExpOp, math::Exp2Op, math::ExpM1Op, math::Log10Op,
            math::Log1pOp, math::Log2Op, math::LogOp, math::PowFOp,
            math::RsqrtOp, math::SqrtOp>([](auto) { return Arithmetic::Steep; })
      .Case<math::CeilOp, math::FloorOp, math::RoundEvenOp, math::RoundOp,
            math::TruncOp>([](auto) { return Arithmetic::Step; })
      .Case<arith::CmpFOp>([](auto) { return Arithmetic::Compare; })
      .Case<arith::FPToSIOp, arith::FPToUIOp, arith::SIToFPOp, arith::UIToFPOp>(
          [](auto) { return Arithmetic::Convert; })
      .Default([](auto) { return Arithmetic::Other; });
}

/// The arithmetic of `op`, which combines an element and a constant.
static Arithmetic
getArithmeticWithNumber(Operation *op,
                        llvm::function_ref<bool(Value)> isElement) {
  FloatAttr number;
  if (op->getNumOperands() != 2)
    return Arithmetic::Other;
  unsigned at = matchPattern(op->getOperand(1), m_Constant(&number)) ? 1 : 0;
  if (!matchPattern(op->getOperand(at), m_Constant(&number)) ||
      !isElement(op->getOperand(1 - at)) || number.getValue().isZero())
    return Arithmetic::Other;
  bool isNegative = number.getValue().isNegative();
  if (isa<arith::AddFOp>(op))
    return isNegative ? Arithmetic::Subtract : Arithmetic::Add;
  if (isa<arith::SubFOp>(op))
    return at == 1 && isNegative ? Arithmetic::Add : Arithmetic::Subtract;
  if (isa<math::PowFOp>(op))
    return Arithmetic::Steep;
  return isa<arith::CmpFOp>(op) ? Arithmetic::Compare : Arithmetic::Other;
}

Arithmetic mlir::amp::getElementArithmetic(LinalgOp op) {
  Block *body = op.getBlock();
  if (op.getNumDpsInputs() == 0 && !body->getOps<linalg::IndexOp>().empty())
    return Arithmetic::Indices;
  if (llvm::any_of(body->getOperations(), [](Operation &nested) {
        return isa<math::SinOp, math::CosOp, math::SincosOp, math::TanOp>(
            nested);
      }))
    return Arithmetic::Periodic;
  // The indexing maps may transpose and broadcast the operands.
  if (op->getNumResults() != 1 ||
      op.getNumLoops() != op.getNumParallelLoops() ||
      !llvm::all_of(op.getIndexingMapsArray(), [](AffineMap map) {
        return map.isProjectedPermutation(/*allowZeroInResults=*/true);
      }))
    return Arithmetic::Other;
  Operation *last =
      skipCasts(body->getTerminator()->getOperand(0)).getDefiningOp();
  if (!last || last->getBlock() != body)
    return Arithmetic::Other;
  auto isElement = [&](Value value) {
    auto argument = dyn_cast<BlockArgument>(skipCasts(value));
    return argument && argument.getOwner() == body;
  };
  if (llvm::all_of(last->getOperands(), isElement))
    return getArithmeticOfElements(last);
  return getArithmeticWithNumber(last, isElement);
}

SmallVector<unsigned> mlir::amp::getMovedInputs(LinalgOp op) {
  Block *body = op.getBlock();
  SmallVector<unsigned> inputs;
  if (!op.hasPureTensorSemantics() ||
      op.getNumLoops() != op.getNumParallelLoops())
    return inputs;
  for (Value yielded : body->getTerminator()->getOperands()) {
    auto argument = dyn_cast<BlockArgument>(yielded);
    if (!argument || argument.getOwner() != body ||
        !op.isDpsInput(op.getMatchingOpOperand(argument)))
      return {};
    inputs.push_back(op.getMatchingOpOperand(argument)->getOperandNumber());
  }
  return inputs;
}

int64_t mlir::amp::getStructuredFlops(LinalgOp op) {
  if (!op.hasPureTensorSemantics() || classify(op) != Structure::Contraction)
    return 0;
  int64_t flops = 2;
  for (int64_t extent : op.getStaticLoopRanges()) {
    if (ShapedType::isDynamic(extent) ||
        llvm::MulOverflow(flops, extent, flops))
      return 0;
  }
  return flops;
}

//===----------------------------------------------------------------------===//
// Retyping
//===----------------------------------------------------------------------===//

/// Sets the types of the arguments of an explicit body to `types`. Widens them
/// on entry and rounds the yielded values. The body then computes in the same
/// types as before.
static void retypeBody(LinalgOp op, ArrayRef<Type> types,
                       RewriterBase &rewriter) {
  Block *body = op.getBlock();
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPointToStart(body);
  for (auto [argument, type] : llvm::zip_equal(body->getArguments(), types)) {
    Type wide = argument.getType();
    if (wide == type)
      continue;
    argument.setType(type);
    castUses(argument, wide, rewriter);
  }
  Operation *yield = body->getTerminator();
  rewriter.setInsertionPoint(yield);
  ArrayRef<Type> yielded = types.take_back(op.getNumDpsInits());
  for (auto [operand, type] : llvm::zip_equal(yield->getOpOperands(), yielded))
    castOperand(operand, type, rewriter);
}

/// Rebuilds the body of a named operation. The body is not printed and must be
/// the one that the parser builds.
static void rebuildBody(LinalgOp op, ArrayRef<Type> types,
                        RewriterBase &rewriter) {
  Block *body = op.getBlock();
  while (!body->empty())
    rewriter.eraseOp(&body->back());
  for (auto [argument, type] : llvm::zip_equal(body->getArguments(), types))
    argument.setType(type);
  OpBuilder::InsertionGuard guard(rewriter);
  ImplicitLocOpBuilder builder(op.getLoc(), rewriter);
  builder.setInsertionPointToStart(body);
  op.getRegionBuilder()(builder, *body, op->getAttrs(),
                        [&] { return op->emitOpError(); });
}

LogicalResult mlir::amp::retypeStructured(LinalgOp op, ArrayRef<Type> slotTypes,
                                          RewriterBase &rewriter) {
  PrecisionSlots slots;
  getStructuredSlots(op, slots);
  // An accumulator stays f32.
  if (op->getNumResults() == 1 &&
      !llvm::is_contained(slots.operandSlots, slots.resultSlots[0]) &&
      getSlotType(slotTypes, slots.resultSlots[0]) &&
      !getElementTypeOrSelf(op->getResult(0)).isF32())
    roundResult(op->getResult(0),
                *op->getDialect()
                     ->getRegisteredInterface<CastMaterializationInterface>(),
                rewriter);
  SmallVector<Type> types;
  for (OpOperand &operand : op->getOpOperands()) {
    Type type =
        getSlotType(slotTypes, slots.operandSlots[operand.getOperandNumber()]);
    types.push_back(type ? type
                         : op.getMatchingBlockArgument(&operand).getType());
  }
  // A fill takes a scalar of the type of its result.
  if (isa<linalg::FillOp>(op) && types[0] != types[1]) {
    rewriter.setInsertionPoint(op);
    castOperand(op->getOpOperand(0), types[1], rewriter);
    types[0] = types[1];
  }
  if (types == SmallVector<Type>(op.getBlock()->getArgumentTypes()))
    return success();
  if (op.getRegionBuilder())
    rebuildBody(op, types, rewriter);
  else
    retypeBody(op, types, rewriter);
  return success();
}
