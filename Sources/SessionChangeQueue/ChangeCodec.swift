@_spi(Internals) public import SessionCore

/// Encodes and decodes the payloads of a change log's records (`Specs/ChangeLog.md`).
///
/// Time and version come first, as in a session's payloads. A version of 0xA0 to 0xB7 marks the
/// snapshot of a change log. Its kind is that of a session's snapshot.
@_spi(Internals) public enum ChangeCodec {
  /// The version written for every kind.
  static let version: UInt8 = 1
  /// The version of a snapshot without sign-ins.
  static let snapshotVersion: UInt8 = 0xA0
  /// The version of a snapshot with sign-ins or with a retried change.
  static let signInSnapshotVersion: UInt8 = 0xA1
  /// The kinds of change logs, including future ones.
  public static let kinds: ClosedRange<UInt8> = 0xA0...0xB7

  /// Returns whether a record of this kind and payload belongs to a change log, known or not.
  public static func owns(kind: UInt8, payload: RawSpan) -> Bool {
    OtherLogRecords.contains(kind: kind, payload: payload, in: kinds)
  }

  /// Returns the journal's kind byte and payload for `event` at `time`.
  public static func encode(_ event: ChangeEvent, at time: Timestamp) -> (
    kind: UInt8, payload: [UInt8]
  ) {
    var writer = PayloadWriter()
    writer.write(time)
    writer.write(version)
    writer.write(event)
    return (event.kind.rawValue, writer.finished())
  }

  /// Returns the payload of the snapshot of `queue`.
  ///
  /// Equal queues have equal bytes.
  public static func encode(_ queue: ChangeQueue, at time: Timestamp) -> [UInt8] {
    var writer = PayloadWriter(capacity: 64 + queue.pendingBytes)
    writer.write(time)
    writer.write(queue.hasSignIns ? signInSnapshotVersion : snapshotVersion)
    writer.write(queue)
    if queue.hasSignIns { writer.write(signInsOf: queue) }
    return writer.finished()
  }

  /// Returns the record with this sequence, kind and payload; `nil` if its kind or version is not
  /// known.
  ///
  /// A reader must not ignore any record of a change log, since an unknown one may affect what is
  /// sent.
  public static func decode(sequence: UInt64, kind: UInt8, payload: RawSpan) throws(CodecError)
    -> ChangeRecord?
  {
    try payload.withUnsafeBytes { (bytes) throws(CodecError) in
      var reader = PayloadReader(bytes)
      let time = try reader.timestamp()
      let found = try reader.version()
      let content: ChangeRecord.Content
      if let event = ChangeEvent.Kind(rawValue: kind) {
        guard found == version else { return nil }
        content = .event(try reader.changeEvent(event))
      } else if kind == SessionRecord.snapshotKind, found == snapshotVersion {
        content = .snapshot(try reader.changeQueue())
      } else if kind == SessionRecord.snapshotKind, found == signInSnapshotVersion {
        var queue = try reader.changeQueue()
        try reader.signIns(of: &queue)
        content = .snapshot(queue)
      } else {
        return nil
      }
      guard reader.remaining == 0 else {
        throw .trailingBytes(offset: reader.offset, count: reader.remaining)
      }
      return ChangeRecord(sequence: sequence, time: time, content: content)
    }
  }

  /// Returns the record with this sequence, kind and payload; `nil` if its kind or version is not
  /// known.
  public static func decode(sequence: UInt64, kind: UInt8, payload: [UInt8]) throws(CodecError)
    -> ChangeRecord?
  {
    try decode(sequence: sequence, kind: kind, payload: payload.span.bytes)
  }
}

extension PayloadWriter {
  mutating func write(_ event: ChangeEvent) {
    switch event {
    case .added(let added):
      write(added.user)
      write(added.change)
    case .sent(let sent): write(sent)
    case .acknowledged(let key): write(key)
    case .postponed(let postponed): write(postponed)
    case .givenUp(let end):
      write(end.key)
      write(end.cause)
      write(end.reason)
    case .discarded(let discarded):
      write(discarded.key)
      write(discarded.cause)
    case .scopeChecked(let check):
      write(check.scope)
      write(check.statusChangedAt)
    case .addedBy(let signIn), .signInEnded(let signIn): write(signIn)
    case .leaving(let leaving): write(leaving)
    case .retried(let key): write(key)
    }
  }

  private mutating func write(_ sent: ChangeEvent.Sent) {
    write(sent.key)
    write(sent.sender)
    write(sent.process)
    write(sent.deadline)
  }

  private mutating func write(_ postponed: ChangeEvent.Postponed) {
    write(postponed.key)
    write(postponed.isCounted)
    write(postponed.retryAt)
    write(postponed.reason)
  }

  private mutating func write(bytes content: [UInt8]) {
    write(UInt32(clamping: content.count))
    append(raw: content)
  }

  private mutating func write(_ entity: EntityReference) {
    write(entity.scope)
    write(entity.type)
    write(entity.id)
  }

  private mutating func write(_ change: Change) {
    write(change.key)
    switch change {
    case .create(let edit): write(.create, edit.entity, edit.content, edit.mentions)
    case .update(let edit): write(.update, edit.entity, edit.content, edit.mentions)
    case .delete(let deletion): write(.delete, deletion.entity, [], [])
    case .request(let request):
      write(Change.requestByte)
      write(request.method)
      write(request.path)
      write(optional: request.contentType) { $0.write($1) }
      write(bytes: request.body)
    }
  }

  private mutating func write(
    _ operation: Change.Operation, _ entity: EntityReference, _ content: [UInt8],
    _ mentions: [EntityReference]
  ) {
    write(operation.rawValue)
    write(entity)
    write(bytes: content)
    write(UInt32(clamping: mentions.count))
    for mention in mentions { write(mention) }
  }

  mutating func write(_ queue: ChangeQueue) {
    write(UInt32(clamping: queue.pending.count))
    for item in queue.pending {
      write(item.user)
      write(item.change)
      write(item.since)
      write(optional: item.sent) { $0.write($1) }
      write(item.sentAt)
      write(item.sends)
      write(item.attempts)
      write(optional: item.postponed) { $0.write($1) }
      write(item.postponedAt)
    }
    write(UInt32(clamping: queue.failures.count))
    for failure in queue.failures {
      write(failure.user)
      write(failure.change)
      write(failure.cause)
      write(failure.reason)
      write(failure.time)
    }
    let scopes = queue.scopes.sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }
    write(UInt32(clamping: scopes.count))
    for (scope, changedAt) in scopes {
      write(scope)
      write(changedAt)
    }
  }
}

extension Change {
  /// The byte in place of an operation, for a request.
  fileprivate static let requestByte: UInt8 = 0x10
}

extension PayloadReader {
  mutating func changeEvent(_ kind: ChangeEvent.Kind) throws(CodecError) -> ChangeEvent {
    switch kind {
    case .added: .added(.init(user: try identifier(), change: try change()))
    case .sent: .sent(try sent())
    case .acknowledged: .acknowledged(try identifier())
    case .postponed: .postponed(try postponed())
    case .givenUp:
      .givenUp(.init(key: try identifier(), cause: try code(), reason: try text()))
    case .discarded:
      .discarded(.init(key: try optionalIdentifier(), cause: try code()))
    case .scopeChecked:
      .scopeChecked(.init(scope: try text(), statusChangedAt: try timestamp()))
    case .addedBy: .addedBy(try signIn())
    case .leaving: .leaving(try leaving())
    case .signInEnded: .signInEnded(try signIn())
    case .retried: .retried(try identifier())
    }
  }

  private mutating func sent() throws(CodecError) -> ChangeEvent.Sent {
    ChangeEvent.Sent(
      key: try identifier(), sender: try identifier(), process: try integer(),
      deadline: try timestamp())
  }

  private mutating func postponed() throws(CodecError) -> ChangeEvent.Postponed {
    ChangeEvent.Postponed(
      key: try identifier(), isCounted: try flag(), retryAt: try timestamp(), reason: try text())
  }

  private mutating func byteString() throws(CodecError) -> [UInt8] { Array(try textBytes()) }

  private mutating func entity() throws(CodecError) -> EntityReference {
    let scope = try text()
    let type = try text()
    return EntityReference(type, try identifier(), scope: scope)
  }

  /// Reads a list with its length.
  ///
  /// It ends at the first missing value, before memory for the others is allocated.
  mutating func list<Value>(
    _ read: (inout PayloadReader) throws(CodecError) -> Value
  ) throws(CodecError) -> [Value] {
    let count = try integer(UInt32.self)
    var values: [Value] = []
    for _ in 0..<count { values.append(try read(&self)) }
    return values
  }

  mutating func optional<Value>(
    _ read: (inout PayloadReader) throws(CodecError) -> Value
  ) throws(CodecError) -> Value? {
    try flag() ? try read(&self) : nil
  }

  private mutating func change() throws(CodecError) -> Change {
    let key = try identifier()
    let place = offset
    let byte = try integer(UInt8.self)
    if let operation = Change.Operation(rawValue: byte) {
      let entity = try entity()
      let content = try byteString()
      let mentions = try list { (reader) throws(CodecError) in try reader.entity() }
      guard operation != .delete || (content.isEmpty && mentions.isEmpty) else {
        throw .impossible(offset: place)
      }
      return Change(operation, entity, content: content, mentions: mentions, key: key)
    }
    guard byte == Change.requestByte else { throw .invalid(offset: place, byte: byte) }
    let method = try text()
    let path = try text()
    let contentType = try optional { (reader) throws(CodecError) in try reader.text() }
    let body = try byteString()
    guard
      let request = Change.Request(
        method, path, contentType: contentType, body: body, key: key)
    else { throw .impossible(offset: place) }
    return .request(request)
  }

  fileprivate mutating func changeQueue() throws(CodecError) -> ChangeQueue {
    var queue = ChangeQueue()
    let start = offset
    queue.pending = try list { (reader) throws(CodecError) in
      var item = PendingChange(
        user: try reader.identifier(), change: try reader.change(), since: try reader.timestamp())
      item.sent = try reader.optional { (reader) throws(CodecError) in try reader.sent() }
      item.sentAt = try reader.timestamp()
      item.sends = try reader.integer()
      item.attempts = try reader.integer()
      item.postponed = try reader.optional { (reader) throws(CodecError) in
        try reader.postponed()
      }
      item.postponedAt = try reader.timestamp()
      return item
    }
    let isPossible =
      Set(queue.pending.map(\.change.key)).count == queue.pending.count
      && queue.pending.dropFirst().allSatisfy { $0.sent == nil }
      && queue.pending.allSatisfy { ($0.sent == nil) == ($0.sends == 0) }
    guard isPossible else { throw .impossible(offset: start) }
    queue.failures = try list { (reader) throws(CodecError) in
      DeadLetter(
        user: try reader.identifier(), change: try reader.change(), cause: try reader.code(),
        reason: try reader.text(), time: try reader.timestamp())
    }
    let scopes = try list { (reader) throws(CodecError) in
      (try reader.text(), try reader.timestamp())
    }
    for (scope, changedAt) in scopes { queue.scopes[scope] = changedAt }
    return queue
  }
}
