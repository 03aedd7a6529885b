@_spi(Internals) internal import SessionCore

/// The records that became durable together: one recorded decision.
struct RecordedBatch: Hashable, Sendable {
  let records: [SessionRecord]
  /// The sequence of the first record.
  let first: UInt64
  /// When the batch was decided, on the writer's civil clock.
  let time: Timestamp

  /// Creates a batch; `nil` without a record.
  init?(_ records: [SessionRecord]) {
    guard let first = records.first else { return nil }
    self.records = records
    (self.first, time) = (first.sequence, first.time)
  }

  var contents: [SessionRecord.Content] { records.map(\.content) }

  /// The opening that the batch notes; `nil` if it notes none.
  var opened: SessionNote.Opened? {
    for case .note(.opened(let opened)) in contents { return opened }
    return nil
  }

  /// The batch without the note of an opening that found nothing else to note; `nil` if nothing is left.
  ///
  /// That note goes with the first batch of the opening, of any purpose. Earlier versions wrote it
  /// alone. In both cases no decision of the session depends on it.
  var decided: RecordedBatch? {
    guard isOpenedPlainly else { return self }
    return RecordedBatch(Array(records.dropFirst()))
  }

  /// Whether the batch begins with the note of an opening that found nothing else to note.
  var isOpenedPlainly: Bool {
    guard case .note(.opened)? = contents.first else { return false }
    return contents.count == 1 || !contents[1].isOfOpening
  }

  /// The request that the batch is about to send; `nil` if it sends none.
  var sent: SessionNote.RequestSent? {
    for case .note(.requestSent(let sent)) in contents { return sent }
    return nil
  }

  /// The request whose end the batch records; `nil` for none.
  var answered: UInt64? {
    for content in contents {
      let request: UInt64 =
        switch content {
        case .event(.refreshSucceeded(let refresh)): refresh.request
        case .event(.refreshFailed(let refresh)): refresh.request
        case .event(.contextSwitched(let change)): change.request
        case .note(.requestEnded(let ended)): ended.request
        case .note(.answerUnused(let request)): request
        case .note(.answerDropped(let dropped)): dropped.request
        default: 0
        }
      if request != 0 { return request }
    }
    return nil
  }

  /// Whether these contents are the same decision, with any random delay.
  func isSame(as contents: [SessionRecord.Content]) -> Bool {
    self.contents.map(\.withoutDelay) == contents.map(\.withoutDelay)
  }

  /// Whether the batch closes its opening.
  var isClosing: Bool { contents.contains(.note(.closed)) }

  /// The reports of the secret store that the batch notes.
  var storageReports: [StorageReport] {
    contents.compactMap { content in
      switch content {
      case .note(.storageFailed(let failed)) where !failed.isFinding:
        StorageReport(
          item: failed.item, operation: failed.operation,
          failure: StorageReport.Failure(failed.cause, number: failed.number))
      case .note(.storageRecovered(let recovered)) where recovered.operation != .find:
        StorageReport(item: recovered.item, operation: recovered.operation)
      default: nil
      }
    }
  }

  /// What the batch decides, without notes that go with any batch.
  var essentials: [SessionRecord.Content] {
    let settled = contents.filter { !$0.isCompanion }
    let rest = settled.filter { !$0.isAbandonedRevocation }
    return rest.isEmpty ? settled : rest
  }
}

extension SessionRecord.Content {
  /// Whether an opening notes this itself, before journal and items agree.
  var isOfOpening: Bool {
    switch self {
    case .note(.opened), .note(.tailCut): true
    case .note(.continued(let link)): link.cause != .lost
    default: false
    }
  }

  /// Whether this note goes with a batch that is decided for another reason.
  fileprivate var isCompanion: Bool {
    switch self {
    case .note(.storageFailed), .note(.storageRecovered), .note(.clockSkew),
      .note(.deviceClockUsed), .note(.refreshTokenLife), .note(.tokensBound),
      .note(.revocationPending):
      true
    default: false
    }
  }

  fileprivate var isAbandonedRevocation: Bool {
    if case .note(.revocationSettled(let settled)) = self {
      settled.outcome == .abandoned
    } else {
      false
    }
  }

  /// The same content without what a random delay decided.
  var withoutDelay: SessionRecord.Content {
    guard case .event(.refreshFailed(let failed)) = self else { return self }
    return .event(
      .refreshFailed(
        SessionEvent.RefreshFailed(
          generation: failed.generation, trigger: failed.trigger, attempt: failed.attempt,
          failure: failed.failure, retryAt: nil, request: failed.request,
          configuredMeaning: failed.configuredMeaning)))
  }
}

extension SessionNote.StorageFailed {
  /// Whether the session's search for its items found this, rather than an operation of the store.
  var isFinding: Bool { operation == .find }
}

extension [SessionRecord.Content] {
  /// When another attempt is made; `nil` if the records say nothing about it.
  var retryAt: Timestamp? {
    for case .event(.refreshFailed(let failed)) in self { return failed.retryAt }
    return nil
  }

  /// The failure of a refresh in these records; `nil` for none.
  var failedRefresh: SessionEvent.RefreshFailed? {
    for case .event(.refreshFailed(let failed)) in self { return failed }
    return nil
  }

  /// Why the session expires by these records; `nil` if it does not.
  var expiry: ExpiryReason? {
    for case .event(.sessionExpired(let expired)) in self { return expired.reason }
    return nil
  }

  /// Why the user is logged out by these records; `nil` if that does not happen.
  var logout: LogoutReason? {
    for case .event(.logout(let logout)) in self { return logout.reason }
    return nil
  }

  /// Whether these records end a session.
  var endsSession: Bool { expiry != nil || logout != nil }
}
