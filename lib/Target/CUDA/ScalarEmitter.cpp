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
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/TypeSwitch.h"

#include <cstdio>
#include <cstdlib>

using namespace mlir;
using namespace mlir::cuda;

//===----------------------------------------------------------------------===//
// Names
//===----------------------------------------------------------------------===//

std::string mlir::cuda::getIdentifier(StringRef name) {
  std::string result;
  for (char c : name)
    result += llvm::isAlnum(c) ? c : '_';
  if (result.empty() || llvm::isDigit(result.front()))
    result = "_" + result;
  return result;
}

std::string Identifiers::make(StringRef name) {
  std::string base = getIdentifier(name);
  if (isReservedName(base))
    base += '_';
  std::string unique = base;
  for (unsigned next = 2; !taken.insert(unique).second; ++next)
    unique = base + "_" + std::to_string(next);
  return unique;
}

StringRef mlir::cuda::getStorageType(Type type) {
  if (type.isF16())
    return "__half";
  if (type.isBF16())
    return "__nv_bfloat16";
  if (type.isF64())
    return "double";
  if (type.isInteger(1))
    return "uint8_t";
  if (type.isInteger(8))
    return "int8_t";
  if (type.isInteger(32))
    return "int32_t";
  if (type.isInteger(64))
    return "int64_t";
  return "float";
}

StringRef mlir::cuda::getScalarType(Type type) {
  if (type.isInteger(1))
    return "bool";
  if (type.isIndex())
    return "int64_t";
  if (type.isF16() || type.isBF16())
    return "float";
  return getStorageType(type);
}

StringRef mlir::cuda::getTypeEnumerator(Type type) {
  if (type.isF16())
    return "F16";
  if (type.isBF16())
    return "BF16";
  if (type.isF64())
    return "F64";
  if (type.isInteger(1))
    return "Bool";
  if (type.isInteger(8))
    return "I8";
  if (type.isInteger(32))
    return "I32";
  if (type.isInteger(64))
    return "I64";
  return "F32";
}

std::string mlir::cuda::describe(ShapedType type) {
  std::string text;
  llvm::raw_string_ostream os(text);
  os << type.getElementType();
  if (type.getRank() > 0) {
    os << '[';
    llvm::interleave(type.getShape(), os, "x");
    os << ']';
  }
  return text;
}

std::string mlir::cuda::getFloatLiteral(const APFloat &value, bool isDouble) {
  APFloat wide = value;
  bool losesInfo;
  wide.convert(isDouble ? APFloat::IEEEdouble() : APFloat::IEEEsingle(),
               APFloat::rmNearestTiesToEven, &losesInfo);
  if (wide.isNaN())
    return isDouble ? "double(NAN)" : "NAN";
  if (wide.isInfinity())
    return std::string(wide.isNegative() ? "-" : "") +
           (isDouble ? "double(INFINITY)" : "INFINITY");
  // Nine or seventeen digits are enough for the same bits.
  char buffer[40];
  for (int digits = 1; digits <= 17; ++digits) {
    std::snprintf(buffer, sizeof(buffer), "%.*g", digits,
                  isDouble ? wide.convertToDouble()
                           : double(wide.convertToFloat()));
    if (isDouble ? std::strtod(buffer, nullptr) == wide.convertToDouble()
                 : std::strtof(buffer, nullptr) == wide.convertToFloat())
      break;
  }
  std::string text(buffer);
  if (text.find_first_of(".e") == std::string::npos)
    text += ".0";
  return isDouble ? text : text + "f";
}

std::string mlir::cuda::quote(StringRef value) {
  std::string text;
  llvm::raw_string_ostream os(text);
  os << '"';
  os.write_escaped(value, /*UseHexEscapes=*/false);
  os << '"';
  return text;
}

std::string mlir::cuda::getCommentText(StringRef text) {
  std::string result;
  for (char c : text) {
    // A line end ends a line comment, a backslash before it continues one.
    bool ends = c == '/' && !result.empty() && result.back() == '*';
    result += llvm::isPrint(c) || static_cast<signed char>(c) < 0
                  ? (c == '\\' || ends ? '_' : c)
                  : '_';
  }
  return result;
}

static void readPositions(Location loc, SetVector<StringRef> &files,
                          SmallVectorImpl<std::string> &positions) {
  if (auto fused = dyn_cast<FusedLoc>(loc)) {
    for (Location part : fused.getLocations())
      readPositions(part, files, positions);
  } else if (auto named = dyn_cast<NameLoc>(loc)) {
    readPositions(named.getChildLoc(), files, positions);
  } else if (auto call = dyn_cast<CallSiteLoc>(loc)) {
    readPositions(call.getCaller(), files, positions);
  } else if (auto file = dyn_cast<FileLineColLoc>(loc)) {
    StringRef name = file.getFilename().getValue();
    if (name.contains('/'))
      name = name.substr(name.rfind('/') + 1);
    std::string text = (name + ":" + Twine(file.getLine())).str();
    if (!llvm::is_contained(positions, text))
      positions.push_back(text);
  }
}

std::string mlir::cuda::describeLocation(Location loc) {
  SetVector<StringRef> files;
  SmallVector<std::string> positions;
  readPositions(loc, files, positions);
  if (positions.size() > 4) {
    positions.resize(4);
    positions.push_back("...");
  }
  return llvm::join(positions, ", ");
}

static void readOperations(Location loc, SetVector<StringRef> &names) {
  if (auto fused = dyn_cast<FusedLoc>(loc)) {
    for (Location part : fused.getLocations())
      readOperations(part, names);
  } else if (auto named = dyn_cast<NameLoc>(loc)) {
    if (named.getName().getValue().contains('.'))
      names.insert(named.getName());
    readOperations(named.getChildLoc(), names);
  }
}

std::string mlir::cuda::describeOperations(Operation *op) {
  SetVector<StringRef> names;
  op->walk([&](Operation *inner) { readOperations(inner->getLoc(), names); });
  readOperations(op->getLoc(), names);
  SmallVector<StringRef> list(names.begin(), names.end());
  return list.empty() ? op->getName().getStringRef().str()
                      : llvm::join(list, ", ");
}

//===----------------------------------------------------------------------===//
// Expressions
//===----------------------------------------------------------------------===//

/// The function of <cmath> that `op` is, for f32 with an "f" at its end.
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

/// `value` as an unsigned integer of its width.
static std::string getUnsigned(Type type, const std::string &value) {
  if (type.isInteger(1))
    return value;
  if (type.isInteger(8))
    return "uint8_t(" + value + ")";
  return (type.isInteger(64) || type.isIndex() ? "uint64_t(" : "uint32_t(") +
         value + ")";
}

/// `value` as a signed integer: the one bit of an i1 is its sign.
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

static std::string getLiteral(arith::ConstantOp op) {
  if (auto number = dyn_cast<FloatAttr>(op.getValue()))
    return getFloatLiteral(number.getValue(), op.getType().isF64());
  if (auto number = dyn_cast<IntegerAttr>(op.getValue())) {
    if (op.getType().isInteger(1))
      return number.getValue().isZero() ? "false" : "true";
    std::string text = std::to_string(number.getValue().getSExtValue());
    // The literals of the least numbers would be those of greater types.
    if (number.getValue().isMinSignedValue() && op.getType().isInteger(32))
      return "INT32_MIN";
    if (number.getValue().isMinSignedValue() &&
        number.getValue().getBitWidth() == 64)
      return "INT64_MIN";
    return op.getType().isInteger(32) ? text : "int64_t(" + text + ")";
  }
  return {};
}

/// Whether C++ has a type for values of `type`. Buffers have others never.
static bool hasSpelling(Type type) {
  if (isa<MemRefType>(type))
    return true;
  return type.isF16() || type.isBF16() || type.isF32() || type.isF64() ||
         type.isIndex() || type.isInteger(1) || type.isInteger(8) ||
         type.isInteger(32) || type.isInteger(64);
}

/// `value` after rounding to the stored type `type`.
static std::string getRounded(Type type, const std::string &value) {
  if (type.isF16() || type.isBF16())
    return ("roundThrough<" + getStorageType(type) + ">(" + value + ")").str();
  return value;
}

/// The expression of `op` over `x`, its operands; empty if there is none.
static std::string getExpression(Operation &op, ArrayRef<std::string> x) {
  Type type = op.getResult(0).getType();
  bool isDouble = type.isF64();
  if (isa<arith::AddIOp, arith::SubIOp, arith::MulIOp>(op)) {
    // Overflow wraps: of one bit, to the exclusive or, or to both.
    if (type.isInteger(1))
      return x[0] + (isa<arith::MulIOp>(op) ? " & " : " != ") + x[1];
    return (getScalarType(type) + "(" + getUnsigned(type, x[0]) + " " +
            getOperator(op) + " " + getUnsigned(type, x[1]) + ")")
        .str();
  }
  if (StringRef symbol = getOperator(op); !symbol.empty())
    return getRounded(type, x[0] + " " + symbol.str() + " " + x[1]);
  if (StringRef function = getMathFunction(op); !function.empty())
    return getRounded(type,
                      // Without the colons it could be a kernel of that name.
                      ((isDouble ? "::" : "") + function +
                       (isDouble ? "(" : "f(") + llvm::join(x, ", ") + ")")
                          .str());
  return llvm::TypeSwitch<Operation *, std::string>(&op)
      .Case([&](arith::NegFOp) { return "-" + x[0]; })
      .Case([&](math::RsqrtOp) {
        return getRounded(type, (isDouble ? "1.0 / ::sqrt(" : "1.0f / sqrtf(") +
                                    x[0] + ")");
      })
      .Case<arith::MaximumFOp>([&](auto) {
        return isDouble ? std::string() : "maximum(" + x[0] + ", " + x[1] + ")";
      })
      .Case<arith::MinimumFOp>([&](auto) {
        return isDouble ? std::string() : "minimum(" + x[0] + ", " + x[1] + ")";
      })
      .Case<arith::CmpFOp>([&](arith::CmpFOp compare) {
        return getComparison(compare.getPredicate(), x[0], x[1]);
      })
      .Case<arith::CmpIOp>([&](arith::CmpIOp compare) {
        return getComparison(compare.getPredicate(), compare.getLhs().getType(),
                             x[0], x[1]);
      })
      .Case<arith::SelectOp>(
          [&](auto) { return x[0] + " ? " + x[1] + " : " + x[2]; })
      .Case<arith::ExtFOp>(
          [&](auto) { return isDouble ? "double(" + x[0] + ")" : x[0]; })
      .Case<arith::TruncFOp>([&](auto) {
        bool fromDouble = op.getOperand(0).getType().isF64();
        return getRounded(type, fromDouble ? "float(" + x[0] + ")" : x[0]);
      })
      .Case<arith::SIToFPOp>([&](auto) {
        return getRounded(
            type, (isDouble ? "double(" : "float(") +
                      getSigned(op.getOperand(0).getType(), x[0]) + ")");
      })
      .Case<arith::UIToFPOp>([&](auto) {
        return getRounded(
            type, (isDouble ? "double(" : "float(") +
                      getUnsigned(op.getOperand(0).getType(), x[0]) + ")");
      })
      .Case<arith::FPToSIOp, arith::TruncIOp>([&](auto) -> std::string {
        if (type.isInteger(1))
          return isa<arith::TruncIOp>(op) ? "(" + x[0] + " & 1) != 0"
                                          : "int(" + x[0] + ") != 0";
        return (getScalarType(type) + "(" + x[0] + ")").str();
      })
      .Case<arith::ExtSIOp>([&](auto) -> std::string {
        if (op.getOperand(0).getType().isInteger(1))
          return (getScalarType(type) + "(" + x[0] + " ? -1 : 0)").str();
        return (getScalarType(type) + "(" + x[0] + ")").str();
      })
      .Case<arith::ExtUIOp>([&](auto) {
        return (getScalarType(type) + "(" +
                getUnsigned(op.getOperand(0).getType(), x[0]) + ")")
            .str();
      })
      .Case<arith::IndexCastOp>([&](auto) -> std::string {
        if (type.isInteger(1))
          return "(" + x[0] + " & 1) != 0";
        return (getScalarType(type) + "(" +
                getSigned(op.getOperand(0).getType(), x[0]) + ")")
            .str();
      })
      .Case<arith::DivUIOp>([&](auto) {
        return (getScalarType(type) + "(" + getUnsigned(type, x[0]) + " / " +
                getUnsigned(type, x[1]) + ")")
            .str();
      })
      .Case<arith::RemUIOp>([&](auto) {
        return (getScalarType(type) + "(" + getUnsigned(type, x[0]) + " % " +
                getUnsigned(type, x[1]) + ")")
            .str();
      })
      .Case<arith::ShRUIOp>([&](auto) {
        return (getScalarType(type) + "(" + getUnsigned(type, x[0]) + " >> " +
                x[1] + ")")
            .str();
      })
      .Case<arith::MaxSIOp>([&](auto) {
        return getSigned(type, x[0]) + " > " + getSigned(type, x[1]) + " ? " +
               x[0] + " : " + x[1];
      })
      .Case<arith::MinSIOp>([&](auto) {
        return getSigned(type, x[0]) + " < " + getSigned(type, x[1]) + " ? " +
               x[0] + " : " + x[1];
      })
      .Case<arith::BitcastOp>([&](auto) -> std::string {
        if (type.isF32() && op.getOperand(0).getType().isInteger(32))
          return "__int_as_float(" + x[0] + ")";
        if (type.isInteger(32) && op.getOperand(0).getType().isF32())
          return "__float_as_int(" + x[0] + ")";
        return {};
      })
      .Default([](auto) { return std::string(); });
}

LogicalResult ScalarEmitter::emit(Operation &op) {
  for (TypeRange types :
       {TypeRange(op.getOperandTypes()), TypeRange(op.getResultTypes())})
    for (Type type : types)
      if (!hasSpelling(type))
        return op.emitOpError("has a value of type ")
               << type << ", which has no spelling in CUDA C++";
  if (auto constant = dyn_cast<arith::ConstantOp>(op)) {
    std::string literal = getLiteral(constant);
    if (literal.empty())
      return op.emitOpError("has no spelling in CUDA C++");
    names[constant] = literal.front() == '-' ? "(" + literal + ")" : literal;
    return success();
  }
  if (isa<IndexOp>(op))
    return success();
  std::string text;
  SmallVector<std::string> operands;
  for (Value operand : op.getOperands())
    operands.push_back(get(operand));
  if (auto load = dyn_cast<memref::LoadOp>(op)) {
    // The row-major offset.
    std::string offset;
    int64_t stride = 1;
    ArrayRef<int64_t> shape = load.getMemRefType().getShape();
    for (int64_t dim = shape.size() - 1; dim >= 0; --dim) {
      std::string term = operands[dim + 1];
      if (stride != 1)
        term += " * " + std::to_string(stride);
      offset = offset.empty() ? term : term + " + " + offset;
      stride *= shape[dim];
    }
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
