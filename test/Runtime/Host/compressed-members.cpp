//===- compressed-members.cpp - A reader without zlib ---------------------===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A program that is built without zlib reads stored members and says why it
// does not read compressed ones. It needs nothing but the standard library.
//
// clang-format off
// RUN: rm -rf %t && mkdir %t
// RUN: %host_cxx %s -o %t/read
// RUN: %python -c "import numpy; numpy.savez(r'%t/stored.npz', x=numpy.zeros(1000))"
// RUN: %python -c "import numpy; numpy.savez_compressed(r'%t/deflated.npz', x=numpy.zeros(1000))"
// RUN: %t/read %t/stored.npz | FileCheck %s --check-prefix=STORED
// STORED: x: 1000xf64
// RUN: not %t/read %t/deflated.npz | FileCheck %s
// CHECK: cannot read member 'x' of '{{.*}}deflated.npz': it is compressed, and this program has been built without zlib (-DAMP_HOST_ZLIB -lz); expected a file of numpy.savez
// clang-format on
//
//===----------------------------------------------------------------------===//

#include "amp/Runtime/Host/Npz.h"

int main(int, char **argv) {
  amphost::ArrayMap arrays;
  amphost::Status status = amphost::readArrays(argv[1], &arrays);
  for (const auto &[name, array] : arrays)
    std::printf("%s: %s\n", name.c_str(), array.describe().c_str());
  std::printf("%s\n", status.getMessage().c_str());
  return status.isOk() ? 0 : 1;
}
