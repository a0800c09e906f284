//===- ProductTable.cpp - What a library says of products -----------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A product is known by the text that describes it in the source, without its
// name, as in tools/gpu/harness/products.py.
//
//===----------------------------------------------------------------------===//

#include "amp/Target/CUDA/ProductTable.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/JSON.h"
#include <optional>

using namespace mlir;
using namespace mlir::cuda;

namespace {
/// A product of a source: its name, and its description on one line.
struct EmittedProduct {
  std::string name, text;
};
} // namespace

/// Finds the products of `source`. Those of convolutions and of losses in
/// chunks have no description and are not in tables, either.
static std::vector<EmittedProduct> findProducts(StringRef source) {
  constexpr StringLiteral begin = "() {\n  GemmConfig g;\n  g.name = \"",
                          end = "  return g;\n}";
  std::vector<EmittedProduct> products;
  for (;;) {
    size_t at = source.find("\nGemmConfig gemm_");
    if (at == StringRef::npos)
      return products;
    source = source.drop_front(at + 1);
    size_t head = source.find('(');
    if (!source.substr(head).starts_with(begin))
      continue;
    StringRef body = source.substr(head + begin.size());
    auto [name, rest] = body.split("\";\n");
    SmallVector<StringRef> words;
    llvm::SplitString(rest.substr(0, rest.find(end)), words, " \n");
    products.push_back({name.str(), llvm::join(words, " ")});
  }
}

/// Returns what follows `key` in a description, up to a comma or semicolon.
static StringRef findValue(StringRef text, StringRef key) {
  size_t at = text.find(key);
  if (at == StringRef::npos)
    return "";
  return text.substr(at + key.size()).take_until([](char c) {
    return c == ',' || c == ';';
  });
}

/// Returns how the grid of 8-bit products describes the types and the scale
/// modes of a product, and an empty string for other products.
static std::string getGridKey(StringRef text) {
  auto type = [&](StringRef key) {
    return llvm::StringSwitch<StringRef>(findValue(text, key))
        .Case("Float8::E4M3", "e4m3")
        .Case("Float8::E5M2", "e5m2")
        .Case("Type::BF16", "bf16")
        .Case("Type::F16", "f16")
        .Case("Type::F32", "f32")
        .Default("");
  };
  auto mode = [&](StringRef key) {
    return llvm::StringSwitch<StringRef>(findValue(text, key))
        .Case("Float8Scale::Outer", "outer_vec")
        .Case("Float8Scale::Vector32", "vec32_ue8m0")
        .Case("Float8Scale::Vector128", "vec128")
        .Case("Float8Scale::Block128", "blk128x128")
        .Default("scalar");
  };
  StringRef a = type("g.float8A = "), b = type("g.float8B = ");
  if (a.empty() || b.empty())
    return "";
  std::string modes = mode("g.scalesA = ").str();
  if (StringRef other = mode("g.scalesB = "); other != modes)
    modes += "." + other.str();
  return (a + " " + b + " " + type("g.typeD = ") + " scale " + modes +
          " TN extent ")
      .str();
}

/// Returns the number of algorithms of an entry, or std::nullopt if it has
/// none.
static std::optional<int64_t> getAlgorithms(const llvm::json::Value *entry) {
  const llvm::json::Object *object = entry ? entry->getAsObject() : nullptr;
  return object ? object->getInteger("algorithms") : std::nullopt;
}

/// Returns whether the library accepts a product, or std::nullopt if the table
/// does not say so.
static std::optional<bool> isAccepted(StringRef text,
                                      const llvm::json::Object &products,
                                      const llvm::json::Object *grid) {
  if (auto count = getAlgorithms(products.get(text)))
    return *count > 0;
  std::string key = getGridKey(text);
  if (key.empty() || !grid)
    return std::nullopt;
  std::optional<bool> answer;
  for (const auto &[name, entry] : *grid)
    if (StringRef(name).starts_with(key))
      answer = answer.value_or(false) || getAlgorithms(&entry).value_or(0) > 0;
  return answer;
}

llvm::Expected<ProductAnswers> mlir::cuda::lookUpProducts(StringRef source,
                                                          StringRef table) {
  llvm::Expected<llvm::json::Value> json = llvm::json::parse(table);
  if (!json)
    return json.takeError();
  const llvm::json::Object *object = json->getAsObject();
  const llvm::json::Object *products =
      object ? object->getObject("products") : nullptr;
  if (!products)
    return llvm::createStringError("expected an object with 'products', as the "
                                   "stage 'probe' of tools/dev gpu writes it");
  ProductAnswers answers;
  answers.library =
      object->getString("device").value_or("an unknown GPU").str() +
      ", cuBLASLt " + std::to_string(object->getInteger("version").value_or(0));
  for (const EmittedProduct &product : findProducts(source)) {
    std::optional<bool> accepted =
        isAccepted(product.text, *products, object->getObject("scaled"));
    if (!accepted)
      answers.unknown.push_back(product.name);
    else if (!*accepted)
      answers.refused.push_back(product.name);
  }
  return answers;
}
