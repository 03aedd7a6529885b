public import Foundation
public import SessionCore

extension Identifier {
  /// The identifier whose text is the canonical spelling of this UUID, in lower case.
  ///
  /// A server that spells the same UUID in capitals has another identifier: make it of the server's text.
  public init(_ uuid: UUID) {
    let bytes = uuid.uuid
    let high = [bytes.0, bytes.1, bytes.2, bytes.3, bytes.4, bytes.5, bytes.6, bytes.7]
    let low = [bytes.8, bytes.9, bytes.10, bytes.11, bytes.12, bytes.13, bytes.14, bytes.15]
    func number(_ bytes: [UInt8]) -> UInt64 { bytes.reduce(0) { $0 << 8 | UInt64($1) } }
    self.init(uuidHigh: number(high), low: number(low))
  }
}

extension Timestamp {
  /// The date, rounded to the nearest millisecond.
  ///
  /// A date that `Int64` milliseconds since 1970 cannot hold counts as the nearest bound. A date that is not a
  /// number counts as the earliest timestamp, so a time of expiry that nobody can read is over.
  public init(_ date: Date) {
    let milliseconds = (date.timeIntervalSince1970 * 1_000).rounded()
    if let exact = Int64(exactly: milliseconds) {
      self.init(milliseconds: exact)
    } else {
      self.init(milliseconds: milliseconds > 0 ? .max : .min)
    }
  }
}

extension Date {
  /// The timestamp as a date, such as `Date(token.expiresAt)`.
  ///
  /// `Timestamp(Date(timestamp))` is the same timestamp from the year 0 to the year 9999. Beyond, a `Date`
  /// rounds.
  public init(_ timestamp: Timestamp) {
    let (seconds, rest) = timestamp.milliseconds.quotientAndRemainder(dividingBy: 1_000)
    self.init(timeIntervalSince1970: Double(seconds) + Double(rest) / 1_000)
  }
}
