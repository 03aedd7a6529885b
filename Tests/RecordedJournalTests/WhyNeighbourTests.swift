@_spi(Internals) import SessionCore
@_spi(Internals) import SessionTestKit
import Testing

@testable import ReplayCommands
@testable import SessionExplain

/// A recorded journal with one change, and the cause that it then has.
struct WhyNeighbour: Sendable, CustomTestStringConvertible {
  let base: Cause
  let change: String
  let expected: Cause
  let certainty: Certainty
  let edit: @Sendable (SessionRecord) -> SessionRecord?

  var testDescription: String { "\(base.id), \(change): \(expected.id)" }

  init(
    _ base: Cause, _ change: String, _ expected: Cause, _ certainty: Certainty = .proven,
    _ edit: @escaping @Sendable (SessionRecord) -> SessionRecord?
  ) {
    self.base = base
    self.change = change
    self.expected = expected
    self.certainty = certainty
    self.edit = edit
  }

  /// Final refusals get another code.
  private static func coded(
    _ base: Cause, _ code: String?, _ expected: Cause, _ certainty: Certainty = .proven
  ) -> WhyNeighbour {
    WhyNeighbour(base, "the code is \(code ?? "none")", expected, certainty) { record in
      record.failing { failure in
        guard failure.kind == .rejected else { return failure }
        return RequestFailure(kind: .rejected, status: 401, serverCode: code)
      }
    }
  }

  /// Every failure becomes another.
  private static func failing(
    _ base: Cause, _ kind: RequestFailure.Kind, _ status: UInt16, code: String? = nil,
    _ expected: Cause, _ certainty: Certainty = .proven
  ) -> WhyNeighbour {
    WhyNeighbour(base, "failures are \(kind) \(status)", expected, certainty) { record in
      record.failing { _ in RequestFailure(kind: kind, status: status, serverCode: code) }
    }
  }

  /// Missing replies become another failure.
  private static func losing(
    _ base: Cause, _ kind: RequestFailure.Kind, _ status: UInt16, _ expected: Cause,
    _ certainty: Certainty
  ) -> WhyNeighbour {
    WhyNeighbour(base, "what was lost is \(kind) \(status)", expected, certainty) { record in
      record.failing { failure in
        guard failure.kind == .noReply else { return failure }
        return RequestFailure(kind: kind, status: status)
      }
    }
  }

  /// The server keeps the refresh token for another time; the session was unused for eight days.
  private static func lived(
    _ milliseconds: Int64, _ expected: Cause, _ certainty: Certainty
  ) -> WhyNeighbour {
    WhyNeighbour(.unusedTooLong, "a life of \(milliseconds) ms", expected, certainty) { record in
      guard case .note(.refreshTokenLife(let life)) = record.content else { return record }
      return record.with(
        .note(
          .refreshTokenLife(.init(generation: life.generation, milliseconds: milliseconds))))
    }
  }

  static let all: [WhyNeighbour] = [
    lived(8 * 86_400_000, .unusedTooLong, .likely), lived(9 * 86_400_000, .refused, .possible),
    coded(.unusedTooLong, "TOKEN_EXPIRED", .refreshTokenExpired),
    coded(.unusedTooLong, "TOKEN_REVOKED", .revokedElsewhere),
    coded(.lostReply, "TOKEN_REUSED", .lostReply, .likely),
    coded(.lostReply, nil, .lostReply, .possible),
    coded(.lostReply, "TOKEN_REVOKED", .revokedElsewhere),
    coded(.lostReply, "TOKEN_EXPIRED", .refreshTokenExpired),
    coded(.lostReply, "TOKEN_NOT_FOUND", .unknownToServer),
    losing(.lostReply, .noConnection, 0, .usedElsewhere, .possible),
    losing(.lostReply, .server, 502, .lostReply, .possible),
    losing(.lostReply, .noReply, 408, .lostReply, .possible),
    losing(.lostReply, .noReply, 200, .lostReply, .likely),
    WhyNeighbour(.lostReply, "the end of the lost request is not noted", .lostReply, .likely) {
      record in
      guard case .event(.refreshFailed(let failed)) = record.content,
        failed.failure.kind == .noReply
      else { return record }
      return nil
    }, losing(.killedInRefresh, .noConnection, 0, .usedElsewhere, .possible),
    WhyNeighbour(.killedInRefresh, "the deadline was over", .killedInRefresh, .possible) {
      $0.due { $0.advanced(by: -3_600_000) }
    },
    WhyNeighbour(.killedInRefresh, "nobody opened the journal", .lostReply, .likely) { record in
      if case .note(.opened) = record.content { nil } else { record }
    },
    WhyNeighbour(.suspendedInRefresh, "the deadline was to come", .killedInRefresh, .likely) {
      $0.due { $0.advanced(by: 3_600_000) }
    },
    WhyNeighbour(.suspendedInRefresh, "one process made all requests", .lostReply, .likely) {
      record in
      guard case .note(.requestSent(let sent)) = record.content else { return record }
      return record.with(
        .sent(
          sent.generation.number, by: 7, until: sent.deadline, sent.trigger, attempt: sent.attempt,
          kind: sent.kind))
    }, coded(.revokedElsewhere, "TOKEN_EXPIRED", .refreshTokenExpired),
    coded(.revokedElsewhere, "TOKEN_REUSED", .usedElsewhere, .possible),
    coded(.revokedElsewhere, "TOKEN_INVALID", .refused, .possible),
    coded(.revokedElsewhere, nil, .refused, .possible),
    coded(.revokedElsewhere, "DEVICE_NOT_ALLOWED", .refused),
    coded(.revokedElsewhere, "PASSWORD_CHANGED", .passwordChanged),
    coded(.revokedElsewhere, "AADSTS50173", .passwordChanged, .possible),
    coded(.revokedElsewhere, "REVOKED_BY_ADMIN", .endedByAdministrator),
    coded(.revokedElsewhere, "TOO_MANY_SESSIONS", .sessionLimit),
    coded(.revokedElsewhere, "ALL_SESSIONS_REVOKED", .allSessionsEnded),
    coded(.revokedElsewhere, "MFA_REQUIRED", .signInDemanded),
    coded(.revokedElsewhere, "login_required", .signInDemanded),
    coded(.revokedElsewhere, "AADSTS50076", .signInDemanded),
    coded(.revokedElsewhere, "AADSTS70043", .signInDemanded),
    coded(.lostReply, "interaction_required", .signInDemanded),
    failing(.revokedElsewhere, .otherUser, 200, .otherUser, .possible),
    failing(.revokedElsewhere, .otherUser, 0, code: "NAMED_BY_MEMBER", .otherUser),
    failing(.revokedElsewhere, .otherUser, 0, code: "CHANGED_IN_ACCESS_TOKEN", .otherUser, .likely),
    failing(.otherUser, .otherUser, 0, .otherUser, .possible),
    failing(.otherUser, .otherUser, 0, code: "NAMED_BY_A_STAR", .otherUser, .possible),
    failing(.revokedElsewhere, .noRefreshToken, 0, .noRefreshToken),
    WhyNeighbour(.userLogout, "the reason is userDeleted", .accountDeleted) { record in
      guard case .event(.logout) = record.content else { return record }
      return record.with(.event(.logout(.init(reason: .userDeleted))))
    },
    WhyNeighbour(.userLogout, "the reason is a newer version's", .unexplained, .possible) {
      record in
      guard case .event(.logout) = record.content else { return record }
      return record.with(.event(.logout(.init(reason: LogoutReason(rawValue: 77)))))
    }, failing(.serverFailing, .rateLimited, 429, .rateLimited),
    failing(.serverFailing, .unexpected, 404, .endpointMissing),
    failing(.serverFailing, .unexpected, 400, .attemptsExhausted),
    failing(.serverFailing, .unexpected, 401, code: "invalid_client", .appRefused),
    failing(.serverFailing, .unexpected, 400, code: "AADSTS50078", .signInDemanded),
    failing(.serverFailing, .unreadable, 200, .answersUnreadable),
    WhyNeighbour(.refreshingTooOften, "all was asked by hand", .rateLimited) { record in
      guard case .note(.requestSent(let sent)) = record.content else { return record }
      return record.with(
        .sent(
          sent.generation.number, by: sent.process, until: sent.deadline, .manual,
          attempt: sent.attempt, kind: sent.kind))
    },
    WhyNeighbour(.clockForward, "the other clock moved as far", .tokenExpired) { record in
      guard case .note(.opened(let opened)) = record.content, opened.uptime > 601_000 else {
        return record
      }
      return record.with(
        .opened(by: opened.process, boot: opened.boot, uptime: opened.uptime + 9 * 3_600_000))
    },
    WhyNeighbour(.secretUnreadable, "no item was unreadable", .secretsAhead) { record in
      if case .note(.itemUnreadable) = record.content { nil } else { record }
    },
    WhyNeighbour(.secretUnreadable, "it was the user item", .secretUnreadable, .likely) { record in
      guard case .note(.itemUnreadable) = record.content else { return record }
      return record.with(.note(.itemUnreadable(.user)))
    }, failing(.stillOffline, .intercepted, 0, .stillIntercepted),
    WhyNeighbour(.stillLocked, "the app was not locked", .stillSignedIn) { record in
      if case .note(.locked) = record.content { nil } else { record }
    },
    failing(.stillIntercepted, .intercepted, 500, .stillErrorPage),
    failing(.stillErrorPage, .intercepted, 511, .stillIntercepted),
    failing(.stillErrorPage, .intercepted, 200, .stillIntercepted),
    failing(.stillOffline, .secretsUnavailable, 0, .stillSecretsLocked),
    failing(.stillOffline, .server, 500, .stillServerFailing),
    failing(.stillServerFailing, .noConnection, 0, .stillOffline),
    failing(.stillServerFailing, .rateLimited, 429, .stillServerFailing),
    failing(.stillServerFailing, .unexpected, 400, .stillRefused),
    failing(.stillServerFailing, .unexpected, 404, code: "USER_NOT_FOUND", .stillRefused),
    failing(.stillServerFailing, .unexpected, 400, code: "MFA_REQUIRED", .stillSignInDemanded),
    failing(.stillServerFailing, .unexpected, 401, code: "invalid_client", .stillAppRefused),
    failing(.stillServerFailing, .unexpected, 404, .stillEndpointMissing),
    failing(.stillServerFailing, .unexpected, 405, code: "UNAUTHORIZED", .stillEndpointMissing),
    failing(.stillServerFailing, .unreadable, 200, .stillUnreadable),
    failing(.stillServerFailing, .intercepted, 403, .stillBlocked),
    failing(.stillIntercepted, .intercepted, 405, .stillEndpointMissing, .possible),
    failing(.stillIntercepted, .intercepted, 301, .stillEndpointMissing, .possible),
    failing(.stillIntercepted, .intercepted, 307, code: "MOVED_ADDRESS", .stillEndpointMissing),
    failing(.stillIntercepted, .intercepted, 302, .stillIntercepted, .possible),
    failing(.stillIntercepted, .intercepted, 511, .stillIntercepted),
  ]
}

@Suite("Neighbours of the catalogue")
struct WhyNeighbourTests {
  @Test("RPL-3 one difference decides between two similar causes", arguments: WhyNeighbour.all)
  func neighbour(_ neighbour: WhyNeighbour) throws {
    let answer = try WhyRun(neighbour.base).edited(neighbour.edit).answer()
    #expect(answer.cause == neighbour.expected)
    #expect(answer.certainty == neighbour.certainty)
  }

  @Test("RPL-3 every reason that this version knows has a cause", arguments: ExpiryReason.known)
  func reasons(_ reason: ExpiryReason) throws {
    let run = try WhyRun(.endedByServer).edited { record in
      guard case .event(.sessionExpired) = record.content else { return record }
      return record.with(.event(.sessionExpired(.init(reason: reason))))
    }
    #expect(run.answer().cause != .unexplained)
  }

  private static let busy = RequestFailure(kind: .server, status: 503)

  @Test(
    "REF-16 RPL-3 only a session that tried nothing while its token was kept is unused for too long",
    arguments: [
      ([], nil, .unusedTooLong), ([(3_700, .offline)], nil, .unusedTooLong),
      ([(60, .offline), (3_700, .offline)], nil, .refused), ([(3_000, busy)], nil, .refused),
      ([(3_000, .lost)], "TOKEN_NOT_FOUND", .unknownToServer),
      ([], "TOKEN_NOT_FOUND", .unknownToServer), ([], "SHOP_CLOSED", .refused),
    ] as [([(Int64, RequestFailure)], String?, Cause)])
  func notRefreshed(_ attempts: [(Int64, RequestFailure)], _ code: String?, _ cause: Cause) {
    let life = SessionNote.RefreshTokenLife(generation: Generation(1), milliseconds: 3_600_000)
    var history = WhyHistory()
    history.add(0, .note(.refreshTokenLife(life)))
    for (seconds, failure) in attempts { history.attempt(seconds, failure) }
    let signedIn = history
    history.refuse(4_000, code)
    #expect(history.answer().cause == cause && history.answer().has(.unusedBeyond))
    // The tokens of another login have another life.
    history = signedIn
    history.add(3_800, .reauthenticated(2, at: 3_800))
    history.refuse(9_000, code, of: 2)
    #expect(history.answer().cause != .unusedTooLong && !history.answer().has(.unusedBeyond))
  }

  @Test("POL-7 RPL-3 a refused token of unknown lifetime may have expired at the server")
  func refusedToken() throws {
    let run = try WhyRun(.endedByServer)
    let livesOn = run.answer()
    #expect(!livesOn.findings.inferred.contains { $0.what == .livedItsTime })
    #expect(livesOn.findings.ruledOut.contains { $0.what == .tokenHadLife })
    let answer = run.edited { record in
      guard case .event(.login(let login)) = record.content else { return record }
      let token = TokenMetadata(
        generation: login.token.generation, issuedAt: login.token.issuedAt,
        expiresAt: login.token.issuedAt.advanced(by: TokenMetadata.unknownLifetime),
        isRefreshable: false)
      return record.with(
        .event(
          .login(
            SessionEvent.Login(
              user: login.user, method: login.method, token: token, context: login.context))))
    }.answer()
    #expect(answer.cause == .endedByServer)
    #expect(
      answer.findings.inferred.contains { $0.what == .livedItsTime && $0.certainty == .possible })
    #expect(!answer.findings.ruledOut.contains { $0.what == .tokenHadLife })
  }

  @Test("RPL-3 a process of another start of the system is certainly gone")
  func restarted() throws {
    let whole = try WhyRun(.killedInRefresh)
    let last = whole.entries.last { $0.record.name == "opened" }?.record.sequence
    let answer = whole.edited { record in
      guard case .note(.opened(let opened)) = record.content, record.sequence == last else {
        return record
      }
      return record.with(
        .note(.opened(.init(process: opened.process, boot: "another", uptime: opened.uptime))))
    }.answer()
    #expect(answer.cause == .killedInRefresh)
    #expect(answer.findings.proven.contains { $0.what == .systemRestarted })
    #expect(!answer.findings.inferred.contains { $0.what == .goneBeforeDeadline })
    #expect(!answer.findings.ruledOut.contains { $0.what == .clockAgrees })
  }

  /// The causes that are possible after records before the end are removed.
  private static let lessKnown: [Cause: Set<Cause>] = [
    .lostReply: [.usedElsewhere], .answerNotStored: [.usedElsewhere, .lostReply],
    .answerNotRead: [.usedElsewhere], .killedInRefresh: [.usedElsewhere, .lostReply],
    .suspendedInRefresh: [.usedElsewhere, .lostReply, .revokedElsewhere],
    .familyRevoked: [.revokedElsewhere], .clockForward: [.tokenExpired],
    .refreshingTooOften: [.attemptsExhausted, .rateLimited], .rateLimited: [.attemptsExhausted],
    .serverFailing: [.attemptsExhausted], .answersUnreadable: [.attemptsExhausted],
    .appRefused: [.attemptsExhausted], .signInDemanded: [.attemptsExhausted],
    .unusedTooLong: [.refused],
    .endpointMissing: [.attemptsExhausted],
  ]

  @Test(
    "RPL-3 compacted at any place before the end, the cause is the same or a weaker one",
    arguments: Cause.all.filter { $0.class == .end })
  func compactions(_ cause: Cause) throws {
    let whole = try WhyRun(cause)
    let answer = whole.answer()
    let batch = try #require(answer.chain.first { $0.role == .end }).fact.batch
    var fold = SessionFold()
    for (index, entry) in whole.entries.enumerated() {
      guard entry.record.sequence < batch else { break }
      try fold.apply(entry.record)
      guard entry.remainingInBatch == 0, let snapshot = fold.snapshot else { continue }
      let first = SessionRecord(
        sequence: entry.record.sequence, time: entry.record.time, content: snapshot)
      let rest = Array(whole.entries[(index + 1)...])
      let less = WhyRun([JournalEntry(record: first, offset: 64, remainingInBatch: 0)] + rest)
        .answer()
      let isSame = less.cause == answer.cause && less.certainty <= answer.certainty
      let isWeaker = Self.lessKnown[cause]?.contains(less.cause) == true
      #expect(isSame || isWeaker, "behind @\(entry.record.sequence): \(less.cause.id)")
    }
  }

  @Test(
    "RPL-3 the answer reports compacted records and calls nothing likely that they could disprove")
  func compacted() throws {
    let whole = try WhyRun(.lostReply)
    var fold = SessionFold()
    var rest: [JournalEntry] = []
    var snapshot: SessionRecord?
    for entry in whole.entries {
      // After the announcement of the token, and before the request that was lost.
      if case .note(.requestSent(let sent)) = entry.record.content,
        sent.generation == Generation(2), snapshot == nil
      {
        snapshot = SessionRecord(
          sequence: fold.sequence, time: entry.record.time, content: .snapshot(fold))
      }
      if snapshot != nil { rest.append(entry) } else { try fold.apply(entry.record) }
    }
    let first = JournalEntry(record: try #require(snapshot), offset: 64, remainingInBatch: 0)
    let answer = WhyRun([first] + rest).answer()
    #expect(answer.cause == .lostReply)
    #expect(answer.certainty == .possible)
    #expect(!answer.findings.inferred.contains { $0.certainty > .possible })
    #expect(answer.findings.untold.contains { $0.what == .beforeCompaction })
    #expect(!answer.findings.ruledOut.contains { $0.what == .oneProcess })
  }
}
