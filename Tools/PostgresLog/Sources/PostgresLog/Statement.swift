/// One statement of SQL and its parameters, in PostgreSQL's binary format.
struct Statement: Sendable {
  /// The statement; each text is prepared once on a connection.
  let sql: String

  /// The parameters in order; nil is NULL.
  let parameters: [[UInt8]?]

  init(_ sql: String, _ parameters: [any Parameter] = []) {
    self.sql = sql
    self.parameters = parameters.map(\.binary)
  }
}

/// A value that can be a parameter of a statement.
protocol Parameter: Sendable {
  /// The value in PostgreSQL's binary format.
  var binary: [UInt8] { get }
}

extension FixedWidthInteger {
  fileprivate var bigEndianBytes: [UInt8] {
    (0..<Self.bitWidth / 8).reversed().map { UInt8(truncatingIfNeeded: self >> Self($0 * 8)) }
  }
}

extension Int16: Parameter { var binary: [UInt8] { bigEndianBytes } }
extension Int32: Parameter { var binary: [UInt8] { bigEndianBytes } }
extension Int64: Parameter { var binary: [UInt8] { bigEndianBytes } }
extension String: Parameter { var binary: [UInt8] { Array(utf8) } }
extension Bool: Parameter { var binary: [UInt8] { [self ? 1 : 0] } }

extension UInt64 {
  /// The bits as PostgreSQL's signed bigint.
  var bigint: Int64 { Int64(bitPattern: self) }
}

/// The bytes of a bytea or of a uuid.
struct Bytes: Parameter {
  let binary: [UInt8]

  init(_ bytes: [UInt8]) { binary = bytes }
}

/// An array with one dimension, without nulls.
struct List: Parameter {
  let binary: [UInt8]

  init(_ elements: [Int64]) { self.init(elements, type: 20) }
  init(_ elements: [Int16]) { self.init(elements, type: 21) }
  init(_ elements: [Int32]) { self.init(elements, type: 23) }
  init(_ elements: [Bytes]) { self.init(elements, type: 17) }

  /// `type` is the number of the element type in PostgreSQL's catalog.
  private init(_ elements: [some Parameter], type: Int32) {
    var bytes: [UInt8] = []
    bytes += Int32(elements.isEmpty ? 0 : 1).binary
    bytes += Int32(0).binary
    bytes += type.binary
    if !elements.isEmpty { bytes += Int32(elements.count).binary + Int32(1).binary }
    for element in elements {
      let binary = element.binary
      bytes += Int32(binary.count).binary
      bytes += binary
    }
    self.binary = bytes
  }
}

/// The rows that a statement returned, copied out of the client library.
struct Rows: Sendable {
  /// The number of rows.
  let count: Int

  /// The number of rows that the statement inserted, changed or removed.
  let affected: Int

  private let columns: Int
  private let cells: [Range<Int>?]
  private let bytes: [UInt8]

  init(count: Int, columns: Int, affected: Int, cells: [Range<Int>?], bytes: [UInt8]) {
    (self.count, self.columns, self.affected) = (count, columns, affected)
    (self.cells, self.bytes) = (cells, bytes)
  }

  /// The bytes of a value; nil if it is NULL or not there.
  func value(_ row: Int, _ column: Int) -> [UInt8]? {
    cell(row, column).map { Array(bytes[$0]) }
  }

  /// An integer of any width; 0 if it is NULL or not there.
  func integer(_ row: Int, _ column: Int) -> Int64 {
    guard let cell = cell(row, column), let first = bytes[cell].first else { return 0 }
    // The sign is that of the first byte.
    var value: Int64 = Int8(bitPattern: first) < 0 ? -1 : 0
    for byte in bytes[cell] { value = value << 8 | Int64(byte) }
    return value
  }

  /// The bits of a bigint.
  func unsigned(_ row: Int, _ column: Int) -> UInt64 { UInt64(bitPattern: integer(row, column)) }

  func text(_ row: Int, _ column: Int) -> String? {
    cell(row, column).map { String(decoding: bytes[$0], as: UTF8.self) }
  }

  private func cell(_ row: Int, _ column: Int) -> Range<Int>? {
    guard row < count, column < columns else { return nil }
    return cells[row * columns + column]
  }
}
