@_spi(Internals) import SessionChangeQueue
@_spi(Internals) import SessionCore
import Testing

@Suite("Specs/ChangeLog.md")
struct ChangeLogSpecTests {
  private let entity = EntityReference("task", "1")
  private let other = EntityReference("list", "2")

  private func change(
    _ operation: Change.Operation, _ key: Identifier, on entity: EntityReference? = nil,
    mentions: [EntityReference] = []
  ) -> Change {
    Change(
      operation, entity ?? self.entity, content: Array(key.description.utf8), mentions: mentions,
      key: key)
  }

  private func queue(_ changes: [Change]) throws -> ChangeQueue {
    var queue = ChangeQueue()
    for change in changes {
      try queue.apply(
        .added(.init(user: "u-1", change: change)), at: Timestamp(milliseconds: 0))
    }
    return queue
  }

  /// The rules of the page, for two changes with one of another entity between them.
  private func expected(_ text: String, _ between: Change) -> [Change]? {
    switch text {
    case "nothing": return [between]
    case "both": return nil
    case let text:
      guard let word = text.split(separator: ",").first,
        let operation = Change.Operation.allCases.first(where: { "\($0)" == word })
      else { return nil }
      let key: Identifier =
        text.contains("later's") ? "later" : "earlier"
      let left = change(operation, key)
      return text.hasSuffix("at the earlier's place") ? [left, between] : [between, left]
    }
  }

  @Test(
    "SYN-2 two changes of one entity are merged as the page says, except across a reference")
  func coalescing() throws {
    let rows = try SpecFile("Specs/ChangeLog.md").table(under: "Coalescing")
    var pairs: Set<[String]> = []
    for row in rows {
      let earlier = try #require(operation(row["earlier"]))
      let later = try #require(operation(row["later"]))
      pairs.insert(["\(earlier)", "\(later)"])
      let becomes = try #require(row["becomes"])
      let unless = try #require(row["unless between them"])
      let first = change(earlier, "earlier")
      let mentioned = change(.update, "between", on: other, mentions: [entity])
      for between in [
        change(.update, "between", on: other), change(.create, "between", on: other),
        change(.delete, "between", on: other), mentioned,
      ] {
        for mentions in [[], [other]] {
          let second = change(later, "later", mentions: mentions)
          var held = false
          switch unless {
          case "": break
          case "something is created or deleted that the later mentions":
            held = between.operation != .update && !mentions.isEmpty && later != .delete
          case "something mentions the entity": held = between == mentioned
          case "something is deleted": held = between.operation == .delete
          default: Issue.record("no such condition: \(unless)")
          }
          let both = [first, between, second]
          let left = try queue(both).pending.map(\.change)
          guard !held, let wanted = expected(becomes, between) else {
            #expect(left == both, "\(earlier), \(later) around \(between)")
            continue
          }
          #expect(
            left.map(\.key) == wanted.map(\.key)
              && left.map(\.description) == wanted.map(\.description),
            "\(earlier), \(later) around \(between): \(left)")
          #expect(left.map(\.content) == wanted.map(\.content))
        }
      }
    }
    #expect(pairs.count == 9 && rows.count == 9)
  }

  @Test("SYN-2 SYN-3 a change is not merged with one that was sent, nor across a request")
  func neverWithSent() throws {
    var queue = try queue([change(.create, "earlier")])
    let time = Timestamp(milliseconds: 5)
    try queue.apply(
      .sent(.init(key: "earlier", sender: "s", process: 1, deadline: time)), at: time)
    for _ in 0..<2 {
      #expect(queue.coalescing(change(.update, "later")) == .appended)
      #expect(queue.coalescing(change(.delete, "later")) == .appended)
      // Whatever the outcome was.
      try queue.apply(
        .postponed(.init(key: "earlier", isCounted: true, retryAt: time, reason: "503")), at: time)
    }
    let request = try #require(Change.Request("POST", "/tasks/1/done", key: "r"))
    let barred = try self.queue([
      change(.create, "earlier"), .request(request), change(.update, "later"),
    ])
    #expect(barred.pending.count == 3)
    #expect(barred.coalescing(.request(request)) == .appended)
    #expect(barred.coalescing(change(.update, "last")) == .rewritten(2))
  }

  @Test("SYN-2 after a waiting change of the same entity, a create and its delete leave a delete")
  func knownEntity() throws {
    let left = try queue([change(.update, "a"), change(.create, "b"), change(.delete, "c")])
    #expect(left.pending.map(\.change.description) == ["update task 1, 1 bytes", "delete task 1"])
    let anew = try queue([change(.delete, "a"), change(.create, "b"), change(.delete, "c")])
    #expect(anew.pending.map(\.change.key) == ["a"])
  }

  @Test("JRN-5 the page and the code have the same kinds and words")
  func kinds() throws {
    let page = try SpecFile("Specs/ChangeLog.md")
    let rows = page.table(under: "Kinds").map { "\($0["byte"] ?? "") \($0["name"] ?? "")" }
    #expect(
      rows
        == ChangeEvent.Kind.allCases.map {
          "0x" + String($0.rawValue, radix: 16, uppercase: true) + " \($0)"
        })
    #expect(ChangeEvent.Kind.allCases.allSatisfy { ChangeCodec.kinds.contains($0.rawValue) })
    let codes = [DeadLetterCause.words, DiscardCause.words].map { words in
      words.enumerated().map { "\($0) \($1)" }.joined(separator: ", ")
    }
    #expect(page.table(under: "Codes").map { $0["byte and word of each"] } == codes)
    #expect(SessionEvent.Kind.allCases.allSatisfy { !ChangeCodec.kinds.contains($0.rawValue) })
    #expect(SessionNote.Kind.allCases.allSatisfy { !ChangeCodec.kinds.contains($0.rawValue) })
  }

  @Test(
    "JRN-3 JRN-5 each kind has the bytes of the page, and a newer version is not decoded")
  func bytes() throws {
    let time = Timestamp(milliseconds: 1)
    let (kind, payload) = ChangeCodec.encode(
      .added(
        .init(
          user: "u",
          change: Change(
            .update, entity, content: [9], mentions: [other],
            key: Identifier(uuidHigh: 1, low: 2)))), at: time)
    let head: [UInt8] = [1, 0, 0, 0, 0, 0, 0, 0, 1, 2, 1, 0, 0, 0, 117, 1]
    let key: [UInt8] = [0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 2]
    let named: [UInt8] = [0, 0, 0, 0, 4, 0, 0, 0] + Array("task".utf8) + [2, 1, 0, 0, 0, 49]
    let mention: [UInt8] = [0, 0, 0, 0, 4, 0, 0, 0] + Array("list".utf8) + [2, 1, 0, 0, 0, 50]
    #expect(kind == 0xA0)
    let expected = head + key + [1] + named + [1, 0, 0, 0, 9] + [1, 0, 0, 0] + mention
    #expect(payload == expected)
    var newer = payload
    newer[8] = 2
    #expect(try ChangeCodec.decode(sequence: 1, kind: kind, payload: newer) == nil)
    #expect(try ChangeCodec.decode(sequence: 1, kind: 0xB7, payload: payload) == nil)
    #expect(throws: CodecError.trailingBytes(offset: payload.count, count: 1)) {
      try ChangeCodec.decode(sequence: 1, kind: kind, payload: payload + [0])
    }
    #expect(throws: CodecError.cutShort(offset: payload.count - 1)) {
      try ChangeCodec.decode(sequence: 1, kind: kind, payload: payload.dropLast())
    }
    let isOurs = ChangeCodec.owns(kind: 0xB7, payload: payload.span.bytes)
    let isTheirs = ChangeCodec.owns(kind: 0xB8, payload: payload.span.bytes)
    #expect(isOurs && !isTheirs)
    // An older reader of sessions skips it.
    let passed = try SessionCodec.decode(sequence: 1, kind: kind, payload: payload)
    guard case .unknown(let unknown) = passed.content else { throw Unexpected() }
    #expect(unknown.isIgnorable)
  }

  @Test("SYN-3 a request has a method and a path on this server, but no header")
  func requests() {
    for (method, path) in [
      ("", "/a"), ("GET ", "/a"), ("GET", ""), ("GET", "a"), ("GET", "//other.example/a"),
      ("GET", "/a b"), ("GET", "/a\r\nAuthorization: x"), ("GET", "/é"),
      ("GET", "/" + String(repeating: "a", count: 8_192)),
    ] {
      #expect(Change.Request(method, path, key: "k") == nil, "\(method) \(path)")
    }
    let longest = "/" + String(repeating: "a", count: 8_191)
    #expect(Change.Request("GET", longest, key: "k")?.path == longest)
    let request = Change.Request(
      "PATCH", "/tasks/1?note=private", body: Array("private".utf8), key: "k")
    let change = request.map { Change.request($0) }
    #expect(change.map { "\($0)" } == "PATCH /tasks/1, 7 bytes")
    var dumped = ""
    dump(change, to: &dumped)
    #expect(!dumped.contains("private"), "\(dumped)")
  }

  @Test("STO-3 no description of a change shows what the user wrote")
  func guarded() throws {
    let request = try #require(
      Change.Request("POST", "/n?q=private", body: Array("private".utf8), key: "k"))
    let edit = Change.Edit(entity, content: Array("private".utf8), key: "k")
    let waiting = try queue([.create(edit)])
    let parts: [Any] = [
      request, edit, Change.create(edit), Change.update(edit), Change.request(request), waiting,
    ]
    let bytes = "\(Array("private".utf8))"
    for part in parts {
      var dumped = ""
      dump(part, to: &dumped)
      for text in [dumped, "\(part)", String(reflecting: part)] {
        #expect(!text.contains("private") && !text.contains(bytes), "\(text)")
      }
    }
    #expect("\(Change.create(edit))" == "create task 1, 7 bytes")
    let pending = try #require(waiting.pending.first)
    #expect("\(pending)" == "create task 1, 7 bytes, waiting since \(pending.since), 0 attempts")
    for type in ["text/plain\r\nCookie: x", "téxt", String(repeating: "a", count: 1_025)] {
      #expect(Change.Request("POST", "/a", contentType: type, key: "k") == nil)
    }
  }

  @Test("SYN-2 entities are compared byte by byte, and the size of a change counts all its data")
  func names() {
    let (one, other) = (EntityReference("t\u{e9}", "1"), EntityReference("te\u{301}", "1"))
    #expect(one != other && Set([one, other]).count == 2)
    let long = Identifier(String(repeating: "k", count: 5_000))
    #expect(Change.delete(.init(one, key: long)).size > 5_000)
  }

  @Test("SYN-2 SYN-3 the next change is due, held by a living process, or another user's")
  func turns() throws {
    var queue = ChangeQueue()
    func at(_ time: Int64, _ event: ChangeEvent) throws {
      try queue.apply(event, at: Timestamp(milliseconds: time))
    }
    func turn(
      _ time: Int64, of user: Identifier = "u-1", by sender: Identifier = "me", gone: Bool = false
    ) -> NextSend {
      queue.turn(of: user, sender: sender, at: Timestamp(milliseconds: time)) { _ in gone }
    }
    #expect(turn(0) == .nothing)
    try at(0, .added(.init(user: "u-1", change: change(.create, "k"))))
    #expect(turn(0, of: "u-2") == .othersChanges(count: 1))
    let deadline = Timestamp(milliseconds: 100)
    try at(10, .sent(.init(key: "k", sender: "you", process: 8, deadline: deadline)))
    let again = try #require(queue.pending.first)
    #expect(turn(20) == .leasedElsewhere(until: deadline))
    #expect(turn(20, gone: true) == .send(again))
    #expect(turn(20, by: "you") == .send(again))
    #expect(turn(100) == .send(again), "its lease is over")
    #expect(turn(9) == .send(again), "the clock was set back")
    let retryAt = Timestamp(milliseconds: 500)
    try at(30, .postponed(.init(key: "k", isCounted: true, retryAt: retryAt, reason: "503")))
    #expect(turn(499) == .waits(until: retryAt))
    #expect(turn(29) == .send(try #require(queue.pending.first)), "the clock was set back")
    #expect(turn(500) == .send(try #require(queue.pending.first)))
    #expect(queue.pending.first?.attempts == 1)
  }

  @Test("SYN-2 a record that cannot follow is rejected and changes nothing")
  func rejections() throws {
    let start = try queue([change(.create, "a"), change(.create, "b", on: other)])
    let time = Timestamp(milliseconds: 0)
    let cases: [(ChangeEvent, ChangeRejection)] = [
      (.added(.init(user: "u-1", change: change(.update, "b"))), .keyTaken("b")),
      (.sent(.init(key: "b", sender: "s", process: 1, deadline: time)), .outOfOrder("b")),
      (.acknowledged("a"), .notSent("a")), (.acknowledged("c"), .unknownKey("c")),
      (.postponed(.init(key: "a", isCounted: true, retryAt: time, reason: "")), .notSent("a")),
      (.givenUp(.init(key: "a", cause: .refused, reason: "")), .notSent("a")),
      (.discarded(.init(key: "c", cause: .app)), .unknownKey("c")),
    ]
    for (event, rejection) in cases {
      var queue = start
      #expect(throws: rejection) { try queue.apply(event, at: time) }
      #expect(queue == start)
      #expect(!rejection.description.isEmpty)
    }
  }

  @Test(
    "SYN-3 a dead letter keeps its reason until it is dismissed, retried or discarded"
  )
  func failures() throws {
    var queue = ChangeQueue()
    let time = Timestamp(milliseconds: 3)
    for number in 1...300 {
      let key = Identifier("\(number)")
      try queue.apply(.added(.init(user: "u-1", change: change(.create, key))), at: time)
      try queue.apply(.sent(.init(key: key, sender: "s", process: 1, deadline: time)), at: time)
      try queue.apply(.givenUp(.init(key: key, cause: .refused, reason: "422 \(key)")), at: time)
    }
    #expect(queue.pending.isEmpty && queue.failures.count == 300 && queue.unsentCount == 300)
    #expect(queue.failures.first?.reason == "422 1")
    try queue.apply(.discarded(.init(key: "1", cause: .app)), at: time)
    #expect(queue.failures.first?.change.key == "2")
    // Retried changes come before unsent ones, in the order of retrying, and are not merged.
    try queue.apply(.added(.init(user: "u-1", change: change(.update, "new"))), at: time)
    try queue.apply(.retried("2"), at: time)
    try queue.apply(.retried("3"), at: time)
    #expect(queue.pending.map(\.change.key) == ["2", "3", "new"] && queue.failures.count == 297)
    try queue.apply(.discarded(.init(key: "new", cause: .app)), at: time)
    #expect(queue.coalescing(change(.update, "later")) == .appended)
    #expect(throws: ChangeRejection.keyTaken("2")) { try queue.apply(.retried("2"), at: time) }
    try queue.apply(.scopeChecked(.init(scope: "a", statusChangedAt: time)), at: time)
    try queue.apply(.discarded(.init(cause: .logout)), at: time)
    #expect(queue.failures.isEmpty && queue.scopes == ["a": time], "SYN-4")
  }

  @Test("SYN-3 the delay doubles up to an hour, and the server may ask for up to a day")
  func delays() {
    let policy = ChangePolicy(attempts: 0, firstDelay: .seconds(1))
    #expect(policy.attempts == 1)
    #expect(
      (1...5).map { policy.delay(after: $0, asked: nil) } == [1_000, 2_000, 4_000, 8_000, 16_000])
    #expect(policy.delay(after: .max, asked: nil) == 3_600_000)
    #expect(policy.delay(after: 0, asked: -5) == 1_000)
    #expect(policy.delay(after: 1, asked: 90_000) == 90_000)
    #expect(policy.delay(after: 1, asked: .max) == 86_400_000)
  }

  @Test("OUT-3 SYN-2 the end of a sign-in removes its changes and keeps those of other sign-ins")
  func signIns() throws {
    let time = Timestamp(milliseconds: 5)
    func signIn(_ number: UInt64, of journal: Identifier = "j") -> SignIn {
      SignIn(journal: journal, generation: Generation(number))
    }
    var queue = ChangeQueue()
    func add(_ key: Identifier, by author: SignIn?, of user: Identifier = "u-1") throws {
      if let author { try queue.apply(.addedBy(author), at: time) }
      let added = change(.create, key, on: EntityReference("task", key))
      try queue.apply(.added(.init(user: user, change: added)), at: time)
    }
    try add("unknown", by: nil)
    try add("first", by: signIn(3))
    #expect(
      queue.ending(signIn(3), of: "u-1", discards: true)
        == [.signInEnded(signIn(3)), .discarded(.init(cause: .logout))])
    #expect(queue.ending(signIn(3), of: "u-1", discards: false) == [.signInEnded(signIn(3))])
    try add("later", by: signIn(4))
    try add("elsewhere", by: signIn(1, of: "k"))
    try add("theirs", by: signIn(1, of: "k"), of: "u-2")
    func left(_ user: Identifier?) throws -> [Identifier] {
      var queue = queue
      for event in queue.ending(signIn(3), of: user, discards: true) {
        try queue.apply(event, at: time)
      }
      #expect(queue.hasEnded(signIn(3)) && queue.hasEnded(signIn(2)) && !queue.hasEnded(signIn(4)))
      #expect(!queue.hasEnded(signIn(1, of: "k")))
      #expect(queue.ending(signIn(2), of: user, discards: true).isEmpty, "it was said before")
      return queue.pending.map(\.change.key)
    }
    #expect(try left("u-1") == ["later", "theirs"])
    #expect(try left(nil) == ["unknown", "later", "elsewhere", "theirs"])
    #expect(try left("u-3") == ["unknown", "first", "later", "elsewhere", "theirs"])
  }

  @Test(
    "OUT-3 a pending logout holds new changes for a limited time, while its process lives")
  func departures() throws {
    var queue = ChangeQueue()
    func at(_ time: Int64, until end: Int64, of journal: Identifier = "j") throws {
      try queue.apply(
        .leaving(
          .init(journal: journal, process: 7, until: Timestamp(milliseconds: end))),
        at: Timestamp(milliseconds: time))
    }
    func isHeld(_ time: Int64, of journal: Identifier = "j") -> Bool {
      queue.isLeaving(journal, at: Timestamp(milliseconds: time)) { _, _ in true } != nil
    }
    try at(10, until: 100)
    #expect(isHeld(10) && isHeld(99) && !isHeld(100), "whose it is is not known")
    #expect(!isHeld(9), "the clock was set back")
    #expect(!isHeld(50, of: "k"))
    try at(60, until: 60)
    #expect(!isHeld(60) && queue.leaving.isEmpty, "it came to nothing")
    try at(70, until: 100)
    try queue.apply(
      .signInEnded(.init(journal: "j", generation: Generation(1))),
      at: Timestamp(milliseconds: 80))
    #expect(!isHeld(80))
    for number in 1...(ChangeQueue.journalLimit + 1) {
      let journal = Identifier("j-\(number)")
      try at(90, until: 100, of: journal)
      try queue.apply(
        .signInEnded(.init(journal: journal, generation: Generation(1))),
        at: Timestamp(milliseconds: 90))
    }
    #expect(queue.ended.count == ChangeQueue.journalLimit && queue.ended.first?.journal == "j-2")
  }

  private func operation(_ word: String?) -> Change.Operation? {
    Change.Operation.allCases.first { "\($0)" == word }
  }

  private struct Unexpected: Error {}
}
