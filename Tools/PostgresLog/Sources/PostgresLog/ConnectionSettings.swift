internal import CPostgres

/// The settings of a connection: libpq's names and values, which may hold a password.
struct ConnectionSettings: Sendable, CustomStringConvertible, CustomReflectable {
  /// The settings for each host of the list, at least one.
  let hosts: [[(String, String)]]

  /// The name of the database, as far as the settings say.
  let database: String

  init(_ connection: String) throws(PostgresConfigurationError) {
    // The library's message is not read: it may repeat a part of the string.
    guard let parsed = PQconninfoParse(connection, nil) else { throw .connectionString }
    defer { PQconninfoFree(parsed) }
    var found = Self.values(parsed)
    let defaults = PQconndefaults()
    defer { PQconninfoFree(defaults) }
    let others = Self.values(defaults)
    database = found["dbname"] ?? others["dbname"] ?? "default"
    // A standby cannot append, and its answers may be old.
    found["target_session_attrs"] = "read-write"
    // The library keeps this limit only if it waits itself.
    found["connect_timeout"] = nil
    if found["application_name"] == nil { found["application_name"] = "session-log" }
    found["client_encoding"] = "UTF8"
    for name in Self.lists where found["service"] == nil {
      found[name] = found[name] ?? others[name]
    }
    hosts = Self.hosts(found)
  }

  /// The settings with one value for each host.
  private static let lists = ["host", "hostaddr", "port"]

  /// Splits lists of hosts, addresses and ports; lists of different lengths stay for the library to
  /// refuse.
  private static func hosts(_ found: [String: String]) -> [[(String, String)]] {
    let split = lists.compactMap { name in
      found[name].map {
        (name, $0.split(separator: ",", omittingEmptySubsequences: false).map(String.init))
      }
    }
    let count = split.map { $0.0 == "port" ? 1 : $0.1.count }.max() ?? 1
    let isRegular = split.allSatisfy { name, values in
      values.count == count || name == "port" && values.count == 1
    }
    return (0..<(isRegular ? count : 1)).map { number in
      var host = found
      for (name, values) in split where isRegular {
        host[name] = values[values.count == 1 ? 0 : number]
      }
      return host.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
    }
  }

  /// The settings that have a value, by their names.
  private static func values(_ list: UnsafeMutablePointer<PQconninfoOption>?) -> [String: String] {
    var found: [String: String] = [:]
    var entry = list
    while let option = entry, let keyword = option.pointee.keyword {
      if let value = option.pointee.val { found[String(cString: keyword)] = String(cString: value) }
      entry = option + 1
    }
    return found
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
  /// The longest wait for an answer is no longer than the server may work on one statement.
  case answerLimit(Duration, statementLimit: Duration)
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
    case .answerLimit(let answer, let statement):
      "With an answerLimit of \(answer) a call gives its connection up while the server still works on "
        + "a statement, for \(statement) at most. Nothing was connected. Choose an answerLimit above the "
        + "statementLimit."
    }
  }
}
