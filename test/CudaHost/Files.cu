//===- Files.cu - Files of arrays, and data ---------------------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// See https://llvm.org/LICENSE.txt for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// RUN: %cuda_host_cxx %s %cuda_host_lib -o %t
// RUN: %python %S/Inputs/files.py %t %digits %t.dir
//
//===----------------------------------------------------------------------===//

#include "amp/CudaHost/Testing.h"
#include "amp/Runtime/CUDA/Dataset.h"

using namespace amp::cuda;
using namespace amp::cuda::testing;

/// `copy in out`: reads and writes; `dump in`: prints; `order n seed epoch`.
int main(int argc, char **argv) {
  std::string command = argc > 1 ? argv[1] : "";
  std::vector<HostArray> arrays;
  if (command == "order") {
    for (int64_t i : permuteEpoch(std::atoll(argv[2]), std::atoll(argv[3]),
                                  std::atoll(argv[4])))
      std::printf("%lld\n", (long long)i);
    return 0;
  }
  Status status = readArrays(argv[2], &arrays);
  if (status.isOk() && command == "copy")
    status = writeArrays(argv[3], arrays).in("writing");
  if (!status.isOk()) {
    std::printf("error: %s\n", status.getMessage().c_str());
    return 1;
  }
  for (const HostArray &array : arrays) {
    double sum = 0;
    for (int64_t i = 0; i < array.count(); ++i)
      sum += array.get(i) * double(i % 7 + 1);
    std::printf("%s %s %.17g\n", array.name.c_str(), array.describe().c_str(),
                sum);
  }
  return 0;
}
