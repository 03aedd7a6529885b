@_spi(Internals) public import SessionCore

/// The records of a journal, in order, that a generator drew.
///
/// - Requirement: TST-1
public struct History: Hashable, Sendable, CustomStringConvertible {
  /// The records; their sequences are 1, 2, 3 and so on.
  package let records: [SessionRecord]

  /// Creates a history of these contents, with times one second apart.
  package init(_ contents: [SessionRecord.Content]) {
    records = zip(UInt64(1)..., contents).map { sequence, content in
      SessionRecord(
        sequence: sequence, time: Timestamp.plainStart.advanced(by: Int64(sequence) * 1_000),
        content: content)
    }
  }

  init(records: [SessionRecord]) {
    self.records = records
  }

  /// The events among the records.
  public var events: [SessionEvent] { records.compactMap(\.event) }

  /// The history with one line per record.
  public var description: String {
    records.isEmpty ? "(nothing)" : records.map(\.line).joined(separator: "\n")
  }

  /// Returns a generator of histories in which every event is legal.
  ///
  /// A history has up to `length` records, with notes and skippable entries of newer versions among
  /// them. Generations grow, mostly by one. Requests mostly begin before they end.
  public static func legal(upTo length: Int = 30) -> Generator<History> {
    Generator { choices in
      var story = Story()
      choices.repeating(upTo: length, mean: UInt64(max(1, length / 2))) {
        story.add(choices.legalContent(story))
      }
      return History(records: story.records)
    }
  }

  /// Returns a generator of histories of any records: legal, almost legal, or far from it.
  public static func any(upTo length: Int = 30) -> Generator<History> {
    Generator { choices in
      var story = Story()
      choices.repeating(upTo: length, mean: UInt64(max(1, length / 2))) {
        switch choices.draw(below: 4) {
        case 0: story.add(choices.legalContent(story))
        case 1, 2: story.add(.event(choices.nearEvent(story.model)))
        default: story.add(choices.content())
        }
        if choices.chance(1, in: 4) { story.time = choices.timestamp() }
      }
      return History(records: story.records)
    }
  }
}

/// A history while it is generated.
private struct Story {
  var records: [SessionRecord] = []
  var model = SessionModel()
  var request: UInt64 = 0
  var time = Timestamp.plainStart

  mutating func add(_ content: SessionRecord.Content) {
    let sequence = UInt64(records.count + 1)
    time = time.advanced(by: 1_000)
    records.append(SessionRecord(sequence: sequence, time: time, content: content))
    if case .event(let event) = content { model.take(event) }
    if case .note(.requestSent) = content { request = sequence }
  }
}

extension Choices {
  fileprivate func legalContent(_ story: Story) -> SessionRecord.Content {
    switch draw(below: 8) {
    case 0...5: .event(legalEvent(story.model, request: story.request))
    case 6: .note(nearNote(story))
    default: chance(1, in: 2) ? .unknown(unknown(isIgnorable: true)) : .note(note())
    }
  }

  /// Draws an event that is legal now.
  package func legalEvent(_ model: SessionModel, request: UInt64) -> SessionEvent {
    span {
      let kinds: [SessionEvent.Kind] =
        switch model.state {
        case .unauthenticated: [.login]
        case .authenticated:
          [.refreshSucceeded, .refreshFailed, .contextSwitched, .sessionExpired, .logout]
        case .expired: [.login, .logout]
        }
      let user = model.state == .expired ? model.user : nil
      return event(
        pick(kinds) ?? .login, user: user, token: nextToken(model),
        failing: Generation(model.token), request: chance(1, in: 4) ? number() : request)
    }
  }

  /// Draws an event whose user and token are near those of the session, so that it is legal or
  /// almost legal.
  package func nearEvent(_ model: SessionModel) -> SessionEvent {
    span {
      // The sum wraps if `any` reached the greatest number: this event need not be legal.
      let near = model.newest - min(model.newest, draw(below: 3)) &+ draw(below: 3)
      return event(
        pick(SessionEvent.Kind.allCases) ?? .login, user: chance(1, in: 2) ? model.user : nil,
        token: Generation(near), failing: Generation(near), request: draw(below: 8))
    }
  }

  /// Draws the generation of a new token: the next one, or a greater one.
  private func nextToken(_ model: SessionModel) -> Generation {
    Generation(model.newest &+ 1 &+ (chance(1, in: 8) ? draw(below: 1 << 20) : 0))
  }

  private func event(
    _ kind: SessionEvent.Kind, user: Identifier?, token generation: Generation,
    failing: Generation, request: UInt64
  ) -> SessionEvent {
    switch kind {
    case .login:
      .login(
        SessionEvent.Login(
          user: user ?? identifier(), method: code(), token: token(generation),
          context: chance(1, in: 2) ? context() : nil))
    case .refreshSucceeded:
      .refreshSucceeded(
        SessionEvent.RefreshSucceeded(
          token: token(generation), trigger: code(), attempt: number(), isRotated: chance(1, in: 2),
          request: request))
    case .refreshFailed:
      .refreshFailed(
        SessionEvent.RefreshFailed(
          generation: failing, trigger: code(), attempt: number(), failure: failure(),
          retryAt: chance(1, in: 2) ? timestamp() : nil, request: request))
    case .contextSwitched:
      .contextSwitched(
        SessionEvent.ContextSwitched(
          context: context(), token: chance(1, in: 2) ? token(generation) : nil, trigger: code(),
          request: request))
    case .sessionExpired, .logout:
      event(kind)
    }
  }

  /// Draws a note that begins or ends an intent of the session.
  private func nearNote(_ story: Story) -> SessionNote {
    let generation = Generation(story.model.newest)
    return switch draw(below: 4) {
    case 0:
      .requestSent(
        SessionNote.RequestSent(
          kind: code(), generation: generation, trigger: code(), attempt: 1, process: number(),
          deadline: story.time.advanced(by: Int64(draw(below: 60_000)))))
    case 1: .requestEnded(SessionNote.RequestEnded(request: story.request, failure: failure()))
    case 2: .revocationPending(generation)
    default:
      .revocationSettled(
        SessionNote.RevocationSettled(generation: generation, outcome: code(), status: 200))
    }
  }
}

extension Generator where Value == Identifier {
  /// Identifiers as servers choose them.
  ///
  /// There are short names, UUIDs, texts that are nearly UUIDs, empty ones, and spellings that look
  /// alike.
  ///
  /// - Requirement: TST-1
  public static var identifier: Generator { Generator { $0.identifier() } }
}

extension Generator where Value == String {
  /// Display names: plain, empty, 400 characters long, in any script, with control characters.
  public static var name: Generator { Generator { $0.text() } }
}

extension Generator where Value == Timestamp {
  /// Times near the plain start, in this century, before 1970, and at the bounds of `Int64`.
  public static var timestamp: Generator { Generator { $0.timestamp() } }
}

extension Generator where Value == ActiveContext {
  /// Contexts with 0 to 300 permissions, with and without school and unit.
  public static var context: Generator { Generator { $0.context() } }
}

extension Generator where Value == TokenMetadata {
  /// Metadata of tokens; some expire before they are issued.
  public static var token: Generator { Generator { $0.token() } }
}

extension Generator where Value == RequestFailure {
  /// Failures of requests, of known and unknown kinds.
  public static var failure: Generator { Generator { $0.failure() } }
}

extension Generator where Value == SessionEvent {
  /// Events of any of the six kinds, legal or not.
  ///
  /// - Requirement: TST-1
  public static var event: Generator { Generator { $0.event() } }

  /// Returns a generator of events of this kind with any payload.
  public static func event(_ kind: SessionEvent.Kind) -> Generator { Generator { $0.event(kind) } }
}

extension Generator where Value == SessionNote {
  /// Notes of any kind.
  package static var note: Generator { Generator { $0.note() } }

  /// Returns a generator of notes of this kind with any payload.
  package static func note(_ kind: SessionNote.Kind) -> Generator { Generator { $0.note(kind) } }
}

extension Generator where Value == SessionRecord.Content {
  /// Contents of records: an event, a note, or an entry of a newer version.
  ///
  /// - Requirement: JRN-3
  package static var content: Generator { Generator { $0.content() } }
}

extension Generator where Value == SessionRecord {
  /// Records with any sequence and time.
  package static var record: Generator {
    Generator {
      SessionRecord(sequence: $0.number(), time: $0.timestamp(), content: $0.content())
    }
  }
}
