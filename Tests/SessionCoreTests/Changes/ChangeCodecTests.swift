import ChildProcesses
import Foundation
@_spi(Internals) import SessionCore
import Testing

@_spi(Internals) @testable import SessionChangeQueue

/// What a reader of a change log's records rejects.
@Suite("The codec of changes")
struct ChangeCodecTests {
  private let time = Timestamp(milliseconds: 7)
  private let entity = EntityReference("task", "1")

  private func decode(_ kind: UInt8, _ payload: [UInt8]) throws(CodecError) -> ChangeRecord? {
    try ChangeCodec.decode(sequence: 1, kind: kind, payload: payload)
  }

  /// Why a snapshot of this queue is rejected; `nil` if it is not.
  private func rejection(of queue: ChangeQueue) -> CodecError? {
    do throws(CodecError) {
      _ = try decode(SessionRecord.snapshotKind, ChangeCodec.encode(queue, at: time))
      return nil
    } catch {
      return error
    }
  }

  private func pending(_ key: Identifier, sends: UInt32 = 0, isSent: Bool = false)
    -> PendingChange
  {
    var item = PendingChange(
      user: "u", change: .create(.init(entity, content: [1], key: key)), since: time)
    item.sends = sends
    if isSent {
      item.sent = .init(key: key, sender: "s", process: 1, deadline: time)
    }
    return item
  }

  private func queue(_ pending: [PendingChange]) -> ChangeQueue {
    var queue = ChangeQueue()
    queue.pending = pending
    return queue
  }

  @Test("JRN-5 SYN-3 no other byte takes the place of an operation or a flag of a change")
  func bytes() throws {
    let edit = Change.update(.init(entity, content: [9], key: "k"))
    let request = try #require(Change.Request("POST", "/a", key: "k"))
    // The bytes after the time, the version, the user and the key.
    let place = 9 + 6 + 6
    for (change, allowed) in [(edit, [0, 1, 2, 0x10]), (.request(request), [0x10])]
      as [(Change, [UInt8])]
    {
      let (kind, payload) = ChangeCodec.encode(.added(.init(user: "u", change: change)), at: time)
      for byte in UInt8.min...UInt8.max where !allowed.contains(byte) {
        var other = payload
        other[place] = byte
        #expect(throws: CodecError.self, "\(change) with \(byte)") { try decode(kind, other) }
      }
      var unknown = payload
      unknown[place] = 0x11
      #expect(throws: CodecError.invalid(offset: place, byte: 0x11)) { try decode(kind, unknown) }
    }
    let postponed = ChangeEvent.postponed(
      .init(key: "k", isCounted: true, retryAt: time, reason: "503"))
    var payload = ChangeCodec.encode(postponed, at: time).payload
    let flag = 9 + 6
    #expect(payload[flag] == 1)
    payload[flag] = 2
    #expect(throws: CodecError.invalid(offset: flag, byte: 2)) {
      try decode(postponed.kind.rawValue, payload)
    }
    let (kind, acknowledged) = ChangeCodec.encode(.acknowledged("k"), at: time)
    for byte in [0, 3] as [UInt8] {
      var other = acknowledged
      other[9] = byte
      #expect(throws: CodecError.invalid(offset: 9, byte: byte)) { try decode(kind, other) }
    }
  }

  @Test("JRN-5 SYN-2 a deletion has neither content nor mentions")
  func deletions() throws {
    let place = 9 + 6 + 6
    for edit in [
      Change.Edit(entity, content: [1], key: "k"),
      Change.Edit(entity, content: [], mentions: [EntityReference("list", "2")], key: "k"),
    ] {
      let (kind, whole) = ChangeCodec.encode(
        .added(.init(user: "u", change: .update(edit))), at: time)
      var payload = whole
      payload[place] = Change.Operation.delete.rawValue
      #expect(throws: CodecError.impossible(offset: place)) { try decode(kind, payload) }
      payload[place] = Change.Operation.create.rawValue
      #expect(try decode(kind, payload) != nil)
    }
  }

  @Test("JRN-5 SYN-3 a request that could not have been made is not decoded")
  func requests() throws {
    let request = try #require(Change.Request("POST", "/a", key: "k"))
    let (kind, whole) = ChangeCodec.encode(
      .added(.init(user: "u", change: .request(request))), at: time)
    var payload = whole
    #expect(try decode(kind, payload) != nil)
    let place = try #require(payload.firstIndex(of: UInt8(ascii: "/")))
    payload[place] = UInt8(ascii: " ")
    #expect(throws: CodecError.impossible(offset: 9 + 6 + 6)) { try decode(kind, payload) }
  }

  @Test("JRN-5 SYN-2 a snapshot that no history results in is not decoded")
  func impossibleChanges() {
    #expect(rejection(of: queue([pending("a", sends: 1, isSent: true), pending("b")])) == nil)
    for impossible in [
      [pending("a"), pending("a")],
      [pending("a"), pending("b", sends: 1, isSent: true)],
      [pending("a", sends: 1)], [pending("a", sends: 0, isSent: true)],
      [pending("a"), pending("b", sends: 2)],
    ] {
      #expect(rejection(of: queue(impossible)) == .impossible(offset: 9), "\(impossible)")
    }
  }

  @Test("JRN-5 OUT-3 sign-ins that no history results in are not decoded")
  func impossibleSignIns() {
    func signIn(_ journal: Int) -> SignIn {
      SignIn(journal: Identifier("j-\(journal)"), generation: Generation(1))
    }
    func hold(_ journal: Int, until end: Int64 = 8) -> LogoutHold {
      LogoutHold(
        leaving: .init(
          journal: Identifier("j-\(journal)"), process: 1, until: Timestamp(milliseconds: end)),
        since: time)
    }
    func isImpossible(_ change: (inout ChangeQueue) -> Void) -> Bool {
      var queue = ChangeQueue()
      change(&queue)
      // The part about sign-ins follows three empty lists.
      let found = rejection(of: queue)
      #expect(found == nil || found == .impossible(offset: 9 + 12))
      return found != nil
    }
    let limit = ChangeQueue.journalLimit
    #expect(!isImpossible { $0.ended = (1...limit).map(signIn) })
    #expect(isImpossible { $0.ended = (1...(limit + 1)).map(signIn) })
    #expect(isImpossible { $0.ended = [signIn(1), signIn(1)] })
    #expect(!isImpossible { $0.leaving = (1...limit).map { hold($0) } })
    #expect(isImpossible { $0.leaving = (1...(limit + 1)).map { hold($0) } })
    #expect(isImpossible { $0.leaving = [hold(1, until: 7)] })
    #expect(isImpossible { $0.leaving = [hold(1), hold(2, until: 6)] })
  }

  @Test("JRN-5 OUT-3 a snapshot has the part about sign-ins only if there is something in it")
  func emptySignIns() throws {
    var payload = ChangeCodec.encode(ChangeQueue(), at: time)
    #expect(payload[8] == 0xA0 && payload.count == 9 + 12)
    payload[8] = 0xA1
    let nothing: [UInt8] = [0] + [0, 0, 0, 0] + [0, 0, 0, 0]
    #expect(throws: CodecError.impossible(offset: 9 + 12)) {
      try decode(SessionRecord.snapshotKind, payload + nothing)
    }
  }

  @Test("JRN-5 OUT-3 a snapshot has each part about sign-ins, and each part alone")
  func signIns() throws {
    let signIn = SignIn(journal: "j", generation: Generation(3))
    var letter = ChangeQueue()
    letter.failures = [
      DeadLetter(
        user: "u", change: .create(.init(entity, content: [1], key: "a")), cause: .refused,
        reason: "422", time: time, signIn: signIn)
    ]
    var (signed, retried) = (queue([pending("a")]), queue([pending("a")]))
    signed.pending[0].signIn = signIn
    retried.pending[0].isRetried = true
    var (author, ended, leaving) = (ChangeQueue(), ChangeQueue(), ChangeQueue())
    author.author = signIn
    ended.ended = [signIn]
    leaving.leaving = [
      LogoutHold(
        leaving: .init(journal: "j", process: 1, until: Timestamp(milliseconds: 8)), since: time)
    ]
    for queue in [letter, signed, retried, author, ended, leaving] {
      let payload = ChangeCodec.encode(queue, at: time)
      #expect(payload[8] == 0xA1)
      let record = try #require(try decode(SessionRecord.snapshotKind, payload))
      #expect(record.content == .snapshot(queue) && record.time == time && record.sequence == 1)
    }
  }

  @Test("JRN-5 OUT-3 of two holds of one journal a snapshot has the longer one, else the later one")
  func longestHold() throws {
    func hold(_ process: UInt32, until end: Int64) -> LogoutHold {
      LogoutHold(
        leaving: .init(journal: "j", process: process, until: Timestamp(milliseconds: end)),
        since: time)
    }
    for (holds, kept) in [
      ([hold(1, until: 9), hold(2, until: 8)], hold(1, until: 9)),
      ([hold(1, until: 8), hold(2, until: 9)], hold(2, until: 9)),
      ([hold(1, until: 9), hold(2, until: 9)], hold(2, until: 9)),
    ] {
      var queue = ChangeQueue()
      queue.leaving = holds
      let record = try decode(SessionRecord.snapshotKind, ChangeCodec.encode(queue, at: time))
      guard case .snapshot(let found)? = record?.content else { throw Unexpected() }
      #expect(found.leaving == [kept])
    }
  }

  @Test("SYN-3 JRN-5 the number of sendings stays at the highest number")
  func mostSends() throws {
    var queue = queue([pending("a", sends: .max, isSent: true)])
    #expect(rejection(of: queue) == nil)
    try queue.apply(
      .postponed(.init(key: "a", isCounted: false, retryAt: time, reason: "503")), at: time)
    try queue.apply(.sent(.init(key: "a", sender: "s", process: 1, deadline: time)), at: time)
    #expect(queue.pending.map(\.sends) == [.max])
  }

  @Test("JRN-5 the reader in another language rejects the same of what fuzzing has kept")
  func otherReader() throws {
    let corpus = ChildProcess.specs + "/../Tools/Fuzz/Corpus/Changes.txt"
    let program = """
      import base64, sys, change_payload as c
      for line in open(sys.argv[1]):
        data = base64.b64decode(line.partition(" ")[2])
        try:
          print(c.decode(data[0], data[9:])["time"] if len(data) > 8 else "-")
        except c.PayloadError as error:
          print("unknown" if "is not known" in str(error) else "rejected")
      """
    let python = try ChildProcess.python(["-c", program, corpus])
    let others = python.text.split(separator: "\n").map(String.init)
    let inputs = try String(contentsOfFile: corpus, encoding: .utf8).split(separator: "\n")
    #expect(others.count == inputs.count && Set(others).isSuperset(of: ["unknown", "rejected"]))
    for (line, other) in zip(inputs, others) where other != "-" {
      let text = line.split(separator: " ").dropFirst().first ?? ""
      let input = [UInt8](try #require(Data(base64Encoded: String(text))))
      do throws(CodecError) {
        let record = try decode(input[0], Array(input.dropFirst(9)))
        #expect(record.map { "\($0.time)" } ?? "unknown" == other, "\(line)")
      } catch {
        #expect(other == "rejected", "\(line): \(error)")
      }
    }
  }

  private struct Unexpected: Error {}
}
