/// A record that has not been written: what a caller hands over to be appended.
public struct JournalDraft: Equatable, Sendable {
  /// What the payload is; 1…0x7E, or 0x80…0xFE where a reader that does not know it may pass it by.
  ///
  /// 0, 0x7F and 0xFF belong to the journal and are refused with `JournalError.reservedKind`.
  public var kind: UInt8

  /// The bytes to keep; at most the journal's maximum record size, may be empty.
  public var payload: [UInt8]

  /// Makes a draft of a kind and its bytes.
  public init(kind: UInt8, payload: [UInt8]) {
    self.kind = kind
    self.payload = payload
  }
}
