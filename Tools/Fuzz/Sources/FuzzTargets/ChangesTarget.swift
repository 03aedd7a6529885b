@_spi(Internals) internal import SessionChanges
@_spi(Internals) internal import SessionCore

/// A check of a change log's records: each decodes or is an error, and decoding is stable.
public enum ChangesTarget {
  /// Checks one input: a byte of kind, eight of sequence, as in a frame, and the payload.
  public static func check(_ input: [UInt8]) {
    guard input.count >= 9 else { return }
    let (kind, sequence) = (input[0], input.number(1, 8))
    let payload = Array(input.dropFirst(9))
    let found: ChangeRecord?
    do throws(CodecError) {
      found = try ChangeCodec.decode(sequence: sequence, kind: kind, payload: payload)
    } catch {
      return require(!error.description.isEmpty, "an error without words")
    }
    guard let record = found else { return }
    let isOwned = ChangeCodec.owns(kind: kind, payload: payload.span.bytes)
    require(isOwned, "a record of a log that owns no such kind")
    require(record.sequence == sequence, "seq \(sequence) became \(record.sequence)")
    checkAgain(record, kind)
    checkQueue(record)
    checkSignIns(record)
    checkSession(kind, sequence, payload)
  }

  private static func bytes(_ record: ChangeRecord) -> (kind: UInt8, payload: [UInt8]) {
    switch record.content {
    case .event(let event): ChangeCodec.encode(event, at: record.time)
    case .snapshot(let queue):
      (SessionRecord.snapshotKind, ChangeCodec.encode(queue, at: record.time))
    }
  }

  private static func checkAgain(_ record: ChangeRecord, _ kind: UInt8) {
    let own = bytes(record)
    require(own.kind == kind, "kind \(kind) became \(own.kind)")
    do throws(CodecError) {
      let again = try ChangeCodec.decode(
        sequence: record.sequence, kind: kind, payload: own.payload)
      require(again == record, "decoded twice, it is another record")
      require(
        again.map(bytes)?.payload == own.payload, "encoded twice, it is other bytes")
    } catch {
      finding("what was decoded and encoded is an error: \(error)")
    }
  }

  /// Checks that a queue applies a record or rejects it as a whole, and that its snapshot decodes.
  private static func checkQueue(_ record: ChangeRecord) {
    var queue = ChangeQueue()
    take(record, into: &queue)
    let first = queue.pending.first
    let turn = queue.turn(of: "u", sender: "s", at: record.time, isGone: { $0.process & 1 == 0 })
    require((turn == .nothing) == (first == nil), "\(turn) of \(queue.pending.count)")
    guard let key = first?.change.key else { return }
    // From here on the queue goes on with what was read, as a log does.
    let sent = ChangeEvent.Sent(key: key, sender: "s", process: 1, deadline: record.time)
    for event in [
      ChangeEvent.sent(sent),
      .postponed(.init(key: key, isCounted: true, retryAt: record.time, reason: "r")),
      .sent(sent), .givenUp(.init(key: key, cause: .refused, reason: "r")),
    ] {
      take(event, at: record.time, into: &queue)
    }
    require(queue.failures.last?.change == first?.change, "what was given up is another change")
    checkSnapshot(queue, record)
    let count = queue.failures.count
    take(.retried(key), at: record.time, into: &queue)
    let place = queue.pending.firstIndex { $0.change.key == key }
    require(queue.failures.count == count - 1, "what is tried again is still given up")
    require(
      queue.pending.prefix((place ?? 0) + 1).allSatisfy(\.isRetried),
      "what was never sent is before what is tried again")
    checkSnapshot(queue, record)
  }

  private static func take(_ event: ChangeEvent, at time: Timestamp, into queue: inout ChangeQueue)
  {
    do throws(ChangeRejection) { try queue.apply(event, at: time) } catch {
      finding("\(event) is refused: \(error)")
    }
  }

  /// Checks that a hold lasts until its time, and that the end of a sign-in is permanent and ends
  /// its hold.
  private static func checkSignIns(_ record: ChangeRecord) {
    var queue = ChangeQueue()
    switch record.content {
    case .event(.leaving(let leaving)):
      take(.leaving(leaving), at: record.time, into: &queue)
      let until = queue.isLeaving(leaving.journal, at: record.time) { _, _ in false }
      require(until == (leaving.until > record.time ? leaving.until : nil), "until \(until as Any)")
      require(
        queue.isLeaving(leaving.journal, at: record.time) { _, _ in true } == until,
        "a hold without a holder's name is lifted")
      let signIn = SignIn(journal: leaving.journal, generation: Generation(1))
      take(.signInEnded(signIn), at: record.time, into: &queue)
      require(queue.leaving.isEmpty && queue.hasEnded(signIn), "ended, and it leaves")
    case .event(.signInEnded(let signIn)):
      take(.addedBy(signIn), at: record.time, into: &queue)
      let own = Change(.delete, EntityReference("t", "i"), key: "k")
      take(.added(.init(user: "u", change: own)), at: record.time, into: &queue)
      require(queue.pending.map(\.signIn) == [signIn], "another author")
      let events = queue.ending(signIn, of: nil, discards: true)
      for event in events { take(event, at: record.time, into: &queue) }
      require(queue.hasEnded(signIn) && queue.pending.isEmpty, "it left something: \(events)")
      require(
        queue.ending(signIn, of: nil, discards: true).isEmpty, "what was ended is ended again")
      checkSnapshot(queue, record)
    default: break
    }
  }

  private static func take(_ record: ChangeRecord, into queue: inout ChangeQueue) {
    let before = queue
    do throws(ChangeRejection) {
      try queue.apply(record)
    } catch {
      require(!error.description.isEmpty, "a refusal without words")
      require(queue == before, "a record that was refused changed the queue")
    }
    checkSnapshot(queue, record)
  }

  private static func checkSnapshot(_ queue: ChangeQueue, _ record: ChangeRecord) {
    let payload = ChangeCodec.encode(queue, at: record.time)
    do throws(CodecError) {
      let back = try ChangeCodec.decode(
        sequence: record.sequence, kind: SessionRecord.snapshotKind, payload: payload)
      require(back?.content == .snapshot(queue), "a snapshot came back otherwise")
    } catch {
      finding("a queue's own snapshot does not read back: \(error)")
    }
  }

  /// Checks that a session does not know the record, and may not skip a snapshot.
  private static func checkSession(_ kind: UInt8, _ sequence: UInt64, _ payload: [UInt8]) {
    do throws(CodecError) {
      let record = try SessionCodec.decode(sequence: sequence, kind: kind, payload: payload)
      guard case .unknown(let unknown) = record.content else {
        finding("a session reads a change log's record as \(record)")
      }
      require(unknown.isIgnorable == (kind != SessionRecord.snapshotKind), "kind \(kind)")
    } catch {
      finding("a session calls a change log's record damaged: \(error)")
    }
  }
}
