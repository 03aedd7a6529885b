import Foundation
@_spi(Internals) import SessionCore
@_spi(Internals) import SessionTestKit
import Testing

/// The values behind `Specs/Golden/events.txt`, line by line.
enum SampleRecords {
  static let time = Timestamp(milliseconds: 1_795_269_605_205)
  static let user: Identifier = "0190b2a4-7c1e-7d3a-9f00-5a5a5a5a5a5a"

  static func token(_ number: UInt64, id: Identifier? = nil, isRefreshable: Bool = true)
    -> TokenMetadata
  {
    TokenMetadata(
      generation: Generation(number), issuedAt: time, expiresAt: time.advanced(by: 900_000), id: id,
      isRefreshable: isRefreshable)
  }

  static let teacher = ActiveContext(
    role: .init(id: "0190b2a4-7c1e-7d3a-9f00-000000000001", name: "Docente"),
    school: .init(id: "school-7", name: "Colegio São João"), unit: .init(id: "5B", name: ""),
    permissions: ["materials:write", "materials:read"])

  static let head = ActiveContext(role: .init(id: "head", name: "Head"))

  /// Times at and before the beginning, at the ends of the calendar that RFC 3339 can write.
  static let times: [(Timestamp, SessionRecord.Content)] = [
    (Timestamp(milliseconds: 0), .note(.closed)), (Timestamp(milliseconds: -1), .note(.closed)),
    (Timestamp(milliseconds: -62_167_219_200_000), .note(.closed)),
    (Timestamp(milliseconds: 253_402_300_799_999), .note(.closed)),
    (Timestamp(milliseconds: .max), .note(.closed)),
    (Timestamp(milliseconds: .min), .note(.closed)),
  ]

  static let events: [SessionEvent] = [
    .login(.init(user: user, method: .password, token: token(1, id: user), context: teacher)),
    .login(
      .init(
        user: "alumno-12", method: LoginMethod(rawValue: 200),
        token: token(.max, isRefreshable: false))),
    .refreshSucceeded(
      .init(
        token: token(2, id: "jti-2"), trigger: .schedule, attempt: 1, isRotated: true, request: 4)),
    .refreshFailed(
      .init(
        generation: Generation(2), trigger: .unauthorized, attempt: 3,
        failure: .init(
          kind: .rateLimited, status: 429, serverCode: "RATE_LIMITED",
          retryAfter: .milliseconds(1500)), retryAt: time.advanced(by: 1500), request: 7)),
    .refreshFailed(
      .init(
        generation: Generation(2), trigger: .retry, attempt: .max,
        failure: .init(kind: .noRefreshToken), retryAt: nil, request: 0)),
    .contextSwitched(.init(context: head, token: token(3), trigger: .user, request: 9)),
    .contextSwitched(.init(context: teacher, token: nil, trigger: .server, request: 0)),
    .sessionExpired(.init(reason: .refreshRejected)), .logout(.init(reason: .user)),
    .refreshFailed(
      .init(
        generation: Generation(2), trigger: .unauthorized, attempt: 3,
        failure: .init(kind: .rejected, status: 401, serverCode: "RENEWAL_REUSED"), retryAt: nil,
        request: 7, configuredMeaning: .refreshTokenReused)),
  ]

  static let notes: [SessionNote] = [
    .opened(.init(process: 4242, boot: user, uptime: 86_400_000)),
    .opened(.init(process: 0, boot: nil, uptime: -1)),
    .opened(.init(process: 7, boot: nil, uptime: 0, app: AppVersion("2.4.1+318"))), .closed,
    .tailCut(.init(bytes: 96, isUndetermined: true)),
    .requestSent(
      .init(
        kind: .switchContext, generation: Generation(2), trigger: .manual, attempt: 1,
        process: 4242, deadline: time.advanced(by: 30_000))),
    .requestEnded(.init(request: 9, failure: .init(kind: .server, status: 503))),
    .tokenRecovered(Generation(7)), .revocationPending(Generation(7)),
    .revocationSettled(.init(generation: Generation(7), outcome: .revoked, status: 401)),
    .secretsWiped(.otherJournal), .itemUnreadable(.context),
    .continued(.init(journal: user, sequence: 412, cause: .damaged)),
    .continued(.init(journal: nil, sequence: 0, cause: .notAJournal)), .clockSkew(-7_200_000),
    .localDataCleared,
    .opened(.init(process: 1, boot: user, uptime: 5, app: AppVersion("2.4.1"), identity: identity)),
    .opened(.init(process: 1, boot: nil, uptime: 5, identity: .init(opening: "opening-2"))),
    .requestSent(
      .init(
        kind: .refresh, generation: Generation(2), trigger: .schedule, attempt: 1, process: 1,
        deadline: time.advanced(by: 30_000), identity: identity)),
    .answerDropped(.init(request: 9, cause: .failed)),
    .storageFailed(.init(item: .token, operation: .write, cause: .noRoom, number: 28)),
    .storageFailed(.init(item: .user, operation: .read, cause: .failed, number: -25_300)),
    .storageRecovered(.init(item: .token, operation: .write)), .answerUnused(9),
    .deviceClockUsed(Generation(7)), .moved, .locked(.unused), .unlocked,
    .refreshTokenLife(.init(generation: Generation(7), milliseconds: 604_800_000)),
    .tokensBound(
      .init(
        generation: Generation(7), thumbprint: "0ZcOCORZNYy-DWpqq30jZyJGHTN0d2HglBV3uiguA4I")),
    .userNeeded(
      .init(
        generation: Generation(7), isOfCall: true,
        failure: RequestFailure(
          kind: .userNeeded, status: 401, serverCode: "insufficient_user_authentication"),
        demand: AuthenticationDemand("max_age=300 acr=urn:example:loa2"))),
    .userNeeded(
      .init(
        generation: Generation(7), isOfCall: false,
        failure: RequestFailure(
          kind: .userNeeded, status: 400, serverCode: "interaction_required"))),
    .opened(
      .init(
        process: 1, boot: nil, uptime: 5, app: AppVersion("2.4.1"),
        identity: .init(opening: "opening-2"), platform: .iOS)),
    .opened(
      .init(
        process: 1, boot: nil, uptime: 5, identity: .init(opening: "opening-2"), platform: .iOS,
        policy: RecordedPolicy(.offlineFirst))),
  ]

  static let identity = ProcessIdentity(
    opening: "5b1e7f60-0000-4000-8000-00000000000a", boot: user, namespace: "4026531836+4026531834",
    start: 8_412, lock: "64769-131")

  static let unknowns: [SessionRecord.Unknown] = [
    .init(kind: 0x09, payload: [1, 0xFE, 0]), .init(kind: 0xEE, payload: []),
  ]

  /// Each state, with and without the data that outlives it; none ends after record 7.
  static let snapshots: [SessionFold] = [
    fold([
      .event(events[0]), .note(.revocationPending(Generation(7))), .note(notes[5]),
      .failed(.init(kind: .server, status: 503, serverCode: "DB_DOWN"), 1, 3), .note(notes[5]),
      .event(events[6]), .note(.revocationPending(Generation(2))),
    ]),
    fold([.event(events[0]), .event(.sessionExpired(.init(reason: .inactivity))), .note(.closed)]),
    fold([.event(events[1]), .event(events[8])]), fold([]),
    fold([.event(events[0]), .note(notes[18])]),
  ]

  private static func fold(_ contents: [SessionRecord.Content]) -> SessionFold {
    zip(UInt64(1)..., contents).reduce(into: SessionFold()) { fold, next in
      let record = SessionRecord(sequence: next.0, time: time, content: next.1)
      do { try fold.apply(record) } catch { Issue.record("\(error)") }
    }
  }

  static var all: [(time: Timestamp, content: SessionRecord.Content)] {
    events.map { (time, .event($0)) } + notes.map { (time, .note($0)) }
      + unknowns.map { (time, .unknown($0)) } + times + snapshots.map { (time, .snapshot($0)) }
  }
}

/// A file of the repository, and the tables of a Markdown page.
struct SpecFile {
  let lines: [String]

  /// The repository's root, relative to this source file.
  static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent()

  init(_ path: String) throws {
    let text = try String(contentsOf: Self.root.appending(path: path), encoding: .utf8)
    lines = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
  }

  /// The rows of the first table under the heading that ends with `heading`, without its own
  /// heading rows; each row's cells by the column's name, code marks taken off.
  func table(under heading: String) -> [[String: String]] {
    let start = lines.firstIndex { $0.hasPrefix("#") && $0.hasSuffix(" " + heading) }
    guard let start else { return [] }
    let section = lines[(start + 1)...].prefix { !$0.hasPrefix("#") }
    let rows = section.drop { !$0.hasPrefix("|") }.prefix { $0.hasPrefix("|") }.map(Self.cells)
    guard let names = rows.first else { return [] }
    return rows.dropFirst(2).map { cells in
      Dictionary(zip(names, cells), uniquingKeysWith: { first, _ in first })
    }
  }

  private static func cells(_ row: String) -> [String] {
    row.dropFirst().split(separator: "|", omittingEmptySubsequences: false).dropLast().map {
      $0.trimmingCharacters(in: CharacterSet(charactersIn: " `"))
    }
  }
}
