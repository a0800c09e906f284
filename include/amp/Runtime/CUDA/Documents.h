//===- Documents.h - Documents of packed sequences --------------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// See https://llvm.org/LICENSE.txt for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Where the documents of packed sequences are, for plans of attention that take
// each document as a sample. Only programs with such plans include this header.
//
//===----------------------------------------------------------------------===//

#ifndef AMP_RUNTIME_CUDA_DOCUMENTS_H
#define AMP_RUNTIME_CUDA_DOCUMENTS_H

#include "amp/Runtime/CUDA/Elementwise.h"

namespace amp::cuda {

/// The elements of one position, for each packed tensor.
template <int Count>
struct DocumentRows {
  int64_t elements[Count];
};

/// The first position of document `document` of a sample: the greatest of the
/// entries so far, which is the entry itself if they ascend.
template <typename I>
AMP_DEVICE int64_t findDocument(const I *cumulative, int64_t document,
                                int64_t documents, int64_t positions) {
  if (document == documents)
    return positions;
  int64_t begin = 0;
  for (int64_t i = 1; i <= document; ++i) {
    const auto entry = int64_t(loadOne(cumulative + i));
    begin = entry > begin ? entry : begin;
  }
  return begin < positions ? begin : positions;
}

template <int Count, typename I>
__global__ void __launch_bounds__(kThreads)
    documentOffsetsKernel(int32_t *lengths, int64_t *offsets,
                          const I *cumulative, DocumentRows<Count> rows,
                          int64_t samples, int64_t documents,
                          int64_t positions) {
  const int64_t count = samples * documents, columns = (count + 2) / 2 * 2;
  for (int64_t n = blockIdx.x * int64_t(kThreads) + threadIdx.x; n <= count;
       n += gridDim.x * int64_t(kThreads)) {
    const int64_t sample = n / documents, document = n % documents;
    int64_t first = samples * positions;
    if (n < count) {
      const I *own = cumulative + sample * documents;
      const int64_t begin = findDocument(own, document, documents, positions),
                    end = findDocument(own, document + 1, documents, positions);
      storeOne(lengths + n, int32_t(end - begin));
      first = sample * positions + begin;
    }
    for (int row = 0; row < Count; ++row)
      storeOne(offsets + row * columns + n, first * rows.elements[row]);
  }
}

/// The number of positions of each document, and its offset in packed tensors
/// of [samples x positions, rows.elements[i]]. A row of offsets has an
/// even number of columns. The cumulative lengths are [samples, documents] and
/// ascend from 0. The last document of a sample ends with it.
template <int Count, typename I>
Status documentOffsets(cudaStream_t stream, int32_t *lengths, int64_t *offsets,
                       const I *cumulative, DocumentRows<Count> rows,
                       int64_t samples, int64_t documents, int64_t positions) {
  return launch("document_offsets", stream,
                elementwiseShape(samples * documents + 1, 1),
                documentOffsetsKernel<Count, I>, lengths, offsets, cumulative,
                rows, samples, documents, positions);
}

} // namespace amp::cuda

#endif // AMP_RUNTIME_CUDA_DOCUMENTS_H
