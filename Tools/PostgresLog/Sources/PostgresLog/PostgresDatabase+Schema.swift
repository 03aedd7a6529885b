extension PostgresDatabase {
  /// The roles that may use a schema, besides its owner.
  public struct Roles: Sendable {
    /// Sessions: reads and writes logs and secrets.
    public var sessions: String?

    /// Support and statistics: reads logs, and no secrets.
    public var readers: String?

    /// Creates a set of roles; nil grants nothing.
    public init(sessions: String? = nil, readers: String? = nil) {
      (self.sessions, self.readers) = (sessions, readers)
    }
  }

  /// Creates the schema and its tables if they are missing, and grants rights.
  ///
  /// Call it as the owner of the database. Calling it again changes nothing but rights. Throws
  /// ``ServerProblem/schemaVersion(found:)`` if the schema has another version.
  public func createSchema(for roles: Roles = Roles()) throws(PostgresSchemaError) {
    for role in [roles.sessions, roles.readers] {
      if let role, !LogSQL.isName(role) { throw .configuration(.schemaName(role)) }
    }
    do throws(ServerProblem) {
      try withOwner { slot throws(ServerProblem) in
        let silence = LogSQL.ownerSilence
        _ = try slot.run([LogSQL.begin] + LogSQL.ownerPatience + tables, silence: silence)
        let found = try slot.run([sql.readVersion], silence: silence).first?.integer(0, 0) ?? 0
        guard found == LogSQL.version else { throw .schemaVersion(found: Int(found)) }
        _ = try slot.run(grants(roles) + [LogSQL.commit], silence: silence)
      }
    } catch {
      throw .server(database: name, error)
    }
  }

  private var tables: [Statement] {
    let schema = options.schema
    return [
      // Two processes that create the schema at the same time take turns.
      Statement("SELECT pg_advisory_xact_lock(hashtext('session log schema'))"),
      Statement("CREATE SCHEMA IF NOT EXISTS \(schema)"),
      Statement("CREATE TABLE IF NOT EXISTS \(schema).version (version integer NOT NULL)"),
      Statement(
        "INSERT INTO \(schema).version SELECT \(LogSQL.version) "
          + "WHERE NOT EXISTS (SELECT 1 FROM \(schema).version)"),
      // Half of each page stays free, so that a new version of a row fits beside the old one.
      Statement(
        """
        CREATE TABLE IF NOT EXISTS \(schema).logs (
          log bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
          last_sequence bigint NOT NULL DEFAULT 0,
          first_sequence bigint NOT NULL DEFAULT 1,
          chain bigint NOT NULL DEFAULT \(Chain.empty.value.bigint),
          checksum bigint NOT NULL,
          record_size integer NOT NULL,
          identifier uuid NOT NULL UNIQUE,
          key text NOT NULL UNIQUE
        ) WITH (fillfactor = 50)
        """),
      Statement(
        """
        CREATE TABLE IF NOT EXISTS \(schema).records (
          log bigint NOT NULL,
          sequence bigint NOT NULL,
          chain bigint NOT NULL,
          remaining integer NOT NULL,
          kind smallint NOT NULL,
          payload bytea NOT NULL,
          snapshot_checksum bigint,
          PRIMARY KEY (log, sequence)
        )
        """),
      Statement(
        """
        CREATE TABLE IF NOT EXISTS \(schema).secrets (
          key text NOT NULL,
          item smallint NOT NULL,
          aside boolean NOT NULL,
          content bytea NOT NULL,
          PRIMARY KEY (key, item, aside)
        ) WITH (fillfactor = 50)
        """),
      Statement(
        "REVOKE ALL ON \(schema).version, \(schema).logs, \(schema).records, \(schema).secrets "
          + "FROM PUBLIC"),
    ]
  }

  private func grants(_ roles: Roles) -> [Statement] {
    let schema = options.schema
    var statements: [Statement] = []
    for role in [roles.sessions, roles.readers].compactMap({ $0 }) {
      statements.append(Statement("GRANT USAGE ON SCHEMA \(schema) TO \(role)"))
      statements.append(Statement("GRANT SELECT ON \(schema).version TO \(role)"))
    }
    if let role = roles.sessions {
      statements += [
        Statement("GRANT SELECT, INSERT, UPDATE, DELETE ON \(schema).logs TO \(role)"),
        // No UPDATE: a record never changes.
        Statement("GRANT SELECT, INSERT, DELETE ON \(schema).records TO \(role)"),
        Statement("GRANT SELECT, INSERT, UPDATE, DELETE ON \(schema).secrets TO \(role)"),
      ]
    }
    if let role = roles.readers {
      statements.append(
        Statement("GRANT SELECT ON \(schema).logs, \(schema).records TO \(role)"))
    }
    return statements
  }
}

/// Why a schema could not be created.
public enum PostgresSchemaError: Error, Equatable, Sendable, CustomStringConvertible {
  /// A name cannot be used.
  case configuration(PostgresConfigurationError)
  /// The server could not be reached, or refused.
  case server(database: String, ServerProblem)

  /// Says what happened, the consequence and the next step.
  public var description: String {
    switch self {
    case .configuration(let error): error.description
    case .server(let database, .schemaVersion(let found)):
      "The schema \(database) was not created: there is one of version \(found), and this version of the "
        + "package needs \(LogSQL.version). Nothing was changed. Choose another name of the schema, and "
        + "move the logs there."
    case .server(let database, let problem):
      "The schema \(database) was not created: \(problem.explanation). Nothing was changed. Connect "
        + "as the owner of the database, and try again."
    }
  }
}
