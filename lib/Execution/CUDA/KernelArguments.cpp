//===- KernelArguments.cpp - Which numbers kernels take -------------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A record has a line for each number: the number in the first program, and
// "varies" if another program has another number. A damaged record is
// ignored. The compiled kernels are found by the hash of their text, so a
// record can never cause wrong code.
//
//===----------------------------------------------------------------------===//

#include "KernelArguments.h"

#include "CacheFolder.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/Path.h"

using namespace mlir::amp;

static constexpr llvm::StringLiteral kTitle = "numbers of kernels, version 1\n";

namespace {
struct Record {
  KernelNumbers numbers;
  std::vector<bool> varies;
};
} // namespace

static std::optional<Record> parse(llvm::StringRef text, size_t count) {
  if (!text.consume_front(kTitle))
    return std::nullopt;
  Record record;
  while (!text.empty()) {
    llvm::StringRef line;
    std::tie(line, text) = text.split('\n');
    record.varies.push_back(line.consume_back(" varies"));
    int64_t number = 0;
    if (line.getAsInteger(10, number))
      return std::nullopt;
    record.numbers.push_back(number);
  }
  if (record.numbers.size() != count)
    return std::nullopt;
  return record;
}

static std::string print(const Record &record) {
  std::string text = kTitle.str();
  for (size_t i = 0; i < record.numbers.size(); ++i)
    text += std::to_string(record.numbers[i]) +
            (record.varies[i] ? " varies\n" : "\n");
  return text;
}

std::vector<bool> mlir::amp::findKernelArguments(
    llvm::StringRef folder, llvm::StringRef identity,
    const KernelNumbers &numbers,
    llvm::function_ref<std::optional<KernelNumbers>()> findOther) {
  llvm::SmallString<128> file(folder);
  llvm::sys::path::append(file, "numbers-" + hashText(identity).substr(0, 32) +
                                    ".txt");
  const std::string last = readText(file);
  std::optional<Record> record = parse(last, numbers.size());
  if (!record) {
    std::optional<KernelNumbers> other = findOther();
    const bool corresponds = other && other->size() == numbers.size();
    record = {corresponds ? std::move(*other) : numbers,
              std::vector<bool>(numbers.size())};
  }
  for (size_t i = 0; i < numbers.size(); ++i)
    if (numbers[i] != record->numbers[i])
      record->varies[i] = true;
  const std::string text = print(*record);
  // Without the record, the next program finds the numbers again.
  if (text != last)
    llvm::consumeError(writeWhole(std::string(file), folder, text));
  return record->varies;
}
