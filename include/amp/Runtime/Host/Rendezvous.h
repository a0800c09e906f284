//===- Rendezvous.h - The first message between ranks -----------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Rank 0 gives the other ranks a few bytes, by a file, by TCP or by the store
// of torchrun. A library that connects the ranks needs them.
//
//===----------------------------------------------------------------------===//

#ifndef AMP_RUNTIME_HOST_RENDEZVOUS_H
#define AMP_RUNTIME_HOST_RENDEZVOUS_H

#include "amp/Runtime/Host/Launcher.h"
#include "amp/Runtime/Host/TorchStore.h"

#include <chrono>
#include <cstring>
#include <thread>

#include <poll.h>

namespace amphost {

/// A point in time after which a rank gives up.
class Deadline {
public:
  explicit Deadline(int64_t seconds)
      : end(std::chrono::steady_clock::now() + std::chrono::seconds(seconds)) {}
  bool hasPassed() const { return std::chrono::steady_clock::now() > end; }
  /// Waits for a moment.
  static void pause() {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }

private:
  std::chrono::steady_clock::time_point end;
};

/// The message between the ranks of `process`: a text that belongs to this
/// start, and the bytes.
class Rendezvous {
public:
  Rendezvous(const LaunchedProcess &process, const Deadline &deadline)
      : process(process), deadline(deadline),
        greeting("amp-ranks " + process.job + " " +
                 std::to_string(process.ranks) + "\n") {}

  /// Sends `bytes` of rank 0 to the other ranks, which receive as many. After
  /// an error the bytes are undefined.
  Status share(std::string *bytes) {
    const std::string &place = process.rendezvous;
    if (place.compare(0, 5, "file:") == 0 && place.size() > 5)
      return process.rank == 0 ? writeFile(*bytes) : readFile(bytes);
    std::string host, port;
    if (splitPlace("tcp://", &host, &port))
      return meet(host, port, bytes);
    if (splitPlace("torch://", &host, &port))
      return useStore(host, port, bytes);
    return makeError(kInvalidArgument,
                     "unknown rendezvous '%s', expected file:path, "
                     "tcp://host:port or torch://host:port",
                     place.c_str());
  }
  /// Removes the message. All ranks have read it.
  void finish() {
    if (process.rank == 0 && !written.empty())
      ::unlink(written.c_str());
    std::string host, port;
    if (process.rank != 0 || !splitPlace("torch://", &host, &port))
      return;
    const Addresses found(host.c_str(), port, 0);
    TorchStore store;
    if (found.first && store.connect(*found.first))
      store.remove(getKey());
  }

private:
  Status fail(const char *what) const {
    return makeError(kInvalidArgument,
                     "rank %lld of %lld: %s at '%s'; expected all ranks to "
                     "start within the time of --deadline, and a --rendezvous "
                     "that all of them reach: file:path on a common disk, or "
                     "tcp://host:port of rank 0",
                     (long long)process.rank, (long long)process.ranks, what,
                     process.rendezvous.c_str());
  }

  /// Writes the file as a whole.
  Status writeFile(const std::string &bytes) {
    written = process.rendezvous.substr(5);
    const std::string partial = written + "." + std::to_string(getpid());
    FILE *file = std::fopen(partial.c_str(), "wb");
    const std::string text = greeting + bytes;
    bool ok =
        file && std::fwrite(text.data(), 1, text.size(), file) == text.size();
    ok &= file && std::fclose(file) == 0;
    if (!ok || std::rename(partial.c_str(), written.c_str()) != 0)
      return makeError(kFile, "cannot write '%s': %s", written.c_str(),
                       std::strerror(errno));
    return Status();
  }

  /// Reads the file of this start. Another one may be there until rank 0 has
  /// replaced it.
  Status readFile(std::string *bytes) const {
    const std::string path = process.rendezvous.substr(5);
    std::string text(greeting.size() + bytes->size(), '\0');
    while (!deadline.hasPassed()) {
      if (FILE *file = std::fopen(path.c_str(), "rb")) {
        const size_t count = std::fread(text.data(), 1, text.size(), file);
        std::fclose(file);
        if (count == text.size() &&
            text.compare(0, greeting.size(), greeting) == 0) {
          *bytes = text.substr(greeting.size());
          return Status();
        }
      }
      Deadline::pause();
    }
    return fail("rank 0 has left no message");
  }

  /// The addresses of a host. `first` is null if there are none.
  struct Addresses {
    Addresses(const char *host, const std::string &port, int flags) {
      addrinfo hints = {};
      hints.ai_socktype = SOCK_STREAM;
      hints.ai_family = AF_INET;
      hints.ai_flags = flags;
      if (::getaddrinfo(host, port.c_str(), &hints, &first) != 0)
        first = nullptr;
    }
    Addresses(const Addresses &) = delete;
    ~Addresses() {
      if (first)
        ::freeaddrinfo(first);
    }
    addrinfo *first = nullptr;
  };

  /// Divides the rendezvous into host and port if it begins with `scheme`.
  bool splitPlace(const char *scheme, std::string *host,
                  std::string *port) const {
    const std::string &place = process.rendezvous;
    const size_t begin = std::strlen(scheme), colon = place.rfind(':');
    if (place.compare(0, begin, scheme) != 0 || colon <= begin ||
        colon == std::string::npos || colon + 1 >= place.size())
      return false;
    *host = place.substr(begin, colon - begin);
    *port = place.substr(colon + 1);
    return true;
  }

  /// The key of the message in the store of torchrun.
  std::string getKey() const { return "/amp-ranks/" + process.job; }

  /// Leaves the message in the store of torchrun, or waits for it.
  Status useStore(const std::string &host, const std::string &port,
                  std::string *bytes) const {
    const Addresses found(host.c_str(), port, 0);
    if (!found.first)
      return fail("there is no such address");
    bool hasAnswered = false;
    while (!deadline.hasPassed()) {
      TorchStore store;
      std::string text = greeting + *bytes;
      const size_t size = text.size();
      const bool connects = store.connect(*found.first);
      hasAnswered |= connects;
      if (process.rank == 0
              ? connects && store.set(getKey(), text)
              : connects && store.get(getKey(), &text) && text.size() == size &&
                    text.compare(0, greeting.size(), greeting) == 0) {
        *bytes = text.substr(greeting.size());
        return Status();
      }
      Deadline::pause();
    }
    return fail(hasAnswered ? "rank 0 has left no message"
                            : "the store of torchrun does not answer");
  }

  /// Connects to rank 0, or listens as rank 0.
  Status meet(const std::string &host, const std::string &port,
              std::string *bytes) const {
    const bool isFirst = process.rank == 0;
    const Addresses found(isFirst ? nullptr : host.c_str(), port,
                          isFirst ? AI_PASSIVE : 0);
    if (!found.first)
      return fail("there is no such address");
    return isFirst ? serve(*found.first, *bytes) : receive(*found.first, bytes);
  }

  Status serve(const addrinfo &address, const std::string &bytes) const {
    const int listener = ::socket(address.ai_family, address.ai_socktype, 0);
    const int yes = 1;
    ::setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
    if (listener < 0 ||
        ::bind(listener, address.ai_addr, address.ai_addrlen) != 0 ||
        ::listen(listener, int(process.ranks)) != 0) {
      ::close(listener);
      return fail("rank 0 cannot listen");
    }
    int64_t served = 1;
    while (served < process.ranks && !deadline.hasPassed()) {
      pollfd waiting = {listener, POLLIN, 0};
      if (::poll(&waiting, 1, 100) <= 0)
        continue;
      const int connection = ::accept(listener, nullptr, nullptr);
      if (connection < 0)
        continue;
      const timeval limit = {5, 0};
      ::setsockopt(connection, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
      std::string text(greeting.size(), '\0'), answer = bytes;
      if (transferBytes(connection, text.data(), text.size(),
                        /*sends=*/false) &&
          text == greeting &&
          transferBytes(connection, answer.data(), answer.size(),
                        /*sends=*/true))
        ++served;
      ::close(connection);
    }
    ::close(listener);
    return served == process.ranks ? Status()
                                   : fail("not all ranks have connected");
  }

  Status receive(const addrinfo &address, std::string *bytes) const {
    while (!deadline.hasPassed()) {
      const int connection =
          ::socket(address.ai_family, address.ai_socktype, 0);
      const timeval limit = {5, 0};
      ::setsockopt(connection, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
      std::string text = greeting;
      const bool ok =
          connection >= 0 &&
          ::connect(connection, address.ai_addr, address.ai_addrlen) == 0 &&
          transferBytes(connection, text.data(), text.size(), /*sends=*/true) &&
          transferBytes(connection, bytes->data(), bytes->size(),
                        /*sends=*/false);
      ::close(connection);
      if (ok)
        return Status();
      Deadline::pause();
    }
    return fail("rank 0 does not answer");
  }

  const LaunchedProcess &process;
  const Deadline &deadline;
  std::string greeting, written;
};

} // namespace amphost

#endif // AMP_RUNTIME_HOST_RENDEZVOUS_H
