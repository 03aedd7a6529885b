@_spi(Internals) import SessionCore
import SessionJournal

/// Journals that a test writes batch by batch.
enum JournalOfBatches {
  static let time = Timestamp(milliseconds: 1_767_225_600_000)

  static let login = SessionEvent.Login(
    user: Identifier("ada"), method: .password,
    token: TokenMetadata(
      generation: Generation(1), issuedAt: time, expiresAt: time.advanced(by: 3_600_000),
      isRefreshable: true))

  static func write(_ batches: [[SessionRecord.Content]], to path: String) throws {
    let journal = try Journal.open(at: path)
    for batch in batches {
      _ = try journal.append(
        batch.map { content in
          let (kind, payload) = SessionCodec.encode(content, at: time)
          return JournalDraft(kind: kind, payload: payload)
        })
    }
    try journal.close()
  }
}
