import Foundation
@_spi(Internals) import SessionCore
import SessionJournal
@_spi(Internals) import SessionTestKit
import Testing

/// A journal whose every byte is known: one life of a session with all events and notes in it.
enum SampleJournal {
  static let start = Timestamp(milliseconds: 1_795_269_600_000)
  static let user: Identifier = "0190b2a4-7c1e-7d3a-9f00-5a5a5a5a5a5a"
  static let teacher = ActiveContext(
    role: .init(id: "r-1", name: "Docente"), school: .init(id: "s-7", name: "Colegio São João"),
    unit: .init(id: "5B", name: ""), permissions: ["materials:read", "materials:write"])
  static let head = ActiveContext(
    role: .init(id: "r-2", name: "Head\u{1B}[31m\u{202E}\n"), permissions: ["reports:read"])

  /// A moment, in milliseconds after the start, and the batch that was appended then.
  typealias Batch = (after: Int64, contents: [SessionRecord.Content])

  static func token(_ number: UInt64, at after: Int64, lives: Int64 = 2_000) -> TokenMetadata {
    let issued = start.advanced(by: after)
    return TokenMetadata(
      generation: Generation(number), issuedAt: issued, expiresAt: issued.advanced(by: lives),
      id: number == 1 ? "jti-1" : nil, isRefreshable: number != 6)
  }

  private static func sent(
    _ kind: RequestKind, _ generation: UInt64, _ trigger: RefreshTrigger, _ attempt: UInt32,
    at after: Int64
  ) -> Batch {
    (
      after,
      [
        .sent(
          generation, by: 4242, until: start.advanced(by: after + 30_000), trigger,
          attempt: attempt, kind: kind)
      ]
    )
  }

  private static func refreshed(
    _ token: TokenMetadata, _ trigger: RefreshTrigger, _ attempt: UInt32, _ request: UInt64
  ) -> SessionRecord.Content {
    .refreshed(token, request, trigger, attempt: attempt, isRotated: attempt == 1)
  }

  private static func failed(
    _ generation: UInt64, _ failure: RequestFailure, retryAt: Timestamp?, _ request: UInt64
  ) -> SessionRecord.Content { .failed(failure, generation, request, retryAt: retryAt) }

  static let batches: [Batch] = [
    (0, [.opened(by: 4242, app: AppVersion("2.4.1+318"))]),
    (105, [.login(user, token(1, at: 105), context: teacher)]),
    sent(.refresh, 1, .schedule, 1, at: 1_105),
    (1_150, [refreshed(token(2, at: 1_150), .schedule, 1, 3)]),
    sent(.refresh, 2, .schedule, 1, at: 2_150),
    (
      2_200,
      [
        failed(
          2,
          .init(
            kind: .server, status: 503, serverCode: "DB_TIMEOUT", retryAfter: .milliseconds(500)),
          retryAt: start.advanced(by: 2_700), 5)
      ]
    ), sent(.refresh, 2, .retry, 2, at: 2_700),
    (2_740, [refreshed(token(3, at: 2_740, lives: 900_000), .retry, 2, 7)]),
    sent(.switchContext, 3, .manual, 1, at: 10_000),
    (10_060, [.note(.requestEnded(.init(request: 9, failure: .init(kind: .noReply))))]),
    sent(.switchContext, 3, .manual, 1, at: 12_000),
    (12_050, [.switched(head, token(4, at: 12_050, lives: 3_600_000), 11)]),
    sent(.refresh, 4, .unauthorized, 1, at: 60_000),
    (
      60_080,
      [
        failed(
          4, .init(kind: .rejected, status: 401, serverCode: "TOKEN_EXPIRED"), retryAt: nil, 13),
        .event(.sessionExpired(.init(reason: .refreshRejected))),
      ]
    ), (3_700_000, [.login(user, token(5, at: 3_700_000, lives: 100_000_000), by: .biometric)]),
    (3_800_000, [.note(.tailCut(.init(bytes: 96, isUndetermined: true)))]),
    (
      3_800_001,
      [
        .note(.tokenRecovered(Generation(6))),
        refreshed(token(6, at: 3_799_000, lives: 5_400_000), .launch, 1, 0),
      ]
    ), (3_800_002, [.note(.itemUnreadable(.user))]),
    sent(.refresh, 6, .foreground, 1, at: 3_900_000),
    (
      90_000_000, [.event(.logout(.init(reason: .user))), .note(.revocationPending(Generation(6)))]
    ),
    (
      90_000_300,
      [.note(.revocationSettled(.init(generation: Generation(6), outcome: .failed, status: 503)))]
    ), (90_000_400, [.note(.secretsWiped(.signedOut))]),
    (90_000_500, [.unknown(.init(kind: 0xEE, payload: Array(0..<30)))]),
    (90_000_600, [.note(.closed)]),
  ]

  /// Writes the sample; with `closing` its end is proven durable by a watermark.
  static func write(to path: String, batches: [Batch] = batches, closing: Bool = true) throws {
    try write(
      to: path,
      drafts: batches.map { batch in
        batch.contents.map { content in
          let (kind, payload) = SessionCodec.encode(content, at: start.advanced(by: batch.after))
          return JournalDraft(kind: kind, payload: payload)
        }
      }, closing: closing)
  }

  static func write(to path: String, drafts: [[JournalDraft]], closing: Bool = true) throws {
    var options = JournalOptions()
    options.room = .none
    options.birth = .init(
      identifier: JournalIdentifier(high: 0x0123_4567_89AB_4DEF, low: 0x8123_4567_89AB_CDEF),
      salt: 0x5E55_1011)
    let journal = try Journal.open(at: path, options: options)
    for batch in drafts { _ = try journal.append(batch) }
    if closing { try journal.close() }
  }
}

/// A journal that takes a while to read.
enum LargeJournal {
  /// Writes a journal of about `size` bytes in blocks: records of unknown kinds and real ones.
  ///
  /// Only the second record is a logout.
  static func write(to path: String, size: Int, payload: Int) throws {
    try SampleJournal.write(
      to: path,
      batches: [SampleJournal.batches[1], (200, [.event(.logout(.init(reason: .user)))])],
      closing: false)
    var last = try end(of: path)
    let header = try JournalReader(path: path).header
    let file = try FileHandle(forWritingTo: URL(fileURLWithPath: path))
    try file.seekToEnd()
    var writer = FrameWriter(seed: header.seed, chain: last.chain)
    let (filler, body) = SessionCodec.encode(
      .unknown(.init(kind: 0xEE, payload: [UInt8](repeating: 0x41, count: payload))),
      at: SampleJournal.start)
    let (kind, note) = SessionCodec.encode(.note(.closed), at: SampleJournal.start)
    var written = 0
    while written < size {
      let draft =
        last.sequence % 8 == 0
        ? JournalDraft(kind: kind, payload: note) : JournalDraft(kind: filler, payload: body)
      writer.append(draft, sequence: last.sequence, durable: last.sequence - 1, remainingInBatch: 0)
      last.sequence += 1
      guard writer.bytes.count >= 4 << 20 else { continue }
      try file.write(contentsOf: writer.bytes)
      written += writer.bytes.count
      writer.removeBytes()
    }
    try file.close()
  }

  private static func end(of path: String) throws -> FramePosition {
    var reader = try JournalReader(path: path)
    _ = try reader.ending()
    return reader.wholeEnd
  }
}
