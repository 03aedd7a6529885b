@_spi(Internals) import SessionCore

/// The words of an event's or a note's fields, in the order of the fields.
///
/// A value that a scenario cannot know has no word: a sequence, an opening, a boot, a journal.
struct ScenarioFields: FieldVisitor {
  /// The time of the record, from which durations are counted; `nil` if times have no words.
  private let start: Timestamp?
  private(set) var words: [(name: String, value: String)] = []

  init(from start: Timestamp? = nil) { self.start = start }

  /// The words of an event that was recorded at this time.
  init(_ event: SessionEvent, at time: Timestamp) {
    self.init(from: time)
    event.visit(&self)
  }

  /// The words of a note.
  init(_ note: SessionNote) {
    self.init()
    note.visit(&self)
  }

  private mutating func add(_ name: String, _ value: String?) {
    words.append((name, value ?? "none"))
  }

  mutating func visit(_ name: FieldName, code: some OpenEnum) { add(name.member, code.word) }
  mutating func visit(_ name: FieldName, reason: some OpenEnum) { add(name.member, reason.word) }
  mutating func visit(_ name: FieldName, meaning: ErrorMeaning?) { add(name.member, meaning?.word) }

  mutating func visit(_ name: FieldName, number: some FixedWidthInteger) {
    // A status of 0 is none.
    add(name.member, name.member == "status" && number == 0 ? nil : "\(number)")
  }

  mutating func visit(_ name: FieldName, sequence: UInt64) {}

  /// Adds `rotated` for `isRotated`.
  mutating func visit(_ name: FieldName, flag: Bool) {
    add(name.member.dropFirst("is".count).lowercased(), ScenarioWords.yes(flag))
  }

  /// Adds `retry` for `retryAt`, as a duration.
  mutating func visit(_ name: FieldName, time: Timestamp?) {
    guard let start else { return }
    add(
      String(name.member.dropLast("At".count)),
      time.map { ScenarioWords.duration($0.milliseconds(since: start)) })
  }

  mutating func visit(_ name: FieldName, generation: Generation) {
    add("token", "\(generation.number)")
  }

  mutating func visit(_ name: FieldName, _ kind: IdentifierKind, identifier: Identifier?) {
    switch kind {
    case .user: add(name.member, identifier?.description)
    case .boot, .journal: break
    }
  }

  mutating func visit(_ name: FieldName, version: AppVersion?) {
    add(name.member, version?.description)
  }

  mutating func visit(_ name: FieldName, token: TokenMetadata?) {
    add("token", token.map { "\($0.generation.number)" })
    add("refreshable", token.map { ScenarioWords.yes($0.isRefreshable) })
    add("life", token.map { ScenarioWords.duration($0.lifetimeMilliseconds) })
  }

  mutating func visit(_ name: FieldName, context: ActiveContext?) {
    add("role", context.map { "\($0.role.id)" })
    add("school", context?.school.map { "\($0.id)" })
  }

  mutating func visit(_ name: FieldName, failure: RequestFailure) {
    add("kind", failure.kind.word)
    add("status", failure.status == 0 ? nil : "\(failure.status)")
    add("code", failure.serverCode)
  }

  mutating func visit(_ name: FieldName, identity: ProcessIdentity?) {}
}
