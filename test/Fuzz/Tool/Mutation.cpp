//===- Mutation.cpp - Changes of text that keep words whole ---------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Changes of single bytes rarely pass a parser. These change words and lines.
//
//===----------------------------------------------------------------------===//

#include "Targets.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include <random>

using namespace mlir::amp;
using llvm::StringRef;

static bool isWord(char c) {
  return llvm::isAlnum(c) || c == '_' || c == '.' || c == '-' || c == '%' ||
         c == '@' || c == '#' || c == '!' || c == '$' || c == '?';
}

/// Splits `text` into words and single other characters.
static llvm::SmallVector<StringRef> split(StringRef text) {
  llvm::SmallVector<StringRef> tokens;
  while (!text.empty()) {
    size_t size = std::max<size_t>(1, text.take_while(isWord).size());
    tokens.push_back(text.take_front(size));
    text = text.drop_front(size);
  }
  return tokens;
}

static std::string mutateLines(StringRef text, std::mt19937 &random) {
  llvm::SmallVector<StringRef> lines;
  text.split(lines, '\n');
  const size_t at = random() % lines.size(), other = random() % lines.size();
  StringRef line = lines[other];
  switch (random() % 4) {
  case 0:
    lines.erase(lines.begin() + at);
    break;
  case 1:
    lines.insert(lines.begin() + at, line);
    break;
  case 2:
    std::swap(lines[at], lines[other]);
    break;
  default:
    lines[at] = line;
  }
  return llvm::join(lines, "\n");
}

static std::string mutateWords(StringRef text, std::mt19937 &random) {
  llvm::SmallVector<StringRef> tokens = split(text);
  llvm::SmallVector<size_t> words;
  for (auto [i, token] : llvm::enumerate(tokens))
    if (isWord(token.front()))
      words.push_back(i);
  if (words.empty())
    return text.str();
  const size_t at = words[random() % words.size()];
  std::string number;
  switch (random() % 5) {
  case 0: // a word of the same kind, such as another value
  case 1: {
    llvm::SmallVector<StringRef> same;
    for (size_t i : words)
      if (tokens[i].front() == tokens[at].front() && tokens[i] != tokens[at])
        same.push_back(tokens[i]);
    if (!same.empty())
      tokens[at] = same[random() % same.size()];
    break;
  }
  case 2:
    tokens[at] = fuzz::getWords()[random() % fuzz::getWords().size()];
    break;
  case 3: {
    constexpr StringRef kNumbers[] = {
        "0",   "1",          "2",
        "-1",  "65536",      "1.0e30",
        "nan", "0x7F800000", "9223372036854775807"};
    for (size_t i : llvm::make_range(llvm::find(words, at), words.end()))
      if (llvm::isDigit(tokens[i].front())) {
        // The extents of a shape are one word with its type.
        number = kNumbers[random() % std::size(kNumbers)];
        StringRef digits = tokens[i].take_while(llvm::isDigit);
        number += tokens[i].drop_front(digits.size());
        tokens[i] = number;
        break;
      }
    break;
  }
  default:
    tokens.erase(tokens.begin() + at,
                 tokens.begin() +
                     std::min(tokens.size(), at + 1 + random() % 6));
  }
  return llvm::join(tokens, "");
}

std::string fuzz::mutateText(StringRef text, unsigned seed) {
  std::mt19937 random(seed);
  std::string result = text.str();
  for (unsigned i = 0, e = 1 + random() % 3; i < e; ++i)
    result = random() % 3 ? mutateWords(result, random)
                          : mutateLines(result, random);
  return result;
}
