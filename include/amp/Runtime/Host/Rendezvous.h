//===- Rendezvous.h - The first messages between ranks ----------*- C++ -*-===//
//
// Part of the AMP Project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each rank gives all others a few bytes, by files, by TCP or by the store of
// torchrun: what a library needs to connect the ranks, and what must be equal.
//
// Files and stores may still have the messages of an earlier start. Each rank
// therefore has a random token. Rank 0 writes its token, the others write
// theirs with it, and rank 0 answers all of them with all messages.
//
//===----------------------------------------------------------------------===//

#ifndef AMP_RUNTIME_HOST_RENDEZVOUS_H
#define AMP_RUNTIME_HOST_RENDEZVOUS_H

#include "amp/Runtime/Host/Deadline.h"
#include "amp/Runtime/Host/Launcher.h"
#include "amp/Runtime/Host/MessageBoard.h"

#include <algorithm>
#include <random>
#include <vector>

#include <poll.h>

namespace amphost {

/// The exchange of messages between the ranks of one start.
class Rendezvous {
public:
  Rendezvous(const LaunchedProcess &process, const Deadline &deadline)
      : process(process), deadline(deadline),
        greeting("amp-ranks " + process.job + "\n") {}
  Rendezvous(const Rendezvous &) = delete;
  Rendezvous &operator=(const Rendezvous &) = delete;
  ~Rendezvous() { removeAnswer(); }

  /// Sets `all` to the bytes `own` of all ranks, in their order. All ranks give
  /// the same number of bytes.
  Status gather(const std::string &own, std::string *all) {
    const std::string &place = process.rendezvous;
    std::vector<Entry> entries(size_t(process.ranks),
                               {0, std::string(own.size(), '\0')});
    entries[size_t(process.rank)] = {process.ranks, own};
    AMP_RETURN_IF_ERROR(meet(place, &entries));
    for (size_t rank = 0; rank < entries.size(); ++rank)
      if (entries[rank].ranks != process.ranks)
        return explainCount(int64_t(rank), entries[rank].ranks, process.ranks);
    all->clear();
    for (const Entry &entry : entries)
      *all += entry.bytes;
    return Status();
  }

private:
  /// What a rank tells the others.
  struct Entry {
    int64_t ranks; ///< the number of ranks that it expects
    std::string bytes;
  };

  static Status explainCount(int64_t rank, int64_t ranks, int64_t expected) {
    return explainDifference({"number of ranks", ranks}, expected, rank, ranks);
  }

  Status fail(const std::string &what) const {
    return makeError(kInvalidArgument,
                     "rank %lld of %lld: %s at '%s'; expected all ranks to "
                     "start within the time of --deadline, and a --rendezvous "
                     "that all of them reach: file:path on a common disk, or "
                     "tcp://host:port of rank 0",
                     (long long)process.rank, (long long)process.ranks,
                     what.c_str(), process.rendezvous.c_str());
  }

  /// Names the ranks for which `isMissing` is set.
  Status failWithout(const std::vector<bool> &isMissing) const {
    std::string names;
    int64_t count = 0;
    for (size_t rank = 0; rank < isMissing.size(); ++rank)
      if (isMissing[rank] && ++count <= 8)
        names += (count > 1 ? ", " : "") + std::to_string(rank);
    if (count > 8)
      names += " and " + std::to_string(count - 8) + " more";
    return fail(count == 1 ? "rank " + names + " has left no message"
                           : "ranks " + names + " have left no message");
  }

  Status meet(const std::string &place, std::vector<Entry> *entries) {
    if (place.compare(0, 5, "file:") == 0 && place.size() > 5) {
      board = std::make_unique<FileBoard>(place.substr(5));
      return meetAtBoard(entries);
    }
    std::string host, port;
    if (splitPlace("torch://", &host, &port)) {
      board = std::make_unique<StoreBoard>(host, port, process.job);
      return meetAtBoard(entries);
    }
    if (splitPlace("tcp://", &host, &port))
      return process.rank == 0 ? serve(port, entries)
                               : visit(host, port, entries);
    return makeError(kInvalidArgument,
                     "unknown rendezvous '%s', expected file:path, "
                     "tcp://host:port or torch://host:port",
                     place.c_str());
  }

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

  //===--------------------------------------------------------------------===//
  // Boards
  //===--------------------------------------------------------------------===//

  static constexpr size_t kTokenSize = 16, kNumberSize = sizeof(int64_t);

  static std::string makeToken() {
    std::random_device device;
    std::string token;
    for (size_t i = 0; i < kTokenSize; ++i)
      token += "0123456789abcdef"[device() % 16];
    return token;
  }
  static std::string writeNumber(int64_t value) {
    return std::string(reinterpret_cast<const char *>(&value), kNumberSize);
  }
  static int64_t readNumber(const char *bytes) {
    int64_t value = 0;
    std::memcpy(&value, bytes, kNumberSize);
    return value;
  }
  static std::string writeEntry(const Entry &entry) {
    return writeNumber(entry.ranks) + entry.bytes;
  }
  /// Reads an entry with as many bytes as `entry` has.
  static void readEntry(const char *bytes, Entry *entry) {
    entry->ranks = readNumber(bytes);
    entry->bytes.assign(bytes + kNumberSize, entry->bytes.size());
  }

  /// Reads the message of `rank` that begins with the greeting and `mark`, and
  /// leaves the rest.
  bool readFrom(int64_t rank, const std::string &mark, std::string *rest) {
    const std::string begin = greeting + mark;
    if (!board->read(rank, rest) || rest->compare(0, begin.size(), begin) != 0)
      return false;
    rest->erase(0, begin.size());
    return true;
  }

  Status meetAtBoard(std::vector<Entry> *entries) {
    const Status status = process.rank == 0 ? answer(entries) : ask(entries);
    if (process.rank != 0)
      board->remove(process.rank);
    return status;
  }

  /// Rank 0: waits for the messages that name its token, and answers them.
  Status answer(std::vector<Entry> *entries) {
    const std::string token = makeToken();
    std::vector<std::string> tokens(entries->size(),
                                    std::string(kTokenSize, '-'));
    std::vector<bool> isMissing(entries->size(), true);
    isMissing[0] = false;
    const size_t entrySize = writeEntry(entries->front()).size();
    while (std::count(isMissing.begin(), isMissing.end(), true) != 0) {
      if (deadline.hasPassed()) {
        board->remove(0);
        const char *silence = board->explainSilence();
        return silence ? fail(silence) : failWithout(isMissing);
      }
      std::string text;
      if (!readFrom(0, "?" + token, &text))
        AMP_RETURN_IF_ERROR(board->write(0, greeting + "?" + token +
                                                writeNumber(process.ranks)));
      Deadline::pause();
      for (size_t rank = 1; rank < entries->size(); ++rank) {
        if (!isMissing[rank] || !readFrom(int64_t(rank), token, &text) ||
            text.size() != kTokenSize + entrySize)
          continue;
        tokens[rank] = text.substr(0, kTokenSize);
        readEntry(text.data() + kTokenSize, &(*entries)[rank]);
        isMissing[rank] = false;
      }
    }
    std::string text = greeting + "!";
    for (size_t rank = 0; rank < entries->size(); ++rank)
      text += tokens[rank] + writeEntry((*entries)[rank]);
    hasAnswered = true;
    return board->write(0, text);
  }

  /// Another rank: gives its message with the token of rank 0 and waits for the
  /// answer.
  Status ask(std::vector<Entry> *entries) {
    const std::string token = makeToken();
    const auto own = size_t(process.rank);
    const size_t entrySize = writeEntry((*entries)[own]).size();
    std::string seen;
    for (; !deadline.hasPassed(); Deadline::pause()) {
      std::string text;
      if (readFrom(0, "!", &text)) {
        // Another start has the answer if it has other tokens.
        const size_t step = kTokenSize + entrySize;
        if (text.size() < (own + 1) * step ||
            text.compare(own * step, kTokenSize, token) != 0)
          continue;
        if (text.size() != entries->size() * step)
          return explainCount(process.rank, process.ranks,
                              int64_t(text.size() / step));
        for (size_t rank = 0; rank < entries->size(); ++rank)
          readEntry(text.data() + rank * step + kTokenSize, &(*entries)[rank]);
        return Status();
      }
      if (!readFrom(0, "?", &text) || text.size() != kTokenSize + kNumberSize)
        continue;
      if (text.compare(0, kTokenSize, seen) != 0) {
        seen = text.substr(0, kTokenSize);
        since = std::chrono::steady_clock::now();
      }
      const std::string message =
          greeting + seen + token + writeEntry((*entries)[own]);
      std::string written;
      if (!board->read(process.rank, &written) || written != message)
        AMP_RETURN_IF_ERROR(board->write(process.rank, message));
      // Rank 0 does not read the messages of more ranks than it expects.
      const int64_t expected = readNumber(text.data() + kTokenSize);
      if (expected <= process.rank && isPatient())
        return explainCount(process.rank, process.ranks, expected);
    }
    const char *silence = board->explainSilence();
    return fail(silence        ? silence
                : seen.empty() ? "rank 0 has left no message"
                               : "rank 0 waits for other ranks");
  }

  /// Whether the message of rank 0 is probably current. Rank 0 replaces the
  /// message of an earlier start within a second.
  bool isPatient() const {
    return std::chrono::steady_clock::now() - since > std::chrono::seconds(1);
  }

  /// Rank 0: removes its last message when the other ranks have read it. They
  /// remove theirs then.
  void removeAnswer() {
    if (!hasAnswered)
      return;
    const Deadline limit(2);
    std::string text;
    for (int64_t rank = 1; rank < process.ranks; ++rank)
      while (board->read(rank, &text) && !limit.hasPassed())
        Deadline::pause();
    board->remove(0);
  }

  //===--------------------------------------------------------------------===//
  // TCP
  //===--------------------------------------------------------------------===//

  static void setTimeLimit(int connection, std::chrono::microseconds time) {
    const timeval limit = {time_t(time.count() / 1000000),
                           suseconds_t(time.count() % 1000000)};
    ::setsockopt(connection, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
  }
  static bool send(int connection, std::string text) {
    return transferBytes(connection, text.data(), text.size(), /*sends=*/true);
  }
  static bool receive(int connection, std::string *text) {
    return transferBytes(connection, text->data(), text->size(),
                         /*sends=*/false);
  }

  /// The open connections of rank 0 to the other ranks.
  struct Connections {
    explicit Connections(size_t ranks) : sockets(ranks, -1) {}
    Connections(const Connections &) = delete;
    Connections &operator=(const Connections &) = delete;
    ~Connections() {
      for (const int socket : sockets)
        ::close(socket);
      ::close(listener);
    }
    /// Replaces the connection to `rank`, which may have lost the first one.
    void set(int64_t rank, int socket) {
      ::close(sockets[size_t(rank)]);
      sockets[size_t(rank)] = socket;
    }
    int listener = -1;
    std::vector<int> sockets;
  };

  /// Rank 0: keeps a connection to each rank until all have sent their message.
  Status serve(const std::string &port, std::vector<Entry> *entries) const {
    const HostAddresses found(nullptr, port, AI_PASSIVE);
    if (!found.first)
      return fail("there is no such address");
    const addrinfo &address = *found.first;
    Connections all(entries->size());
    all.listener = ::socket(address.ai_family, address.ai_socktype, 0);
    const int yes = 1;
    ::setsockopt(all.listener, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
    if (all.listener < 0 ||
        ::bind(all.listener, address.ai_addr, address.ai_addrlen) != 0 ||
        ::listen(all.listener, int(process.ranks)) != 0)
      return fail("rank 0 cannot listen");
    std::vector<bool> isMissing(entries->size(), true);
    isMissing[0] = false;
    while (std::count(isMissing.begin(), isMissing.end(), true) != 0) {
      if (deadline.hasPassed())
        return failWithout(isMissing);
      pollfd waiting = {all.listener, POLLIN, 0};
      if (::poll(&waiting, 1, 100) <= 0)
        continue;
      const int64_t rank = accept(&all, entries);
      if (rank > 0)
        isMissing[size_t(rank)] = false;
    }
    std::string answer = writeNumber(process.ranks);
    for (const Entry &entry : *entries)
      answer += writeEntry(entry);
    for (size_t rank = 1; rank < entries->size(); ++rank)
      send(all.sockets[rank], answer);
    return Status();
  }

  /// Accepts a connection and reads a message. Returns its rank, or -1.
  int64_t accept(Connections *all, std::vector<Entry> *entries) const {
    const int connection = ::accept(all->listener, nullptr, nullptr);
    if (connection < 0)
      return -1;
    setTimeLimit(connection, std::chrono::seconds(5));
    std::string text(greeting.size(), '\0'), number(kNumberSize, '\0'),
        message = writeEntry(entries->front());
    const bool isRank = receive(connection, &text) && text == greeting &&
                        receive(connection, &number) &&
                        receive(connection, &message);
    const int64_t rank = isRank ? readNumber(number.data()) : -1;
    if (rank > 0 && rank < process.ranks) {
      readEntry(message.data(), &(*entries)[size_t(rank)]);
      all->set(rank, connection);
      return rank;
    }
    // A rank that rank 0 does not expect learns the number of ranks.
    if (isRank)
      send(connection, writeNumber(process.ranks));
    ::close(connection);
    return -1;
  }

  /// Another rank: sends its message to rank 0 and waits for those of all.
  Status visit(const std::string &host, const std::string &port,
               std::vector<Entry> *entries) const {
    const HostAddresses found(host.c_str(), port, 0);
    if (!found.first)
      return fail("there is no such address");
    const addrinfo &address = *found.first;
    std::string text = greeting + writeNumber(process.rank) +
                       writeEntry((*entries)[size_t(process.rank)]);
    const size_t entrySize = writeEntry(entries->front()).size();
    bool isSent = false;
    for (; !deadline.hasPassed(); Deadline::pause()) {
      Connections own(1);
      const int connection =
          ::socket(address.ai_family, address.ai_socktype, 0);
      own.set(0, connection);
      setTimeLimit(connection, deadline.getTimeLeft());
      std::string number(kNumberSize, '\0'),
          answer(entries->size() * entrySize, '\0');
      if (connection < 0 ||
          ::connect(connection, address.ai_addr, address.ai_addrlen) != 0)
        continue;
      isSent = send(connection, text);
      if (!isSent || !receive(connection, &number))
        continue;
      if (readNumber(number.data()) != process.ranks)
        return explainCount(process.rank, process.ranks,
                            readNumber(number.data()));
      if (!receive(connection, &answer))
        continue;
      for (size_t rank = 0; rank < entries->size(); ++rank)
        readEntry(answer.data() + rank * entrySize, &(*entries)[rank]);
      return Status();
    }
    return fail(isSent ? "rank 0 waits for other ranks"
                       : "rank 0 does not answer");
  }

  const LaunchedProcess &process;
  const Deadline &deadline;
  const std::string greeting;
  std::unique_ptr<MessageBoard> board;
  /// When this rank first saw the token of rank 0.
  std::chrono::steady_clock::time_point since;
  bool hasAnswered = false;
};

} // namespace amphost

#endif // AMP_RUNTIME_HOST_RENDEZVOUS_H
