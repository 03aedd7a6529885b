/// Why the server did not do what it was asked, without any text of the server.
///
/// The server's texts may hold values of a row, and those of the client library may hold parts of a
/// connection string. So none of them is kept: only the code of the error, in words of our own.
public enum ServerProblem: Error, Equatable, Sendable {
  /// The connection failed, or could not be made.
  case unreachable(Cause)

  /// No connection of the pool was free in time.
  case noConnection

  /// The server refused a statement; the code is a SQLSTATE of five characters.
  case refused(code: String)

  /// The schema has another version than this library; 0 is none.
  case schemaVersion(found: Int)

  /// The server did not answer in time, so the connection was given up.
  case silent

  /// A commit waits for a synchronous standby that does not answer, and nothing limits that wait.
  case standbyMissing

  /// The commit is on the server, and its wait for a synchronous standby was cancelled.
  case notReplicated

  /// Why there is no connection.
  public enum Cause: String, Equatable, Sendable, CaseIterable {
    /// No server listens at the address.
    case refused = "no server listens at the address"
    /// The name of the host is unknown.
    case host = "the name of the host is not known"
    /// User or password are wrong, or the server does not let this user in.
    case login = "the server does not accept the user or the password"
    /// There is no such database.
    case database = "the server has no such database"
    /// There is no encrypted connection, although it is demanded.
    case encryption = "there is no encrypted connection of the kind that is demanded"
    /// The server is a standby, which cannot write.
    case standby = "the server is a standby, which cannot write"
    /// All connections of the server are in use.
    case full = "all connections of the server are in use"
    /// The server starts, or stops.
    case starting = "the server starts or stops"
    /// The connection broke.
    case broken = "the connection broke"
  }

  /// What happened, in words that follow a colon.
  public var explanation: String {
    switch self {
    case .unreachable(let cause): cause.rawValue
    case .noConnection: "all connections of this process are in use"
    case .schemaVersion(let found):
      "the schema has version \(found), and this library needs version \(LogSQL.version)"
    case .silent: "the server did not answer in time"
    case .standbyMissing: "a commit waits for a synchronous standby that does not answer"
    case .notReplicated: "the commit is not known to be on the server's synchronous standby"
    case .refused(let code): "the server refused a statement (\(words(of: code)), code \(code))"
    }
  }

  /// Whether another opening has what the statement needs.
  var isLockHeld: Bool {
    if case .refused(let code) = self { ["55P03", "40001", "40P01"].contains(code) } else { false }
  }

  /// Whether the connection is lost.
  var isOfConnection: Bool {
    switch self {
    case .unreachable, .silent: true
    case .noConnection, .schemaVersion, .refused, .standbyMissing, .notReplicated: false
    }
  }

  /// Whether a commit that ended so may have happened.
  var leavesCommitUnknown: Bool {
    isOfConnection || self == .standbyMissing || self == .notReplicated
  }

  private func words(of code: String) -> String {
    switch code {
    case "42P01", "3F000": "the schema was not created"
    case "42501": "the role has no right to do this"
    case "42704": "there is no such role"
    case "53100": "its disk is full"
    case "57014": "the statement took too long"
    case "25P03": "the transaction was idle for too long"
    case "57P01", "57P02", "57P03": "the server stops"
    default: "unexpected"
    }
  }
}

extension ServerProblem.Cause {
  /// Classifies a failed connection by the message of the client library, which is not kept.
  init(message: String) {
    let causes: [(String, Self)] = [
      ("Connection refused", .refused), ("No such file or directory", .refused),
      ("could not translate host name", .host), ("authentication failed", .login),
      ("no password supplied", .login), ("no pg_hba.conf entry", .login),
      ("role \"", .login), ("database \"", .database), ("SSL", .encryption),
      ("read-only", .standby), ("in hot standby", .standby), ("recovery", .standby),
      ("too many", .full), ("remaining connection slots", .full),
      ("starting up", .starting), ("shutting down", .starting),
    ]
    self = causes.first { message.contains($0.0) }?.1 ?? .broken
  }
}
