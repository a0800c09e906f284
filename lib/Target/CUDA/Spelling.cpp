//===- Spelling.cpp - Names, types, literals and comments of C++ ----------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "EmitterSupport.h"

#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringExtras.h"

#include <cstdio>
#include <cstdlib>

using namespace mlir;
using namespace mlir::cuda;

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
  if (type.isInteger(1) || isa<Float8E4M3FNType, Float8E5M2Type>(type))
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
  if (isa<Float8E4M3FNType, Float8E5M2Type>(type))
    return "U8";
  return "F32";
}

StringRef mlir::cuda::getFloat8Enumerator(Type type) {
  return isa<Float8E4M3FNType>(type) ? "Float8::E4M3" : "Float8::E5M2";
}

StringRef mlir::cuda::getReaderSpelling(Reader reader) {
  return reader == Reader::Metrics ? "Reader::Metrics" : "Reader::Predictions";
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
  // Nine or seventeen digits suffice for the same bits.
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
    // A newline ends a line comment. A backslash before it continues the
    // comment.
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

std::string mlir::cuda::describeOperations(Operation *op, size_t most) {
  SetVector<StringRef> names;
  op->walk([&](Operation *inner) { readOperations(inner->getLoc(), names); });
  readOperations(op->getLoc(), names);
  SmallVector<StringRef> list(names.begin(), names.end());
  if (list.size() > most) {
    list.resize(most);
    list.push_back("...");
  }
  return list.empty() ? op->getName().getStringRef().str()
                      : llvm::join(list, ", ");
}
