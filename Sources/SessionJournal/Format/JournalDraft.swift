/// A record that has not been written yet: the input of an append.
public struct JournalDraft: Equatable, Sendable {
  /// The kind of the payload, chosen by the caller.
  ///
  /// - 1 to 0x7E: every reader must know the kind.
  /// - 0x80 to 0xFE: a reader that does not know the kind may skip the record.
  /// - 0, 0x7F and 0xFF are reserved. An append refuses them with `JournalError.reservedKind`.
  public var kind: UInt8

  /// The bytes to store; possibly empty, at most the journal's maximum record size.
  public var payload: [UInt8]

  /// Creates a draft from a kind and its bytes.
  public init(kind: UInt8, payload: [UInt8]) {
    self.kind = kind
    self.payload = payload
  }
}
