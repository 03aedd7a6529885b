public import Foundation
public import SessionCore

extension Identifier {
  /// Creates an identifier with the canonical text of this UUID, in lower case.
  ///
  /// If a server writes the UUID in capitals, its identifier is different. Create it from the
  /// server's text.
  public init(_ uuid: UUID) {
    // Lower case, as most servers write it. Two spellings are two identifiers, because a server may
    // tell them apart.
    let bytes = uuid.uuid
    let high = [bytes.0, bytes.1, bytes.2, bytes.3, bytes.4, bytes.5, bytes.6, bytes.7]
    let low = [bytes.8, bytes.9, bytes.10, bytes.11, bytes.12, bytes.13, bytes.14, bytes.15]
    func number(_ bytes: [UInt8]) -> UInt64 { bytes.reduce(0) { $0 << 8 | UInt64($1) } }
    self.init(uuidHigh: number(high), low: number(low))
  }
}

extension Timestamp {
  /// Creates the timestamp of a date, rounded to the nearest millisecond.
  ///
  /// A date outside the range of `Int64` milliseconds since 1970 becomes the nearest bound. A date
  /// that is not a number becomes the earliest timestamp, so that an unreadable time of expiry
  /// counts as past.
  public init(_ date: Date) {
    // A `Date` holds a `Double`, so cutting off would lose a millisecond on the way back.
    let milliseconds = (date.timeIntervalSince1970 * 1_000).rounded()
    if let exact = Int64(exactly: milliseconds) {
      self.init(milliseconds: exact)
    } else {
      self.init(milliseconds: milliseconds > 0 ? .max : .min)
    }
  }
}

extension Date {
  /// Creates the date of a timestamp, such as `Date(recorded.time)`.
  ///
  /// From the year 0 to the year 9999, `Timestamp(Date(timestamp))` is the same timestamp. Outside
  /// that range, a `Date` rounds.
  public init(_ timestamp: Timestamp) {
    let (seconds, rest) = timestamp.milliseconds.quotientAndRemainder(dividingBy: 1_000)
    self.init(timeIntervalSince1970: Double(seconds) + Double(rest) / 1_000)
  }
}

extension AppVersion {
  /// The version of the main bundle, as `2.4.1+318`; `nil` if the bundle has no version that can be
  /// read.
  ///
  /// It consists of `CFBundleShortVersionString` and, if present, `CFBundleVersion`. Tools and
  /// tests usually have none.
  public static let ofMainBundle = AppVersion(bundle: Bundle.main.infoDictionary ?? [:])

  init?(bundle properties: [String: Any]) {
    guard let version = properties["CFBundleShortVersionString"] as? String else { return nil }
    let build = (properties["CFBundleVersion"] as? String).map { "+\($0)" } ?? ""
    self.init(version + build)
  }
}
