//===- NumberPrinter.cpp - Numbers in the source of a program -------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "NumberPrinter.h"

#include "EmitterSupport.h"

#include <cstring>

using namespace mlir;
using namespace mlir::cuda;

/// The words before the numbers in a library. Text and code do not contain
/// them.
static constexpr int64_t kMarker[] = {0x6d756e706d61ff01, -0x4e3b6f0c5a1d2b77,
                                      0x5d1f3a7be9c80426, -0x18c6a2d49f05e3b3};
/// The marker and the number of numbers.
static constexpr size_t kHeaderWords = std::size(kMarker) + 1;

static int64_t getBits(const APFloat &value) {
  APFloat wide = value;
  bool losesInfo;
  wide.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven, &losesInfo);
  return wide.bitcastToAPInt().getSExtValue();
}

std::string NumberPrinter::addHost(StringRef function, int64_t bits) {
  if (numbers->form == ProgramNumbers::Form::Pattern)
    return "#";
  numbers->host.push_back(bits);
  return (function + "(" + Twine(numbers->host.size() - 1) + ")").str();
}

std::string NumberPrinter::getHost(int64_t value) {
  return numbers ? addHost("number", value) : std::to_string(value);
}

std::string NumberPrinter::getHostReal(const APFloat &value, bool isDouble) {
  if (!numbers)
    return getFloatLiteral(value, isDouble);
  std::string real = addHost("realNumber", getBits(value));
  return isDouble ? real : "float(" + real + ")";
}

std::string NumberPrinter::addKernel(StringRef type, int64_t bits,
                                     std::string literal) {
  const size_t place = numbers->kernels.size();
  numbers->kernels.push_back(bits);
  if (numbers->form == ProgramNumbers::Form::Pattern)
    return "#";
  if (place >= numbers->arguments.size() || !numbers->arguments[place])
    return literal;
  arguments.push_back({type, bits});
  return "n" + std::to_string(arguments.size() - 1);
}

std::string NumberPrinter::getKernel(int64_t value) {
  std::string literal = std::to_string(value);
  return numbers ? addKernel("int64_t", value, literal) : literal;
}

std::string NumberPrinter::getKernelReal(const APFloat &value, bool isDouble) {
  std::string literal = getFloatLiteral(value, isDouble);
  // Infinities and NaN do not follow from extents.
  if (!numbers || !value.isFinite())
    return literal;
  return addKernel(isDouble ? "double" : "float", getBits(value), literal);
}

std::string NumberPrinter::getArgument(const KernelArgument &argument) {
  const bool isInteger = argument.type == "int64_t";
  std::string text =
      addHost(isInteger ? "number" : "realNumber", argument.value);
  return argument.type == "float" ? "float(" + text + ")" : text;
}

void NumberPrinter::emitDeclarations(raw_ostream &os) const {
  if (!numbers)
    return;
  os << "// The numbers that follow from extents are data of the library. "
        "Programs of\n// other extents have the same code.\n"
     << "[[maybe_unused]] int64_t number(int index);\n"
        "[[maybe_unused]] double realNumber(int index);\n\n";
}

void NumberPrinter::emitDefinitions(raw_ostream &os) const {
  if (!numbers)
    return;
  // A pattern has as many numbers as the source.
  const size_t count = numbers->host.size();
  os << "//===-- Numbers "
        "-------------------------------------------------------===//\n\n"
     << "namespace {\n"
     << "// A marker, the number of numbers, and zeros. They are set in the "
        "library.\n"
     << "volatile int64_t numbers[" << kHeaderWords + count << "] = {";
  for (int64_t word : kMarker)
    os << word << ", ";
  os << count << "};\n"
     << "int64_t number(int index) { return numbers[" << kHeaderWords
     << " + index]; }\n"
     << "double realNumber(int index) {\n"
     << "  const int64_t bits = number(index);\n  double value;\n"
     << "  memcpy(&value, &bits, sizeof(value));\n  return value;\n}\n"
     << "} // namespace\n\n";
}

bool mlir::cuda::setNumbers(std::string &library,
                            const std::vector<int64_t> &numbers) {
  const StringRef marker(reinterpret_cast<const char *>(kMarker),
                         sizeof(kMarker));
  const size_t place = library.find(marker);
  if (place == std::string::npos ||
      library.find(marker, place + 1) != std::string::npos)
    return false;
  const size_t begin = place + kHeaderWords * sizeof(int64_t),
               bytes = numbers.size() * sizeof(int64_t);
  int64_t count = 0;
  if (begin > library.size() || bytes > library.size() - begin)
    return false;
  std::memcpy(&count, &library[begin - sizeof(count)], sizeof(count));
  if (count != int64_t(numbers.size()))
    return false;
  std::memcpy(&library[begin], numbers.data(), bytes);
  return true;
}
