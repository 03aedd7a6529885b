@_spi(Internals) public import SessionCore

/// A report about a session for support: its records without names, and why the session ended.
///
/// The report is text in lines of JSON, as `sessionreplay export` writes it. Every command of
/// `sessionreplay` that reads a journal reads a report too. The first line has the version of the
/// app, the kind of system and the version of this library. The line before the last one has the
/// explanation of ``Explanation/init(of:)``.
///
/// What could identify a person is replaced by a pseudonym: identifiers of users, openings, systems
/// and tokens, names of roles, schools and units, and permissions. Equal values have equal
/// pseudonyms. Times, numbers, statuses, the app's version and the error codes of RFC 6749 stay.
///
/// The report ends at the first place at which records are lost. The explanation takes in what can
/// be read after it. Creating a report sends nothing.
/// - Requirement: RPL-8, RPL-9
public struct SupportReport: Hashable, Sendable {
  /// The lines, with a line feed after each; UTF-8 in a file.
  public let text: String

  /// Creates a report about a history.
  ///
  /// - Parameters:
  ///   - history: what the journal holds.
  ///   - key: the key of the pseudonyms, at least 16 bytes of UTF-8. Reports with the same key have
  ///     the same pseudonyms, and a reader with the key can test guesses. `nil` takes the journal's
  ///     own, which only the journal's file tells.
  ///   - maximumBytes: the maximum size of the text. If the records take more, a snapshot replaces
  ///     the oldest ones. The first line, the snapshot, the explanation and the last line are always
  ///     there.
  ///
  /// Throws if the key is too short.
  public init(
    of history: SessionHistory, key: String? = nil, maximumBytes: Int = 1_048_576
  ) throws(KeyTooShort) {
    if let key, key.utf8.count < KeyTooShort.minimum { throw KeyTooShort(bytes: key.utf8.count) }
    let redaction = Redaction(
      pseudonyms: key.map { Pseudonyms(key: Array($0.utf8)) } ?? Pseudonyms(of: history.origin))
    text = ReportLines(history, redaction, maximumBytes).text
  }

  /// The error for a key that could be guessed.
  public struct KeyTooShort: Error, Hashable, CustomStringConvertible {
    /// The number of bytes that a key must have.
    public static let minimum = 16
    /// The number of bytes that the key has.
    public let bytes: Int

    /// What is wrong, the consequence and the next step, without the key.
    public var description: String {
      "The key of a support report has \(bytes) bytes and needs \(Self.minimum) or more: a person who "
        + "guesses it can test what a pseudonym means. No report was made. "
        + "Use a random key, or no key for the journal's own pseudonyms."
    }
  }
}

extension Pseudonyms {
  /// Creates the pseudonyms of the journal itself.
  package init(of origin: SessionHistory.Origin) {
    self.init(journal: origin.journal.uuid ?? (0, 0), salt: origin.salt)
  }
}

extension SessionHistory {
  /// Returns the history with pseudonyms in its records, and for its journal.
  package func redacted(by redaction: Redaction) -> SessionHistory {
    let parts = parts.map { part -> Part in
      guard case .record(let entry) = part else { return part }
      return .record(
        Entry(
          record: redaction.record(entry.record), remainingInBatch: entry.remainingInBatch,
          offset: entry.offset))
    }
    let named = Origin(
      journal: redaction.journal(origin.journal.description), salt: 0, format: origin.format,
      maximumRecordSize: origin.maximumRecordSize, firstSequence: origin.firstSequence,
      beginsWithSnapshot: origin.beginsWithSnapshot, lastSequence: origin.lastSequence)
    return SessionHistory(origin: named, parts: parts, ending: ending)
  }

  /// The app and the kind of system of the last opening that can be read.
  fileprivate var source: SessionDevice {
    for case .record(let entry) in parts.reversed() {
      guard case .note(.opened(let opened)) = entry.record.content else { continue }
      return SessionDevice(app: opened.app, platform: opened.platform)
    }
    return SessionDevice()
  }
}

/// The lines of a report, made of the newest records that fit.
private struct ReportLines {
  private let history: SessionHistory
  private let redaction: Redaction
  private let origin: ExportOrigin
  private let explanation: Explanation
  /// The batches whose lines fit, and the size of all their lines, in bytes.
  private var kept: ArraySlice<Batch> = []
  private var size = 0
  private var ending = ExportEnding.clean
  /// Whether the good part ends where the whole batches of the file end.
  private var isAtEnd = true

  /// A whole batch of good records, and the size of its lines in bytes.
  private struct Batch {
    let items: [ExportItem]
    let size: Int
    /// What comes before it: the fold, and the number and time of the last record.
    let before: Before
  }

  private struct Before {
    var fold = SessionFold()
    var sequence: UInt64 = 0
    var time = Timestamp(milliseconds: 0)
  }

  init(_ history: SessionHistory, _ redaction: Redaction, _ maximum: Int) {
    self.history = history
    self.redaction = redaction
    let source = history.origin
    origin = ExportOrigin(
      journal: source.journal.description, format: min(source.format, 1),
      maximumRecordSize: source.maximumRecordSize, firstSequence: source.firstSequence,
      beginsWithSnapshot: source.beginsWithSnapshot)
    explanation = Explanation(of: history.redacted(by: redaction)).redacted
    collect(atMost: maximum)
    // The lines around the records, and the snapshot, take room too.
    while let first = kept.first, kept.count > 1, size + lines(of: []).utf8.count > maximum {
      drop(first)
    }
    text = lines(of: kept)
    // The last line counts the records, so it may be longer by some digits.
    while let first = kept.first, kept.count > 1, text.utf8.count > maximum {
      drop(first)
      text = lines(of: kept)
    }
  }

  private(set) var text = ""

  private mutating func drop(_ batch: Batch) {
    size -= batch.size
    kept.removeFirst()
  }

  /// Collects the good batches, and drops the oldest ones while all together are too large.
  private mutating func collect(atMost maximum: Int) {
    var gate = BatchGate()
    var writer = ExportWriter(redaction: redaction, of: origin)
    var before = Before()
    func keep(_ items: [ExportItem], _ lines: inout ReportLines) {
      guard let last = items.last else { return }
      var size = 0
      writer.take(items) { line in
        size += line.utf8.count
        return true
      }
      lines.kept.append(Batch(items: items, size: size, before: before))
      lines.size += size
      while lines.size > maximum, lines.kept.count > 1, let first = lines.kept.first {
        lines.drop(first)
      }
      before = Before(
        fold: last.after, sequence: last.record.sequence, time: last.record.time)
    }
    for part in history.parts {
      guard case .record(let entry) = part else {
        (ending, isAtEnd) = (history.ending == .damaged ? .damaged : .undecodable, false)
        return
      }
      keep(gate.endBatch(before: entry.record.sequence), &self)
      do throws(SessionFold.Failure) {
        keep(
          try gate.take(
            ExportItem(
              record: entry.record, remainingInBatch: entry.remainingInBatch, payload: [])), &self)
      } catch {
        (ending, isAtEnd) = (ExportEnding(error), false)
        return
      }
    }
    keep(gate.endBatch(), &self)
    ending = ExportEnding(history.ending)
  }

  /// Returns the lines of a report with these of the batches that are kept.
  private func lines(of batches: ArraySlice<Batch>) -> String {
    var text = ""
    func append(_ line: String) -> Bool {
      text += line
      return true
    }
    var writer = ExportWriter(redaction: redaction, of: origin)
    let before = kept.first?.before ?? Before()
    let content = before.sequence == 0 ? nil : before.fold.snapshot
    let snapshot = content.map { content in
      ExportItem(
        record: SessionRecord(sequence: before.sequence, time: before.time, content: content),
        remainingInBatch: 0, payload: [])
    }
    writer.begin(
      snapshot, isPartial: before.sequence > 0 && snapshot == nil, about: history.source
    ) { append($0) }
    for batch in batches { writer.take(batch.items) { append($0) } }
    let isWhole = isAtEnd && batches.count == kept.count
    let last = isWhole ? history.origin.lastSequence : nil
    writer.end(ending, lastSequence: last, explanation: explanation) { append($0) }
    return text
  }
}

extension ExportEnding {
  fileprivate init(_ failure: SessionFold.Failure) {
    switch failure {
    case .illegal: self = .illegal
    case .unknownKind: self = .unknownKind
    case .contradiction: self = .undecodable
    }
  }

  fileprivate init(_ ending: SessionHistory.Ending) {
    switch ending {
    case .clean: self = .clean
    case .torn: self = .torn
    case .undetermined: self = .undetermined
    case .damaged: self = .damaged
    }
  }
}
