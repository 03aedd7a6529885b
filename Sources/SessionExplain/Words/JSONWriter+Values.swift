@_spi(Internals) package import SessionCore
package import SessionJSON

extension JSONWriter {
  package mutating func field(_ name: StaticString, _ value: Identifier?) {
    guard let value else { return null(name) }
    guard let (high, low) = value.uuid else { return field(name, value.description) }
    // Written in place, since UUIDs are the largest part of many records.
    field(name, plainCount: Identifier.canonicalLength) { buffer in
      Identifier.writeCanonical(high, low, into: buffer)
    }
  }

  /// Writes a time in the format of `Timestamp.description`.
  package mutating func field(_ name: StaticString, _ value: Timestamp?) {
    guard let value else { return null(name) }
    field(name, milliseconds: value.milliseconds) { value.calendarDay }
  }
}
