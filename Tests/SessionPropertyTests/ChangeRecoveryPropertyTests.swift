@_spi(Internals) import SessionChangeQueue
@_spi(Internals) import SessionCore
import SessionTestKit
import Testing

@Suite("Properties of recovering a damaged change log")
struct ChangeRecoveryPropertyTests {
  private static let time = Timestamp.plainStart

  /// Records that a log may hold: each is legal after those before it.
  private static func history(_ choices: Choices) throws -> [ChangeRecord] {
    var (queue, records, keys) = (ChangeQueue(), [ChangeRecord](), UInt64(0))
    func append(_ event: ChangeEvent) throws {
      let record = ChangeRecord(
        sequence: UInt64(records.count + 1), time: time, content: .event(event))
      try queue.apply(record)
      records.append(record)
    }
    for _ in 0..<30 where choices.chance(19, in: 20) {
      try choices.span {
        let first = queue.pending.first
        switch choices.draw(in: 0...6) {
        case 0, 1, 2:
          keys += 1
          let key = Identifier(uuidHigh: 7, low: keys)
          let operation = choices.pick(Change.Operation.allCases) ?? .create
          let entity = EntityReference("task", Identifier("e\(choices.draw(in: 0...2))"))
          let change = Change(operation, entity, content: [UInt8(keys)], key: key)
          try append(.added(.init(user: "u-1", change: change)))
        case 3:
          guard let first else { return }
          try append(
            .sent(.init(key: first.change.key, sender: "s", process: 1, deadline: time)))
        case 4:
          guard let first, first.sent != nil else { return }
          try append(.acknowledged(first.change.key))
        case 5:
          guard let first, first.sent != nil else { return }
          try append(.givenUp(.init(key: first.change.key, cause: .refused, reason: "no")))
        default:
          if let letter = queue.failures.first, choices.chance(1, in: 2) {
            try append(.retried(letter.change.key))
          } else {
            let journal = Identifier("j")
            let signIn = SignIn(journal: journal, generation: Generation(keys + 1))
            try append(.addedBy(signIn))
          }
        }
      }
    }
    return records
  }

  private static func keys(_ queue: ChangeQueue) -> Set<Identifier> {
    Set(queue.pending.map(\.change.key) + queue.failures.map(\.change.key))
  }

  @Test("SYN-6 a gap loses no readable change and restores none that ended after it")
  func gap() {
    expect(
      Property(
        "SYN-6 recovery across a gap",
        cases: Sweep("recovery across a gap", takingOneOf: 3).cases(of: 4_000),
        requiredLabels: ["gap", "whole"],
        regressions: RegressionFolder()
      ).check { choices in
        let records = try Self.history(choices)
        let start = choices.draw(in: 0...records.count)
        let end = choices.draw(in: start...records.count)
        choices.label(start < end ? "gap" : "whole")
        var (whole, found) = (ChangeQueue(), ChangeRecovery())
        for record in records { try whole.apply(record) }
        for record in records[..<start] { found.apply(record) }
        if start < end { found.skip() }
        for record in records[end...] { found.apply(record) }

        if start == end {
          let isSame = found.queue == whole
          try choices.require(isSame, "without a gap \(found.queue) is not \(whole)")
          return
        }
        let readable = records[..<start] + records[end...]
        let added = readable.compactMap { record in
          if case .event(.added(let added)) = record.content { added.change.key } else { nil }
        }
        let lost = Self.keys(whole).intersection(added).subtracting(Self.keys(found.queue))
        try choices.require(lost.isEmpty, "lost are \(lost)")
        let pending = Set(found.queue.pending.map(\.change.key))
        for record in records[end...] {
          guard case .event(.acknowledged(let key)) = record.content else { continue }
          try choices.require(!pending.contains(key), "\(key) was acknowledged and is sent again")
        }
      })
  }

  @Test("SYN-6 the batch for a new log holds the recovered changes in an order that may be sent")
  func batch() {
    expect(
      Property(
        "SYN-6 recovered changes in a new log",
        cases: Sweep("recovered changes in a new log", takingOneOf: 3).cases(of: 2_000),
        requiredLabels: ["pending", "dead letters"], regressions: RegressionFolder()
      ).check { choices in
        var found = ChangeRecovery()
        for record in try Self.history(choices) {
          if choices.chance(1, in: 10) { found.skip() } else { found.apply(record) }
        }
        found.skip()
        var new = ChangeQueue()
        for event in found.events(at: Self.time) { try new.apply(event, at: Self.time) }
        let old = found.queue
        if !old.pending.isEmpty { choices.label("pending") }
        if !old.failures.isEmpty { choices.label("dead letters") }
        try choices.require(
          new.pending.map(\.change) == old.pending.map(\.change), "pending: \(new.pending)")
        try choices.require(
          new.pending.map(\.signIn) == old.pending.map(\.signIn), "sign-ins: \(new.pending)")
        let letters = new.failures.map { "\($0.change) \($0.cause) \($0.reason)" }
        let oldLetters = old.failures.map { "\($0.change) \($0.cause) \($0.reason)" }
        try choices.require(letters.sorted() == oldLetters.sorted(), "dead letters: \(letters)")
        let (count, next) = (new.pending.count, new.coalescing(Self.update))
        try choices.require(
          next == .appended || count == 0, "a new change was put together with a recovered one")
      })
  }

  private static let update = Change.update(
    .init(EntityReference("task", "e0"), content: [1], key: "new"))
}
