@_spi(Internals) import SessionCore

/// The encoding of sign-ins in a change log's records and snapshots (`Specs/ChangeLog.md`).
extension PayloadWriter {
  mutating func write(_ signIn: SignIn) {
    write(signIn.journal)
    write(signIn.generation)
  }

  mutating func write(_ leaving: ChangeEvent.PendingLogout) {
    write(leaving.journal)
    write(leaving.process)
    write(leaving.until)
  }

  /// Writes the last part of a snapshot, about sign-ins.
  mutating func write(signInsOf queue: ChangeQueue) {
    for item in queue.pending {
      write(optional: item.signIn) { $0.write($1) }
      write(item.isRetried)
    }
    for failure in queue.failures { write(optional: failure.signIn) { $0.write($1) } }
    write(optional: queue.author) { $0.write($1) }
    write(UInt32(clamping: queue.ended.count))
    for signIn in queue.ended { write(signIn) }
    let leaving = queue.longestDepartures
    write(UInt32(clamping: leaving.count))
    for item in leaving {
      write(item.leaving)
      write(item.since)
    }
  }
}

extension ChangeQueue {
  /// The logout of each journal that holds longest.
  ///
  /// A snapshot contains each journal once.
  fileprivate var longestDepartures: [LogoutHold] {
    leaving.enumerated().filter { place, item in
      !leaving.enumerated().contains { other, longer in
        longer.leaving.journal == item.leaving.journal
          && (longer.leaving.until, other) > (item.leaving.until, place)
      }
    }.map(\.element)
  }

  /// Whether a snapshot needs the part about sign-ins.
  var hasSignIns: Bool {
    author != nil || !ended.isEmpty || !leaving.isEmpty
      || pending.contains { $0.signIn != nil || $0.isRetried }
      || failures.contains { $0.signIn != nil }
  }
}

extension PayloadReader {
  mutating func signIn() throws(CodecError) -> SignIn {
    SignIn(journal: try identifier(), generation: Generation(try integer()))
  }

  mutating func leaving() throws(CodecError) -> ChangeEvent.PendingLogout {
    ChangeEvent.PendingLogout(
      journal: try identifier(), process: try integer(), until: try timestamp())
  }

  /// Reads the last part of a snapshot.
  ///
  /// Each content has only one valid encoding.
  mutating func signIns(of queue: inout ChangeQueue) throws(CodecError) {
    let start = offset
    for place in queue.pending.indices {
      queue.pending[place].signIn = try optional { (reader) throws(CodecError) in
        try reader.signIn()
      }
      queue.pending[place].isRetried = try flag()
    }
    for place in queue.failures.indices {
      queue.failures[place].signIn = try optional { (reader) throws(CodecError) in
        try reader.signIn()
      }
    }
    queue.author = try optional { (reader) throws(CodecError) in try reader.signIn() }
    queue.ended = try list { (reader) throws(CodecError) in try reader.signIn() }
    queue.leaving = try list { (reader) throws(CodecError) in
      LogoutHold(leaving: try reader.leaving(), since: try reader.timestamp())
    }
    let isPossible =
      queue.hasSignIns && queue.ended.count <= ChangeQueue.journalLimit
      && queue.leaving.count <= ChangeQueue.journalLimit
      && Set(queue.ended.map(\.journal)).count == queue.ended.count
      && Set(queue.leaving.map(\.leaving.journal)).count == queue.leaving.count
      && queue.leaving.allSatisfy { $0.leaving.until > $0.since }
    guard isPossible else { throw .impossible(offset: start) }
  }
}
