internal import SessionExplain

/// An engine that reads rows, and the words in which it takes their columns.
///
/// An engine that guesses types turns the versions 1.9 and 1.10 into numbers, and a text that looks like
/// a day into a date. So the type of every column is stated.
enum RowSchema: String, CaseIterable {
  case duckdb = "duckdb"
  case clickhouse = "clickhouse"
  case polars = "polars"
  case pandas = "pandas"

  static let option = CommandSyntax.Option(
    name: "schema", value: "ENGINE", values: .words(allCases.map(\.rawValue)), isAlone: true,
    help: "Write the columns and types as duckdb, clickhouse, polars or pandas takes them")

  init?(_ arguments: Arguments) throws(ToolError) {
    guard let word = arguments.value(Self.option.name) else { return nil }
    guard let engine = Self(rawValue: word) else {
      let known = Self.allCases.map(\.rawValue)
      throw .usage(
        .badValue, "--schema cannot be '\(word.shortened)'.",
        next: Suggestion.nearest(to: word, in: known).map { "--schema \($0)" }
          ?? known.joined(separator: ", "))
    }
    self = engine
  }

  /// Returns the columns as one line.
  func line(of columns: [RowColumn]) -> String {
    let fields = columns.map { column -> String in
      switch self {
      case .duckdb: "\(column.name): '\(type(of: column))'"
      case .clickhouse:
        // A key of a table may not be nullable, so only what can be absent is.
        column.isOptional
          ? "`\(column.name)` Nullable(\(type(of: column)))"
          : "`\(column.name)` \(type(of: column))"
      case .polars: "\"\(column.name)\": pl.\(type(of: column))"
      case .pandas: "\"\(column.name)\": \"\(type(of: column))\""
      }
    }
    let line = fields.joined(separator: ", ")
    return self == .clickhouse ? line : "{\(line)}"
  }

  private func type(of column: RowColumn) -> String {
    switch (self, column.kind) {
    case (.duckdb, .text): "VARCHAR"
    case (.duckdb, .time): "TIMESTAMP"
    case (.duckdb, .flag): "BOOLEAN"
    case (.duckdb, .milliseconds): "BIGINT"
    case (.duckdb, .count(8)): "UTINYINT"
    case (.duckdb, .count(16)): "USMALLINT"
    case (.duckdb, .count(32)): "UINTEGER"
    case (.duckdb, .count): "UBIGINT"
    case (.clickhouse, .time): "DateTime64(3, 'UTC')"
    case (.clickhouse, .flag): "Bool"
    case (.polars, .time): "Datetime(\"ms\", \"UTC\")"
    case (.polars, .flag): "Boolean"
    // polars 2.1.0 reads no whole number below 32 bits from lines of JSON.
    case (.polars, .count(let bits)): "UInt\(max(bits, 32))"
    // pandas 3.1.1: `string` keeps a text as it is, and `Int64` can be absent, unlike `int64`.
    case (.pandas, .text): "string"
    case (.pandas, .time): "datetime64[ms, UTC]"
    case (.pandas, .flag): "boolean"
    case (_, .text): "String"
    case (_, .milliseconds): "Int64"
    case (_, .count(let bits)): "UInt\(bits)"
    }
  }
}
