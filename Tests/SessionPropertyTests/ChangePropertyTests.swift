@_spi(Internals) import SessionChangeQueue
@_spi(Internals) import SessionCore
import SessionTestKit
import Testing

/// A server that accepts changes: entities with their content and references.
private struct Store: Equatable {
  struct Entity: Equatable {
    var content: [UInt8]
    var mentions: Set<EntityReference>
  }

  var entities: [EntityReference: Entity] = [:]
  /// The bodies of requests, in the order of arrival.
  var requests: [[UInt8]] = []

  /// Whether a server that checks references accepts it.
  func takes(_ change: Change) -> Bool {
    guard change.mentions.allSatisfy({ entities[$0] != nil }) else { return false }
    switch change {
    case .request: return true
    case .create(let edit): return entities[edit.entity] == nil
    case .update(let edit): return entities[edit.entity] != nil
    case .delete(let deletion):
      return entities[deletion.entity] != nil
        && !entities.contains {
          $0.key != deletion.entity && $0.value.mentions.contains(deletion.entity)
        }
    }
  }

  mutating func apply(_ change: Change) {
    let entity = Entity(content: change.content, mentions: Set(change.mentions))
    switch change {
    case .request(let request): requests.append(request.body)
    case .create(let edit): entities[edit.entity] = entity
    case .update(let edit): if entities[edit.entity] != nil { entities[edit.entity] = entity }
    case .delete(let deletion): entities[deletion.entity] = nil
    }
  }
}

private struct Draws {
  static let all = (1...4).map { EntityReference("task", Identifier("e\($0)")) }
  let choices: Choices
  var count = 0

  mutating func change(mentioning: Bool) -> Change? {
    count += 1
    let key = Identifier(uuidHigh: 7, low: UInt64(count))
    let content = [UInt8(truncatingIfNeeded: count)]
    guard !choices.chance(1, in: 12) else {
      return Change.Request("POST", "/r", body: content, key: key).map { .request($0) }
    }
    let operation = choices.pick(Change.Operation.allCases) ?? .create
    let entity = choices.pick(Self.all) ?? Self.all[0]
    let others = Self.all.filter { mentioning && $0 != entity && choices.chance(1, in: 4) }
    return Change(operation, entity, content: content, mentions: others, key: key)
  }
}

extension ChangeQueue {
  fileprivate mutating func add(_ change: Change) throws {
    let load = load(with: change)
    defer { #expect(load == (pending.count, pendingBytes)) }
    try apply(.added(.init(user: "u-1", change: change)), at: .plainStart)
  }

  /// The first is sent; its outcome is decided later.
  fileprivate mutating func send() throws -> Change? {
    guard let change = pending.first?.change else { return nil }
    try apply(
      .sent(.init(key: change.key, sender: "s", process: 1, deadline: .plainStart)),
      at: .plainStart)
    return change
  }
}

@Suite("Properties of changes")
struct ChangePropertyTests {
  @Test(
    "SYN-2 replaying coalesced changes results in the same entities as replaying all"
  )
  func anyOrder() {
    expect(
      Property(
        "SYN-2 the coalesced changes come to the same",
        cases: Sweep("the coalesced changes come to the same", takingOneOf: 6).cases(of: 3_000),
        requiredLabels: ["fewer", "as many"], regressions: RegressionFolder()
      ).check { choices in
        var draws = Draws(choices: choices)
        var changes: [Change] = []
        while changes.count < 14, choices.chance(9, in: 10) {
          if let change = choices.span({ draws.change(mentioning: choices.chance(1, in: 3)) }) {
            changes.append(change)
          }
        }
        var (whole, queue) = (Store(), ChangeQueue())
        // An entity whose first change is a create does not exist yet; any other may.
        for entity in Draws.all {
          let first = changes.first { $0.entity == entity }
          if first?.operation == .create { continue }
          if choices.chance(2, in: 3) { whole.entities[entity] = .init(content: [0], mentions: []) }
        }
        var coalesced = whole
        for change in changes {
          choices.step("\(change) mentioning \(change.mentions)", state: "\(queue.pending.count)")
          whole.apply(change)
          try queue.add(change)
        }
        for item in queue.pending { coalesced.apply(item.change) }
        choices.label(queue.pending.count < changes.count ? "fewer" : "as many")
        let isSame = whole == coalesced
        try choices.require(
          isSame, "\(whole)\nis not\n\(coalesced)\nleft: \(queue.pending.map(\.change))")
      })
  }

  @Test(
    """
    SYN-2 where a server that watches over mentions takes every change, it takes every coalesced one, \
    whatever is sent between, and has the same in the end
    """)
  func order() {
    expect(
      Property(
        "SYN-2 an order that matters is kept",
        cases: Sweep("an order that matters is kept", takingOneOf: 6).cases(of: 6_000),
        requiredLabels: ["fewer", "as many", "sent twice", "lost on its way"],
        regressions: RegressionFolder()
      ).check { choices in
        var draws = Draws(choices: choices)
        var (whole, server, queue) = (Store(), Store(), ChangeQueue())
        for entity in Draws.all where choices.chance(1, in: 2) {
          let mentions = Draws.all.filter { whole.entities[$0] != nil && choices.chance(1, in: 3) }
          whole.entities[entity] = .init(content: [0], mentions: Set(mentions))
        }
        server = whole
        var taken: Set<Identifier> = []
        var (count, arrivals) = (0, 0)
        func send(isAnswered: Bool, arrives: Bool) throws {
          let before = queue.pending.first?.sends ?? 0
          guard let change = try queue.send() else { return }
          if before > 0 { choices.label("sent twice") }
          if arrives, taken.insert(change.key).inserted {
            arrivals += 1
            try choices.require(server.takes(change), "the server refuses \(change), has \(server)")
            server.apply(change)
          }
          if isAnswered {
            try queue.apply(.acknowledged(change.key), at: .plainStart)
          } else if !arrives {
            choices.label("lost on its way")
          }
        }
        for _ in 0..<24 where choices.chance(19, in: 20) {
          try choices.span {
            guard let change = draws.change(mentioning: true), whole.takes(change) else { return }
            choices.step(
              "\(change) mentioning \(change.mentions)",
              state: "\(queue.pending.map { "\($0.change)" })")
            whole.apply(change)
            try queue.add(change)
            count += 1
          }
          guard choices.chance(1, in: 8) else { continue }
          let arrives = choices.chance(1, in: 2)
          try send(isAnswered: arrives && choices.chance(1, in: 2), arrives: arrives)
        }
        while !queue.pending.isEmpty { try send(isAnswered: true, arrives: true) }
        choices.label(arrivals < count ? "fewer" : "as many")
        let isSame = whole == server
        try choices.require(isSame, "\(whole)\nis not\n\(server)")
      })
  }

  @Test("JRN-4 JRN-5 a queue decodes from its snapshot, and its records from their payloads")
  func codec() {
    expect(
      Property(
        "JRN-5 change records read back", cases: 600, regressions: RegressionFolder()
      ).check { choices in
        var queue = ChangeQueue()
        var draws = Draws(choices: choices)
        for number in 1...20 where choices.chance(9, in: 10) {
          let event = Self.event(&draws, queue, choices)
          let time = Timestamp(milliseconds: Int64(number))
          let (kind, payload) = ChangeCodec.encode(event, at: time)
          let record = try ChangeCodec.decode(sequence: 1, kind: kind, payload: payload)
          try choices.require(
            record == ChangeRecord(sequence: 1, time: time, content: .event(event)),
            "\(event) came back as \(String(describing: record))")
          do { try queue.apply(event, at: time) } catch { choices.label("rejected") }
        }
        let bytes = ChangeCodec.encode(queue, at: .plainStart)
        let snapshot = try ChangeCodec.decode(
          sequence: 9, kind: SessionRecord.snapshotKind, payload: bytes)
        try choices.require(snapshot?.content == .snapshot(queue), "the queue came back otherwise")
        var isRefused = false
        do {
          var session = SessionFold()
          let record = try SessionCodec.decode(
            sequence: 9, kind: SessionRecord.snapshotKind, payload: bytes)
          try choices.require(
            SessionCodec.encode(record.content, at: record.time).payload == bytes,
            "a session's reader did not keep it")
          do throws(SessionFold.Failure) { try session.apply(record) } catch { isRefused = true }
        }
        try choices.require(isRefused, "a session's reader took it")
        // A cut or changed snapshot decodes or is an error.
        var damaged = bytes
        let place = choices.draw(in: 0...bytes.count - 1)
        if choices.chance(1, in: 2) {
          damaged.removeSubrange(place...)
        } else {
          damaged[place] ^= UInt8(choices.draw(in: 1...255))
        }
        do throws(CodecError) {
          let found = try ChangeCodec.decode(
            sequence: 9, kind: SessionRecord.snapshotKind, payload: damaged)
          choices.label(found == nil ? "unknown" : "decoded")
        } catch {
          choices.label("an error")
        }
      })
  }

  private static func event(
    _ draws: inout Draws, _ queue: ChangeQueue, _ choices: Choices
  ) -> ChangeEvent {
    let key = queue.pending.first?.change.key ?? "none"
    let later = Timestamp(milliseconds: Int64(choices.draw(below: 9_000)))
    switch choices.draw(below: 12) {
    case 0, 1:
      return .sent(.init(key: key, sender: "log-1", process: 7, deadline: later))
    case 2: return .acknowledged(key)
    case 3:
      return .postponed(
        .init(
          key: key, isCounted: choices.chance(1, in: 2), retryAt: later,
          reason: choices.pick(["", "503", String(repeating: "é", count: 600)]) ?? ""))
    case 4, 5:
      return .givenUp(
        .init(key: key, cause: choices.pick(DeadLetterCause.known) ?? .refused, reason: "422"))
    case 6:
      return .discarded(
        .init(key: choices.chance(1, in: 3) ? nil : key, cause: .app))
    case 7:
      return .scopeChecked(
        .init(scope: choices.pick(["", "a", "b"]) ?? "", statusChangedAt: later))
    default:
      guard let change = draws.change(mentioning: true) else { return .acknowledged("none") }
      return .added(.init(user: choices.pick(["u-1", "u-2"]) ?? "u-1", change: change))
    }
  }
}
