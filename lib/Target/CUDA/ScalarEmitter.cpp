//===- ScalarEmitter.cpp - Bodies of kernels ------------------------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "EmitterSupport.h"

#include "mlir/Analysis/SliceAnalysis.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::cuda;

//===----------------------------------------------------------------------===//
// Expressions
//===----------------------------------------------------------------------===//

/// The function of <cmath> for `op`. The f32 version ends in "f".
static StringRef getMathFunction(Operation &op) {
  return llvm::TypeSwitch<Operation *, StringRef>(&op)
      .Case<math::ExpOp>([](auto) { return "exp"; })
      .Case<math::Exp2Op>([](auto) { return "exp2"; })
      .Case<math::ExpM1Op>([](auto) { return "expm1"; })
      .Case<math::LogOp>([](auto) { return "log"; })
      .Case<math::Log1pOp>([](auto) { return "log1p"; })
      .Case<math::Log2Op>([](auto) { return "log2"; })
      .Case<math::Log10Op>([](auto) { return "log10"; })
      .Case<math::SqrtOp>([](auto) { return "sqrt"; })
      .Case<math::CbrtOp>([](auto) { return "cbrt"; })
      .Case<math::TanhOp>([](auto) { return "tanh"; })
      .Case<math::TanOp>([](auto) { return "tan"; })
      .Case<math::SinOp>([](auto) { return "sin"; })
      .Case<math::CosOp>([](auto) { return "cos"; })
      .Case<math::SinhOp>([](auto) { return "sinh"; })
      .Case<math::CoshOp>([](auto) { return "cosh"; })
      .Case<math::AtanOp>([](auto) { return "atan"; })
      .Case<math::Atan2Op>([](auto) { return "atan2"; })
      .Case<math::ErfOp>([](auto) { return "erf"; })
      .Case<math::ErfcOp>([](auto) { return "erfc"; })
      .Case<math::PowFOp>([](auto) { return "pow"; })
      .Case<math::AbsFOp>([](auto) { return "fabs"; })
      .Case<math::FloorOp>([](auto) { return "floor"; })
      .Case<math::CeilOp>([](auto) { return "ceil"; })
      .Case<math::TruncOp>([](auto) { return "trunc"; })
      .Case<math::RoundOp>([](auto) { return "round"; })
      .Case<math::RoundEvenOp>([](auto) { return "rint"; })
      .Case<math::CopySignOp>([](auto) { return "copysign"; })
      .Case<math::FmaOp>([](auto) { return "fma"; })
      .Case<arith::RemFOp>([](auto) { return "fmod"; })
      .Case<arith::MaxNumFOp>([](auto) { return "fmax"; })
      .Case<arith::MinNumFOp>([](auto) { return "fmin"; })
      .Default([](auto) { return ""; });
}

/// The operator between the operands of `op`.
static StringRef getOperator(Operation &op) {
  return llvm::TypeSwitch<Operation *, StringRef>(&op)
      .Case<arith::AddFOp, arith::AddIOp>([](auto) { return "+"; })
      .Case<arith::SubFOp, arith::SubIOp>([](auto) { return "-"; })
      .Case<arith::MulFOp, arith::MulIOp>([](auto) { return "*"; })
      .Case<arith::DivFOp, arith::DivSIOp>([](auto) { return "/"; })
      .Case<arith::RemSIOp>([](auto) { return "%"; })
      .Case<arith::AndIOp>([](auto) { return "&"; })
      .Case<arith::OrIOp>([](auto) { return "|"; })
      .Case<arith::XOrIOp>([](auto) { return "^"; })
      .Case<arith::ShLIOp>([](auto) { return "<<"; })
      .Case<arith::ShRSIOp>([](auto) { return ">>"; })
      .Default([](auto) { return ""; });
}

static std::string getComparison(arith::CmpFPredicate predicate,
                                 const std::string &a, const std::string &b) {
  using P = arith::CmpFPredicate;
  auto both = [&](StringRef op) { return a + " " + op.str() + " " + b; };
  switch (predicate) {
  case P::AlwaysFalse:
    return "false";
  case P::AlwaysTrue:
    return "true";
  case P::OEQ:
    return both("==");
  case P::OGT:
    return both(">");
  case P::OGE:
    return both(">=");
  case P::OLT:
    return both("<");
  case P::OLE:
    return both("<=");
  case P::ONE:
    return both("<") + " || " + both(">");
  case P::ORD:
    return a + " == " + a + " && " + b + " == " + b;
  case P::UEQ:
    return "!(" + both("<") + " || " + both(">") + ")";
  case P::UGT:
    return "!(" + both("<=") + ")";
  case P::UGE:
    return "!(" + both("<") + ")";
  case P::ULT:
    return "!(" + both(">=") + ")";
  case P::ULE:
    return "!(" + both(">") + ")";
  case P::UNE:
    return both("!=");
  case P::UNO:
    return a + " != " + a + " || " + b + " != " + b;
  }
  llvm_unreachable("a comparison");
}

/// Casts `value` to an unsigned integer of its width.
static std::string getUnsigned(Type type, const std::string &value) {
  if (type.isInteger(1))
    return value;
  if (type.isInteger(8))
    return "uint8_t(" + value + ")";
  return (type.isInteger(64) || type.isIndex() ? "uint64_t(" : "uint32_t(") +
         value + ")";
}

/// Casts `value` to a signed integer. The one bit of an i1 is its sign.
static std::string getSigned(Type type, const std::string &value) {
  return type.isInteger(1) ? "-int(" + value + ")" : value;
}

static std::string getComparison(arith::CmpIPredicate predicate, Type type,
                                 const std::string &a, const std::string &b) {
  using P = arith::CmpIPredicate;
  auto compare = [&](StringRef op, bool isUnsigned = false) {
    if (isUnsigned)
      return getUnsigned(type, a) + " " + op.str() + " " + getUnsigned(type, b);
    if (op == "==" || op == "!=")
      return a + " " + op.str() + " " + b;
    return getSigned(type, a) + " " + op.str() + " " + getSigned(type, b);
  };
  switch (predicate) {
  case P::eq:
    return compare("==");
  case P::ne:
    return compare("!=");
  case P::slt:
    return compare("<");
  case P::sle:
    return compare("<=");
  case P::sgt:
    return compare(">");
  case P::sge:
    return compare(">=");
  case P::ult:
    return compare("<", true);
  case P::ule:
    return compare("<=", true);
  case P::ugt:
    return compare(">", true);
  case P::uge:
    return compare(">=", true);
  }
  llvm_unreachable("a comparison");
}

std::string ScalarEmitter::getLiteral(arith::ConstantOp op) {
  auto guard = [](std::string literal) {
    return literal.front() == '-' ? "(" + literal + ")" : literal;
  };
  if (auto number = dyn_cast<FloatAttr>(op.getValue()))
    return guard(
        numbers.getKernelReal(number.getValue(), op.getType().isF64()));
  const APInt number = cast<IntegerAttr>(op.getValue()).getValue();
  if (op.getType().isInteger(1))
    return number.isZero() ? "false" : "true";
  // The literals of the least numbers would have greater types.
  if (number.isMinSignedValue() && op.getType().isInteger(32))
    return "INT32_MIN";
  if (number.isMinSignedValue() && number.getBitWidth() == 64)
    return "INT64_MIN";
  std::string text = numbers.getKernel(number.getSExtValue());
  if (!op.getType().isInteger(32))
    return "int64_t(" + text + ")";
  return numbers.printsLiterals() ? guard(text) : "int32_t(" + text + ")";
}

std::string ScalarEmitter::get(Value value) {
  auto name = names.find(value);
  if (name != names.end())
    return name->second;
  auto constant = value.getDefiningOp<arith::ConstantOp>();
  return constant ? getLiteral(constant) : std::string();
}

static bool isFloat8(Type type) {
  return isa<Float8E4M3FNType, Float8E5M2Type>(type);
}

/// Whether C++ has a type for values of `type`. Buffers always have such a
/// type.
static bool hasSpelling(Type type) {
  if (isa<MemRefType>(type))
    return true;
  return type.isF16() || type.isBF16() || type.isF32() || type.isF64() ||
         isFloat8(type) || type.isIndex() || type.isInteger(1) ||
         type.isInteger(8) || type.isInteger(32) || type.isInteger(64);
}

/// Rounds `value` to the stored type `type`.
static std::string getRounded(Type type, const std::string &value) {
  if (type.isF16() || type.isBF16())
    return ("roundThrough<" + getStorageType(type) + ">(" + value + ")").str();
  return value;
}

/// Casts `value` to the type in which kernels compute with `type`.
static std::string getCast(Type type, const std::string &value) {
  return (getScalarType(type) + "(" + value + ")").str();
}

/// The sum, difference or product of integers with wrap-around. For one bit,
/// sum and difference are the exclusive or, and the product is the conjunction.
static std::string getWrapped(Operation &op, ArrayRef<std::string> x) {
  Type type = op.getResult(0).getType();
  if (type.isInteger(1))
    return x[0] + (isa<arith::MulIOp>(op) ? " & " : " != ") + x[1];
  return getCast(type, getUnsigned(type, x[0]) + " " + getOperator(op).str() +
                           " " + getUnsigned(type, x[1]));
}

/// The call of function `function` of <cmath>.
static std::string getMathCall(Type type, StringRef function,
                               ArrayRef<std::string> x) {
  std::string arguments = "(" + llvm::join(x, ", ") + ")";
  // Without the colons the name could be that of a kernel.
  return getRounded(type, type.isF64() ? "::" + function.str() + arguments
                                       : function.str() + "f" + arguments);
}

/// The expression of a float operation that is neither an operator nor a
/// function of <cmath>. Empty for other operations.
static std::string getFloatExpression(Operation &op, ArrayRef<std::string> x) {
  Type type = op.getResult(0).getType();
  bool isDouble = type.isF64();
  return llvm::TypeSwitch<Operation *, std::string>(&op)
      .Case([&](arith::NegFOp) { return "-" + x[0]; })
      .Case([&](math::RsqrtOp) {
        return getRounded(type, (isDouble ? "1.0 / ::sqrt(" : "1.0f / sqrtf(") +
                                    x[0] + ")");
      })
      .Case([&](arith::MaximumFOp) {
        return isDouble ? std::string() : "maximum(" + x[0] + ", " + x[1] + ")";
      })
      .Case([&](arith::MinimumFOp) {
        return isDouble ? std::string() : "minimum(" + x[0] + ", " + x[1] + ")";
      })
      .Case([&](arith::CmpFOp compare) {
        return getComparison(compare.getPredicate(), x[0], x[1]);
      })
      .Default([](auto) { return std::string(); });
}

/// The expression of an integer operation without an operator in C++, or of a
/// select. Empty for other operations.
static std::string getIntegerExpression(Operation &op,
                                        ArrayRef<std::string> x) {
  Type type = op.getResult(0).getType();
  auto choose = [&](StringRef comparison) {
    return getSigned(type, x[0]) + comparison.str() + getSigned(type, x[1]) +
           " ? " + x[0] + " : " + x[1];
  };
  auto divide = [&](StringRef symbol) {
    return getCast(type, getUnsigned(type, x[0]) + symbol.str() +
                             getUnsigned(type, x[1]));
  };
  return llvm::TypeSwitch<Operation *, std::string>(&op)
      .Case([&](arith::CmpIOp compare) {
        return getComparison(compare.getPredicate(), compare.getLhs().getType(),
                             x[0], x[1]);
      })
      .Case([&](arith::SelectOp) { return x[0] + " ? " + x[1] + " : " + x[2]; })
      .Case([&](arith::DivUIOp) { return divide(" / "); })
      .Case([&](arith::RemUIOp) { return divide(" % "); })
      .Case([&](arith::ShRUIOp) {
        return getCast(type, getUnsigned(type, x[0]) + " >> " + x[1]);
      })
      .Case([&](arith::MaxSIOp) { return choose(" > "); })
      .Case([&](arith::MinSIOp) { return choose(" < "); })
      .Default([](auto) { return std::string(); });
}

/// The expression of a conversion of `x` from one type to another. Empty if
/// `op` is not a conversion.
static std::string getConversion(Operation &op, const std::string &x) {
  Type type = op.getResult(0).getType(), from = op.getOperand(0).getType();
  StringRef real = type.isF64() ? "double(" : "float(";
  return llvm::TypeSwitch<Operation *, std::string>(&op)
      .Case([&](arith::ExtFOp) { return type.isF64() ? getCast(type, x) : x; })
      .Case([&](arith::TruncFOp) {
        return getRounded(type, from.isF64() ? "float(" + x + ")" : x);
      })
      .Case([&](arith::SIToFPOp) {
        return getRounded(type, real.str() + getSigned(from, x) + ")");
      })
      .Case([&](arith::UIToFPOp) {
        return getRounded(type, real.str() + getUnsigned(from, x) + ")");
      })
      .Case([&](arith::FPToSIOp) {
        return type.isInteger(1) ? "int(" + x + ") != 0" : getCast(type, x);
      })
      .Case([&](arith::TruncIOp) {
        return type.isInteger(1) ? "(" + x + " & 1) != 0" : getCast(type, x);
      })
      .Case([&](arith::ExtSIOp) {
        return getCast(type, from.isInteger(1) ? x + " ? -1 : 0" : x);
      })
      .Case([&](arith::ExtUIOp) { return getCast(type, getUnsigned(from, x)); })
      .Case([&](arith::IndexCastOp) {
        return type.isInteger(1) ? "(" + x + " & 1) != 0"
                                 : getCast(type, getSigned(from, x));
      })
      .Case([&](arith::BitcastOp) -> std::string {
        if (type.isF32() && from.isInteger(32))
          return "__int_as_float(" + x + ")";
        if (type.isInteger(32) && from.isF32())
          return "__float_as_int(" + x + ")";
        // Kernels hold 8-bit floats as their codes.
        if (isFloat8(from) || isFloat8(type))
          return getCast(type, x);
        return {};
      })
      .Default([](auto) { return std::string(); });
}

/// The expression of `op` over its operands `x`. Empty if absent.
static std::string getExpression(Operation &op, ArrayRef<std::string> x) {
  Type type = op.getResult(0).getType();
  if (isa<arith::AddIOp, arith::SubIOp, arith::MulIOp>(op))
    return getWrapped(op, x);
  if (StringRef symbol = getOperator(op); !symbol.empty())
    return getRounded(type, x[0] + " " + symbol.str() + " " + x[1]);
  if (StringRef function = getMathFunction(op); !function.empty())
    return getMathCall(type, function, x);
  if (std::string text = getFloatExpression(op, x); !text.empty())
    return text;
  if (std::string text = getIntegerExpression(op, x); !text.empty())
    return text;
  return x.size() == 1 ? getConversion(op, x[0]) : std::string();
}

std::string ScalarEmitter::getOffset(ArrayRef<int64_t> shape,
                                     ArrayRef<std::string> indices) {
  std::string offset;
  int64_t stride = 1;
  for (int64_t dim = shape.size() - 1; dim >= 0; --dim) {
    std::string term = indices[dim];
    if (stride != 1)
      term += " * " + numbers.getKernel(stride);
    offset = offset.empty() ? term : term + " + " + offset;
    stride *= shape[dim];
  }
  return offset;
}

LogicalResult ScalarEmitter::emit(Operation &op) {
  for (TypeRange types :
       {TypeRange(op.getOperandTypes()), TypeRange(op.getResultTypes())})
    for (Type type : types)
      if (!hasSpelling(type))
        return op.emitOpError("has a value of type ")
               << type << ", which has no spelling in CUDA C++";
  if (auto constant = dyn_cast<arith::ConstantOp>(op)) {
    if (!isa<FloatAttr, IntegerAttr>(constant.getValue()))
      return op.emitOpError("has no spelling in CUDA C++");
    // Constants are merged if their values happen to be equal. Each use of a
    // constant that is data has a number of its own.
    if (numbers.printsLiterals())
      names[constant] = getLiteral(constant);
    return success();
  }
  if (isa<IndexOp>(op))
    return success();
  std::string text;
  SmallVector<std::string> operands;
  for (Value operand : op.getOperands())
    operands.push_back(get(operand));
  if (auto load = dyn_cast<memref::LoadOp>(op)) {
    std::string offset = getOffset(load.getMemRefType().getShape(),
                                   ArrayRef(operands).drop_front());
    text = "loadOne(" + operands[0] +
           (offset.empty() ? "" : " + (" + offset + ")") + ")";
  } else if (op.getNumResults() == 1) {
    text = getExpression(op, operands);
  }
  if (text.empty())
    return op.emitOpError("has no spelling in CUDA C++");
  std::string name = "t" + std::to_string(names.size());
  names[op.getResult(0)] = name;
  os.indent(indent) << "const " << getScalarType(op.getResult(0).getType())
                    << ' ' << name << " = " << text << ";\n";
  return success();
}

LogicalResult ScalarEmitter::emit(Block &block, ValueRange values) {
  SetVector<Operation *> needed;
  BackwardSliceOptions options;
  options.inclusive = true;
  options.omitBlockArguments = true;
  for (Value value : values)
    if (Operation *definition = value.getDefiningOp())
      (void)getBackwardSlice(definition, &needed, options);
  for (Operation &op : block.without_terminator())
    if (needed.contains(&op) && failed(emit(op)))
      return failure();
  return success();
}
