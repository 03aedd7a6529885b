internal import CPostgres

/// The settings of a connection: libpq's names and values, which may hold a password.
struct ConnectionSettings: Sendable, CustomStringConvertible, CustomReflectable {
  let values: [(String, String)]

  /// The name of the database, as far as the settings say.
  let database: String

  init(_ connection: String, _ options: PostgresDatabase.Options)
    throws(PostgresConfigurationError)
  {
    // The library's message is not read: it may repeat a part of the string.
    guard let parsed = PQconninfoParse(connection, nil) else { throw .connectionString }
    defer { PQconninfoFree(parsed) }
    var found: [String: String] = [:]
    var entry = parsed
    while let keyword = entry.pointee.keyword {
      if let value = entry.pointee.val { found[String(cString: keyword)] = String(cString: value) }
      entry += 1
    }
    database = found["dbname"] ?? Self.defaultDatabase
    // A standby cannot append, and its answers may be old.
    found["target_session_attrs"] = "read-write"
    if found["connect_timeout"] == nil { found["connect_timeout"] = "10" }
    if found["application_name"] == nil { found["application_name"] = "session-log" }
    found["client_encoding"] = "UTF8"
    values = found.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
  }

  /// The database that libpq takes if the settings name none: that of PGDATABASE.
  private static var defaultDatabase: String {
    let defaults = PQconndefaults()
    defer { PQconninfoFree(defaults) }
    var entry = defaults
    while let option = entry, let keyword = option.pointee.keyword {
      if String(cString: keyword) == "dbname", let value = option.pointee.val {
        return String(cString: value)
      }
      entry = option + 1
    }
    return "default"
  }

  var description: String { "settings of a connection" }
  var customMirror: Mirror { Mirror(self, children: []) }
}

/// Why a database cannot be used as it is configured.
public enum PostgresConfigurationError: Error, Equatable, Sendable {
  /// The connection string has another form than libpq expects.
  case connectionString
  /// The name of a schema or role has characters that are not allowed.
  case schemaName(String)
  /// The number of connections is below 1.
  case connections(Int)
}

extension PostgresConfigurationError: CustomStringConvertible {
  /// Says what is wrong, the consequence and the next step; never a part of the connection string.
  public var description: String {
    switch self {
    case .connectionString:
      "The connection string has no form that libpq knows. Nothing was connected. It is not shown "
        + "here, since it may hold a password. Write host=… dbname=… or postgresql://…"
    case .schemaName(let name):
      "\(name.debugDescription) cannot be the name of a schema or role. Nothing was connected. Use a "
        + "lowercase letter, then lowercase letters, digits and _, 63 characters at most."
    case .connections(let count):
      "A pool of \(count) connections cannot serve a call. Nothing was connected. Allow at least 1."
    }
  }
}
