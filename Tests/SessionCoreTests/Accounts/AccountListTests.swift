@_spi(Internals) import SessionCore
import SessionTestKit
import Testing

@Suite("The list of accounts")
struct AccountListTests {
  private static let id = Identifier("6f1c1a52-9d5e-4a4e-8f0a-0c6f1d3b2a11")
  private static let other = Identifier("0b8e7c9a-41d3-4e0c-9a55-7f2f3f0e6d22")
  private static let end = SessionEnd(
    reason: .loggedOut(.user), time: Timestamp(milliseconds: 1_700_000_000_000))
  private static let events: [(name: String, event: AccountEvent)] = [
    ("added", .added(id)), ("switched", .switched(id)), ("removalBegan", .removalBegan(id)),
    ("ended", .ended(id, end: end)), ("removed", .removed(id)),
  ]
  /// The events that lead to each column of the table.
  private static let columns: [(name: String, past: Int?)] = [
    ("listed", 1), ("leaving", 3), ("ended", 4), ("unknown", nil),
  ]
  private let time = Timestamp(milliseconds: 1_700_000_000_000)

  /// A list that went through these many steps of a whole life.
  private func list(_ steps: Int) throws -> AccountList {
    var list = AccountList()
    for (_, event) in Self.events.prefix(steps) { try list.apply(event, at: time) }
    return list
  }

  private func column(_ list: AccountList) -> String {
    list[Self.id].map { "\($0.stage)" } ?? "unknown"
  }

  @Test("ACC-1 each event in each stage does what the specification's table says")
  func table() throws {
    let rows = try SpecFile("Specs/Accounts.md").table(under: "The fold")
    #expect(rows.map { $0["event"] } == Self.events.map(\.name))
    for (row, (name, event)) in zip(rows, Self.events) {
      for column in Self.columns {
        let cell = row[column.name]
        var list = try list(column.past ?? 0)
        let before = list
        do throws(AccountRejection) {
          try list.apply(event, at: time)
          #expect(self.column(list) == cell, "\(name) in \(column.name)")
        } catch {
          #expect(cell == "–" && list == before, "\(name) in \(column.name): \(error)")
        }
      }
    }
  }

  @Test("ACC-1 a list shows what can be used, and the removal of the current account leaves none")
  func shown() throws {
    var list = try list(2)
    try list.apply(.added(Self.other), at: time)
    #expect(list.all.map(\.id) == [Self.id, Self.other] && list.current?.lastUsed == time)
    try list.apply(.removalBegan(Self.id), at: time)
    #expect(list.all.map(\.id) == [Self.other] && list.leaving.map(\.id) == [Self.id])
    #expect(list.current == nil)
    try list.apply(.switched(Self.other), at: time)
    try list.apply(.switched(nil), at: time)
    #expect(list.current == nil && list[Self.other]?.lastUsed == time)
  }

  @Test("ACC-1 a command is refused, changes nothing, or becomes one event")
  func commands() throws {
    let (id, end) = (Self.id, Self.end)
    let commands: [(AccountCommand, [Result<[AccountEvent], AccountRefusal>])] = [
      (
        .select(id),
        [
          .success([.switched(id)]), .failure(.leaving(id)), .failure(.leaving(id)),
          .failure(.unknown(id)),
        ]
      ),
      (.select(nil), [.success([]), .success([]), .success([]), .success([])]),
      (
        .beginRemoval(id),
        [.success([.removalBegan(id)]), .success([]), .success([]), .failure(.unknown(id))]
      ),
      (
        .end(id, end), [.success([]), .success([.ended(id, end: end)]), .success([]), .success([])]
      ),
      (.finishRemoval(id), [.success([]), .success([]), .success([.removed(id)]), .success([])]),
    ]
    for (command, results) in commands {
      for (result, column) in zip(results, Self.columns) {
        let list = try list(column.past ?? 0)
        #expect(
          Result { () throws(AccountRefusal) in try list.decide(command) } == result,
          "\(command) in \(column.name)")
      }
    }
    let selected = try list(2)
    #expect(try selected.decide(.select(id)) == [])
    #expect(try selected.decide(.select(nil)) == [.switched(nil)])
    var full = AccountList()
    for number in 0..<AccountList.limit {
      try full.apply(.added(Identifier("\(number)")), at: time)
    }
    #expect(throws: AccountRefusal.full) { try full.decide(.add(id)) }
  }

  @Test("ACC-1 each record has the kind of the specification, and each cut of it is an error")
  func codec() throws {
    let kinds = try SpecFile("Specs/Accounts.md").table(under: "The records")
    let more: [AccountEvent] = [
      .switched(nil), .ended(Self.id, end: nil),
      .ended(Self.other, end: SessionEnd(reason: .expired(.refreshRejected), time: time)),
    ]
    for (number, event) in (Self.events.map(\.event) + more).enumerated() {
      let (kind, payload) = AccountCodec.encode(event, at: time)
      if number < kinds.count {
        #expect(kinds[number]["kind"] == "0x" + String(kind, radix: 16, uppercase: true))
        #expect(AccountCodec.names[number] == (kind, "account-" + (kinds[number]["name"] ?? "")))
      }
      try check(kind, payload, .event(event))
    }
    for steps in 0...4 {
      let list = try list(steps)
      try check(0x7F, AccountCodec.encode(list, at: time), .snapshot(list))
    }
    #expect(AccountCodec.names.count == kinds.count)
    let (kind, path) = AccountCodec.encode(.added(Identifier("../x")), at: time)
    #expect(throws: CodecError.impossible(offset: 9)) { try decoded(kind, path) }
    #expect(try decoded(0xBD, [UInt8](repeating: 1, count: 9)) == nil)
  }

  private func decoded(_ kind: UInt8, _ payload: [UInt8]) throws -> AccountRecord? {
    try AccountCodec.decode(kind: kind, payload: payload.span.bytes)
  }

  private func check(_ kind: UInt8, _ payload: [UInt8], _ content: AccountRecord.Content) throws {
    let isOwned = AccountCodec.owns(kind: kind, payload: payload.span.bytes)
    let record = try #require(try decoded(kind, payload))
    #expect(isOwned && record.time == time && record.content == content)
    for bytes in [Array(payload.dropLast()), payload + [0]] {
      #expect(throws: CodecError.self) { try decoded(kind, bytes) }
    }
    var newer = payload
    newer[8] += 1
    #expect(try decoded(kind, newer) == nil)
  }
}
