//===- Targets.cpp - What the fuzzer feeds --------------------------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// With libFuzzer: amp-fuzz --target=NAME [options of libFuzzer] [folders]
// Without:        amp-fuzz --target=NAME files
//
// The second form runs each file once, to see that an old fault has not come
// back.
//
//===----------------------------------------------------------------------===//

#include "Targets.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"
#include <algorithm>
#include <cstdlib>
#include <cstring>

using namespace mlir::amp;
using llvm::StringRef;

llvm::ArrayRef<fuzz::Target> fuzz::getTargets() {
  static constexpr Target targets[] = {
      {"policy", fuzzPolicy, true}, {"options", fuzzOptions, true},
      {"module", fuzzModule, true}, {"arrays", fuzzArrays, false},
      {"state", fuzzState, false},
  };
  return targets;
}

const fuzz::Target *fuzz::findTarget(StringRef name) {
  return llvm::find_if(
      getTargets(), [&](const Target &target) { return target.name == name; });
}

void fuzz::require(bool holds, const char *property) {
  if (holds)
    return;
  llvm::errs() << "amp-fuzz: violated: " << property << "\n";
  std::abort();
}

/// The target that the first argument names. Ends the process without it.
static const fuzz::Target &readTarget(int argc, char **argv) {
  StringRef name = argc > 1 ? argv[1] : "";
  const fuzz::Target *target = fuzz::getTargets().end();
  if (name.consume_front("--target="))
    target = fuzz::findTarget(name);
  if (target != fuzz::getTargets().end())
    return *target;
  llvm::errs() << "amp-fuzz: expected --target= and one of";
  for (const fuzz::Target &known : fuzz::getTargets())
    llvm::errs() << ' ' << known.name;
  llvm::errs() << " as the first argument\n";
  std::exit(1);
}

#ifdef AMP_LIBFUZZER
static const fuzz::Target *current = nullptr;

extern "C" size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t maxSize);

extern "C" int LLVMFuzzerInitialize(int *argc, char ***argv) {
  current = &readTarget(*argc, *argv);
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  current->run(StringRef(reinterpret_cast<const char *>(data), size));
  return 0;
}

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size,
                                          size_t maxSize, unsigned seed) {
  if (!current->isText || seed % 4 == 0 || size == 0)
    return LLVMFuzzerMutate(data, size, maxSize);
  std::string text = fuzz::mutateText(
      StringRef(reinterpret_cast<const char *>(data), size), seed);
  size = std::min(text.size(), maxSize);
  std::memcpy(data, text.data(), size);
  return size;
}
#else
int main(int argc, char **argv) {
  const fuzz::Target &target = readTarget(argc, argv);
  for (int i = 2; i < argc; ++i) {
    auto file = llvm::MemoryBuffer::getFile(argv[i]);
    if (!file) {
      llvm::errs() << "amp-fuzz: cannot read '" << argv[i]
                   << "': " << file.getError().message() << "\n";
      return 1;
    }
    llvm::outs() << argv[i] << "\n";
    llvm::outs().flush();
    // As in libFuzzer, no terminator follows the input.
    StringRef text = (*file)->getBuffer();
    std::vector<char> input(text.begin(), text.end());
    target.run(StringRef(input.data(), input.size()));
  }
  llvm::outs() << "ran " << std::max(0, argc - 2) << " inputs\n";
  return 0;
}
#endif
