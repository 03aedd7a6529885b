// swift-format-ignore-file
// Written by: sessionreplay export --format swift --name RecordedSession
@_spi(Internals) import SessionCore
import Testing

@Suite("RecordedSession")
struct RecordedSession {
  @Test("the recorded events are possible and result in the recorded state")
  func history() throws {
    var fold = SessionFold()
    try part1(&fold)
    #expect(fold.state.kind == .expired)
    #expect(fold.generation == Generation(18446744073709551615))
    #expect(fold.sequence == 40)
    #expect(fold.intents.revocations == [Generation(9)])
  }

  private func failures(of fold: SessionFold) -> UInt32? {
    guard case .authenticated(let session) = fold.state else { return nil }
    return session.failures.total
  }

  private func part1(_ fold: inout SessionFold) throws {
    // 2026-11-21T14:00:00.000Z, opened
    try fold.apply(SessionRecord(sequence: 1, time: Timestamp(milliseconds: 1795269600000), content: .note(.opened(.init(process: 4242, boot: "boot-1", uptime: 86400000, app: AppVersion("2.4.1+318"))))))
    // 2026-11-21T14:00:00.105Z, login
    try fold.apply(SessionRecord(sequence: 2, time: Timestamp(milliseconds: 1795269600105), content: .event(.login(.init(user: "0190b2a4-7c1e-7d3a-9f00-5a5a5a5a5a5a", method: .init(rawValue: 0), token: TokenMetadata(generation: Generation(1), issuedAt: Timestamp(milliseconds: 1795269600105), expiresAt: Timestamp(milliseconds: 1795269602105), id: "jti-1", isRefreshable: true), context: ActiveContext(role: .init(id: "r-1", name: "Docente"), school: .init(id: "s-7", name: "Colegio São João"), unit: .init(id: "5B", name: ""), permissions: ["materials:read", "materials:write"]))))))
    #expect(fold.state.kind == .authenticated)
    #expect(fold.generation == Generation(1))
    // 2026-11-21T14:00:01.105Z, requestSent
    try fold.apply(SessionRecord(sequence: 3, time: Timestamp(milliseconds: 1795269601105), content: .note(.requestSent(.init(kind: .init(rawValue: 0), generation: Generation(1), trigger: .init(rawValue: 0), attempt: 1, process: 4242, deadline: Timestamp(milliseconds: 1795269631105))))))
    #expect(fold.intents.request?.sequence == 3)
    // 2026-11-21T14:00:01.150Z, refreshSucceeded
    try fold.apply(SessionRecord(sequence: 4, time: Timestamp(milliseconds: 1795269601150), content: .event(.refreshSucceeded(.init(token: TokenMetadata(generation: Generation(2), issuedAt: Timestamp(milliseconds: 1795269601150), expiresAt: Timestamp(milliseconds: 1795269603150), id: nil, isRefreshable: true), trigger: .init(rawValue: 0), attempt: 1, isRotated: true, request: 3)))))
    #expect(fold.state.kind == .authenticated)
    #expect(fold.generation == Generation(2))
    #expect(fold.intents.request?.sequence == nil)
    // 2026-11-21T14:00:02.150Z, requestSent
    try fold.apply(SessionRecord(sequence: 5, time: Timestamp(milliseconds: 1795269602150), content: .note(.requestSent(.init(kind: .init(rawValue: 0), generation: Generation(2), trigger: .init(rawValue: 0), attempt: 1, process: 4242, deadline: Timestamp(milliseconds: 1795269632150))))))
    #expect(fold.intents.request?.sequence == 5)
    // 2026-11-21T14:00:02.200Z, refreshFailed
    try fold.apply(SessionRecord(sequence: 6, time: Timestamp(milliseconds: 1795269602200), content: .event(.refreshFailed(.init(generation: Generation(2), trigger: .init(rawValue: 0), attempt: 1, failure: RequestFailure(kind: .init(rawValue: 2), status: 503, serverCode: "DB_TIMEOUT", retryAfter: .milliseconds(500)), retryAt: Timestamp(milliseconds: 1795269602700), request: 5)))))
    #expect(fold.state.kind == .authenticated)
    #expect(fold.generation == Generation(2))
    #expect(failures(of: fold) == 1)
    #expect(fold.intents.request?.sequence == nil)
    // 2026-11-21T14:00:02.700Z, requestSent
    try fold.apply(SessionRecord(sequence: 7, time: Timestamp(milliseconds: 1795269602700), content: .note(.requestSent(.init(kind: .init(rawValue: 0), generation: Generation(2), trigger: .init(rawValue: 5), attempt: 2, process: 4242, deadline: Timestamp(milliseconds: 1795269632700))))))
    #expect(fold.intents.request?.sequence == 7)
    // 2026-11-21T14:00:02.740Z, refreshSucceeded
    try fold.apply(SessionRecord(sequence: 8, time: Timestamp(milliseconds: 1795269602740), content: .event(.refreshSucceeded(.init(token: TokenMetadata(generation: Generation(3), issuedAt: Timestamp(milliseconds: 1795269602740), expiresAt: Timestamp(milliseconds: 1795270502740), id: nil, isRefreshable: true), trigger: .init(rawValue: 5), attempt: 2, isRotated: false, request: 7)))))
    #expect(fold.state.kind == .authenticated)
    #expect(fold.generation == Generation(3))
    #expect(fold.intents.request?.sequence == nil)
    // 2026-11-21T14:00:10.000Z, requestSent
    try fold.apply(SessionRecord(sequence: 9, time: Timestamp(milliseconds: 1795269610000), content: .note(.requestSent(.init(kind: .init(rawValue: 1), generation: Generation(3), trigger: .init(rawValue: 4), attempt: 1, process: 4242, deadline: Timestamp(milliseconds: 1795269640000))))))
    #expect(fold.intents.request?.sequence == 9)
    // 2026-11-21T14:00:10.060Z, requestEnded
    try fold.apply(SessionRecord(sequence: 10, time: Timestamp(milliseconds: 1795269610060), content: .note(.requestEnded(.init(request: 9, failure: RequestFailure(kind: .init(rawValue: 1), status: 0, serverCode: nil, retryAfter: nil))))))
    #expect(fold.intents.request?.sequence == nil)
    // 2026-11-21T14:00:12.000Z, requestSent
    try fold.apply(SessionRecord(sequence: 11, time: Timestamp(milliseconds: 1795269612000), content: .note(.requestSent(.init(kind: .init(rawValue: 1), generation: Generation(3), trigger: .init(rawValue: 4), attempt: 1, process: 4242, deadline: Timestamp(milliseconds: 1795269642000))))))
    #expect(fold.intents.request?.sequence == 11)
    // 2026-11-21T14:00:12.050Z, contextSwitched
    try fold.apply(SessionRecord(sequence: 12, time: Timestamp(milliseconds: 1795269612050), content: .event(.contextSwitched(.init(context: ActiveContext(role: .init(id: "r-2", name: "Head\u{1b}[31m\u{202e}\u{a}"), school: nil, unit: nil, permissions: ["reports:read"]), token: TokenMetadata(generation: Generation(4), issuedAt: Timestamp(milliseconds: 1795269612050), expiresAt: Timestamp(milliseconds: 1795273212050), id: nil, isRefreshable: true), trigger: .init(rawValue: 0), request: 11)))))
    #expect(fold.state.kind == .authenticated)
    #expect(fold.generation == Generation(4))
    #expect(fold.intents.request?.sequence == nil)
    // 2026-11-21T14:01:00.000Z, requestSent
    try fold.apply(SessionRecord(sequence: 13, time: Timestamp(milliseconds: 1795269660000), content: .note(.requestSent(.init(kind: .init(rawValue: 0), generation: Generation(4), trigger: .init(rawValue: 1), attempt: 1, process: 4242, deadline: Timestamp(milliseconds: 1795269690000))))))
    #expect(fold.intents.request?.sequence == 13)
    // 2026-11-21T14:01:00.080Z, refreshFailed
    try fold.apply(SessionRecord(sequence: 14, time: Timestamp(milliseconds: 1795269660080), content: .event(.refreshFailed(.init(generation: Generation(4), trigger: .init(rawValue: 0), attempt: 1, failure: RequestFailure(kind: .init(rawValue: 5), status: 401, serverCode: "TOKEN_EXPIRED", retryAfter: nil), retryAt: nil, request: 13)))))
    #expect(fold.state.kind == .authenticated)
    #expect(fold.generation == Generation(4))
    #expect(failures(of: fold) == 1)
    #expect(fold.intents.request?.sequence == nil)
    // 2026-11-21T14:01:00.080Z, sessionExpired
    try fold.apply(SessionRecord(sequence: 15, time: Timestamp(milliseconds: 1795269660080), content: .event(.sessionExpired(.init(reason: .init(rawValue: 1))))))
    #expect(fold.state.kind == .expired)
    #expect(fold.generation == Generation(4))
    // 2026-11-21T15:01:40.000Z, login
    try fold.apply(SessionRecord(sequence: 16, time: Timestamp(milliseconds: 1795273300000), content: .event(.login(.init(user: "0190b2a4-7c1e-7d3a-9f00-5a5a5a5a5a5a", method: .init(rawValue: 3), token: TokenMetadata(generation: Generation(5), issuedAt: Timestamp(milliseconds: 1795273300000), expiresAt: Timestamp(milliseconds: 1795373300000), id: nil, isRefreshable: true), context: nil)))))
    #expect(fold.state.kind == .authenticated)
    #expect(fold.generation == Generation(5))
    // 2026-11-21T15:03:20.000Z, tailCut
    try fold.apply(SessionRecord(sequence: 17, time: Timestamp(milliseconds: 1795273400000), content: .note(.tailCut(.init(bytes: 96, isUndetermined: true)))))
    // 2026-11-21T15:03:20.001Z, tokenRecovered
    try fold.apply(SessionRecord(sequence: 18, time: Timestamp(milliseconds: 1795273400001), content: .note(.tokenRecovered(Generation(6)))))
    // 2026-11-21T15:03:20.001Z, refreshSucceeded
    try fold.apply(SessionRecord(sequence: 19, time: Timestamp(milliseconds: 1795273400001), content: .event(.refreshSucceeded(.init(token: TokenMetadata(generation: Generation(6), issuedAt: Timestamp(milliseconds: 1795273399000), expiresAt: Timestamp(milliseconds: 1795278799000), id: nil, isRefreshable: false), trigger: .init(rawValue: 2), attempt: 1, isRotated: true, request: 0)))))
    #expect(fold.state.kind == .authenticated)
    #expect(fold.generation == Generation(6))
    // 2026-11-21T15:03:20.002Z, itemUnreadable
    try fold.apply(SessionRecord(sequence: 20, time: Timestamp(milliseconds: 1795273400002), content: .note(.itemUnreadable(.init(rawValue: 1)))))
    // 2026-11-21T15:05:00.000Z, requestSent
    try fold.apply(SessionRecord(sequence: 21, time: Timestamp(milliseconds: 1795273500000), content: .note(.requestSent(.init(kind: .init(rawValue: 0), generation: Generation(6), trigger: .init(rawValue: 3), attempt: 1, process: 4242, deadline: Timestamp(milliseconds: 1795273530000))))))
    #expect(fold.intents.request?.sequence == 21)
    // 2026-11-22T15:00:00.000Z, logout
    try fold.apply(SessionRecord(sequence: 22, time: Timestamp(milliseconds: 1795359600000), content: .event(.logout(.init(reason: .init(rawValue: 0))))))
    #expect(fold.state.kind == .unauthenticated)
    #expect(fold.generation == Generation(6))
    #expect(fold.intents.request?.sequence == nil)
    // 2026-11-22T15:00:00.000Z, revocationPending
    try fold.apply(SessionRecord(sequence: 23, time: Timestamp(milliseconds: 1795359600000), content: .note(.revocationPending(Generation(6)))))
    // 2026-11-22T15:00:00.300Z, revocationSettled
    try fold.apply(SessionRecord(sequence: 24, time: Timestamp(milliseconds: 1795359600300), content: .note(.revocationSettled(.init(generation: Generation(6), outcome: .init(rawValue: 2), status: 503)))))
    // 2026-11-22T15:00:00.400Z, secretsWiped
    try fold.apply(SessionRecord(sequence: 25, time: Timestamp(milliseconds: 1795359600400), content: .note(.secretsWiped(.init(rawValue: 0)))))
    // 2026-11-22T15:00:00.500Z, unknown(238)
    try fold.apply(SessionRecord(sequence: 26, time: Timestamp(milliseconds: 1795359600500), content: .unknown(.init(kind: 238, payload: [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29]))))
    // 2026-11-22T15:00:00.600Z, closed
    try fold.apply(SessionRecord(sequence: 27, time: Timestamp(milliseconds: 1795359600600), content: .note(.closed)))
    // 2026-11-22T15:00:01.000Z, opened
    try fold.apply(SessionRecord(sequence: 28, time: Timestamp(milliseconds: 1795359601000), content: .note(.opened(.init(process: 4294967295, boot: nil, uptime: -9223372036854775808, app: nil)))))
    // 2026-11-22T15:00:01.001Z, continued
    try fold.apply(SessionRecord(sequence: 29, time: Timestamp(milliseconds: 1795359601001), content: .note(.continued(.init(journal: "\"quoted\" \\(x) \u{a}\u{0}\u{202e} e\u{301} 🏫 */ // \u{feff}", sequence: 18446744073709551615, cause: .init(rawValue: 3))))))
    // 2026-11-22T15:00:01.002Z, continued
    try fold.apply(SessionRecord(sequence: 30, time: Timestamp(milliseconds: 1795359601002), content: .note(.continued(.init(journal: nil, sequence: 0, cause: .init(rawValue: 99))))))
    // 2026-11-22T15:00:01.003Z, clockSkew
    try fold.apply(SessionRecord(sequence: 31, time: Timestamp(milliseconds: 1795359601003), content: .note(.clockSkew(-5))))
    // 2026-11-22T15:00:01.004Z, localDataCleared
    try fold.apply(SessionRecord(sequence: 32, time: Timestamp(milliseconds: 1795359601004), content: .note(.localDataCleared)))
    // 2026-11-22T15:00:01.005Z, answerDropped
    try fold.apply(SessionRecord(sequence: 33, time: Timestamp(milliseconds: 1795359601005), content: .note(.answerDropped(.init(request: 9, cause: .init(rawValue: 0))))))
    // 2026-11-22T15:00:01.006Z, login
    try fold.apply(SessionRecord(sequence: 34, time: Timestamp(milliseconds: 1795359601006), content: .event(.login(.init(user: "\"quoted\" \\(x) \u{a}\u{0}\u{202e} e\u{301} 🏫 */ // \u{feff}", method: .init(rawValue: 250), token: TokenMetadata(generation: Generation(18446744073709551615), issuedAt: Timestamp(milliseconds: -9223372036854775808), expiresAt: Timestamp(milliseconds: 9223372036854775807), id: "\"quoted\" \\(x) \u{a}\u{0}\u{202e} e\u{301} 🏫 */ // \u{feff}", isRefreshable: false), context: ActiveContext(role: .init(id: "", name: "\"quoted\" \\(x) \u{a}\u{0}\u{202e} e\u{301} 🏫 */ // \u{feff}"), school: nil, unit: nil, permissions: ["", "\"quoted\" \\(x) \u{a}\u{0}\u{202e} e\u{301} 🏫 */ // \u{feff}", "a:b"]))))))
    #expect(fold.state.kind == .authenticated)
    #expect(fold.generation == Generation(18446744073709551615))
    // 2026-11-22T15:00:01.007Z, refreshFailed
    try fold.apply(try SessionCodec.decode(sequence: 35, kind: 3, payload: [0x6f, 0x71, 0xc5, 0x03, 0xa2, 0x01, 0x00, 0x00, 0x01, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x05, 0x03, 0x00, 0x00, 0x00, 0x4d, 0xa2, 0x01, 0x01, 0x0d, 0x00, 0x00, 0x00, 0x73, 0x6f, 0x6d, 0x65, 0x2d, 0x6f, 0x6c, 0x64, 0x2e, 0x63, 0x6f, 0x64, 0x65, 0x01, 0x09, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00]))
    #expect(fold.state.kind == .authenticated)
    #expect(fold.generation == Generation(18446744073709551615))
    #expect(failures(of: fold) == 1)
    // 2026-11-22T15:00:01.008Z, contextSwitched
    try fold.apply(SessionRecord(sequence: 36, time: Timestamp(milliseconds: 1795359601008), content: .event(.contextSwitched(.init(context: ActiveContext(role: .init(id: "", name: "\"quoted\" \\(x) \u{a}\u{0}\u{202e} e\u{301} 🏫 */ // \u{feff}"), school: nil, unit: nil, permissions: ["", "\"quoted\" \\(x) \u{a}\u{0}\u{202e} e\u{301} 🏫 */ // \u{feff}", "a:b"]), token: nil, trigger: .init(rawValue: 1), request: 18446744073709551615)))))
    #expect(fold.state.kind == .authenticated)
    #expect(fold.generation == Generation(18446744073709551615))
    #expect(failures(of: fold) == 1)
    // 2026-11-22T15:00:01.009Z, requestEnded
    try fold.apply(try SessionCodec.decode(sequence: 37, kind: 133, payload: [0x71, 0x71, 0xc5, 0x03, 0xa2, 0x01, 0x00, 0x00, 0x01, 0x01, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x4d, 0xa2, 0x01, 0x01, 0x0d, 0x00, 0x00, 0x00, 0x73, 0x6f, 0x6d, 0x65, 0x2d, 0x6f, 0x6c, 0x64, 0x2e, 0x63, 0x6f, 0x64, 0x65, 0x01, 0x09, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00]))
    // 2026-11-22T15:00:01.010Z, revocationPending
    try fold.apply(SessionRecord(sequence: 38, time: Timestamp(milliseconds: 1795359601010), content: .note(.revocationPending(Generation(9)))))
    // 2026-11-22T15:00:01.011Z, revocationSettled
    try fold.apply(SessionRecord(sequence: 39, time: Timestamp(milliseconds: 1795359601011), content: .note(.revocationSettled(.init(generation: Generation(6), outcome: .init(rawValue: 0), status: 200)))))
    // 2026-11-22T15:00:01.012Z, sessionExpired
    try fold.apply(SessionRecord(sequence: 40, time: Timestamp(milliseconds: 1795359601012), content: .event(.sessionExpired(.init(reason: .init(rawValue: 200))))))
    #expect(fold.state.kind == .expired)
    #expect(fold.generation == Generation(18446744073709551615))
  }
}
