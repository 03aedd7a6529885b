import Foundation
import PostgresLog
import SessionJournal
import SessionKit

/// What stops the program.
struct Stop: Error {
  let text: String
  let code: Int32
}

@main
enum PostgresLogProgram {
  private static let usage = """
    Usage: postgreslog [--schema NAME] COMMAND

      create [--sessions ROLE] [--readers ROLE]   Create the schema, and give roles their rights.
      import KEY FILE [--secrets FOLDER]          Copy a journal, and secrets in files, to a key.
      export KEY FILE                             Write the log of a key as a journal; - is standard output.
      delete KEY                                  Remove the log of a key and its secrets.

    The connection is that of POSTGRESLOG_CONNECTION, or of PGHOST, PGDATABASE and so on. It is no option,
    because other users of the machine can read options. Exit codes: 0 ok, 64 usage, 65 data, 66 missing,
    69 server, 73 the output exists or cannot be written, 75 the journal is in use.
    """

  static func main() {
    do {
      try run(Array(CommandLine.arguments.dropFirst()))
    } catch let stop as Stop {
      FileHandle.standardError.write(Data((stop.text + "\n").utf8))
      exit(stop.code)
    } catch {
      FileHandle.standardError.write(Data("\(error)\n".utf8))
      exit(1)
    }
  }

  private static func run(_ arguments: [String]) throws {
    var words = arguments
    var options: [String: String] = [:]
    for name in ["--schema", "--sessions", "--readers", "--secrets"] {
      guard let place = words.firstIndex(of: name) else { continue }
      guard place + 1 < words.count else { throw Stop(text: usage, code: 64) }
      options[name] = words[place + 1]
      words.removeSubrange(place...place + 1)
    }
    let allowed: Set<String> =
      switch words.first {
      case "create": ["--schema", "--sessions", "--readers"]
      case "import": ["--schema", "--secrets"]
      default: ["--schema"]
      }
    guard !words.contains(where: { $0.hasPrefix("--") }), allowed.isSuperset(of: options.keys)
    else { throw Stop(text: usage, code: 64) }
    var settings = PostgresDatabase.Options()
    settings.connections = 1
    if let schema = options["--schema"] { settings.schema = schema }
    let connection = ProcessInfo.processInfo.environment["POSTGRESLOG_CONNECTION"] ?? ""
    let database: PostgresDatabase
    do throws(PostgresConfigurationError) {
      database = try PostgresDatabase(connection: connection, options: settings)
    } catch {
      throw Stop(text: "\(error)", code: 64)
    }
    switch (words.first, words.count) {
    case ("create", 1):
      try create(database, .init(sessions: options["--sessions"], readers: options["--readers"]))
    case ("import", 3): try load(words[1], words[2], database, secrets: options["--secrets"])
    case ("export", 3): try save(words[1], words[2], database)
    case ("delete", 2): try delete(words[1], database)
    default: throw Stop(text: usage, code: 64)
    }
  }

  private static func create(_ database: PostgresDatabase, _ roles: PostgresDatabase.Roles) throws {
    do throws(PostgresSchemaError) { try database.createSchema(for: roles) } catch {
      if case .configuration = error { throw Stop(text: "\(error)", code: 64) }
      throw Stop(text: "\(error)", code: 69)
    }
    print("\(database.name) is ready")
  }

  private static func load(
    _ key: String, _ file: String, _ database: PostgresDatabase, secrets folder: String?
  ) throws {
    let place = PostgresLogPlace(key, in: database)
    if let folder { try requireFolder(folder) }
    let store = folder.map { FileSecretStore(folder: $0) }
    do throws(MigrationError) {
      let done =
        file == "-"
        ? try place.importJournal(standardInput(), secrets: store)
        : try place.importJournal(at: file, secrets: store)
      print(
        "\(file) → \(place.name): \(done.records) records to seq \(done.lastSequence), "
          + "\(done.secrets) secrets")
      if file != "-" { print("Remove \(file) now: no session may open it again.") }
    } catch {
      throw Stop(text: "\(error)", code: code(of: error))
    }
  }

  private static func standardInput() throws(MigrationError) -> JournalReader {
    let bytes = Array(FileHandle.standardInput.readDataToEndOfFile())
    do throws(JournalError) { return try JournalReader(bytes: bytes, name: "-") } catch {
      throw .log(error)
    }
  }

  /// A store of files takes a missing folder for one without secrets.
  private static func requireFolder(_ path: String) throws(Stop) {
    var isFolder: ObjCBool = false
    guard FileManager.default.fileExists(atPath: path, isDirectory: &isFolder), isFolder.boolValue
    else {
      throw Stop(
        text:
          "\(path) is no folder, so there are no secrets to move. Nothing was changed. Check the "
          + "path, or leave --secrets out: the user must then log in again.", code: 66)
    }
  }

  private static func save(_ key: String, _ file: String, _ database: PostgresDatabase) throws {
    let place = PostgresLogPlace(key, in: database)
    do throws(MigrationError) {
      guard file != "-" else {
        _ = try place.exportJournal { bytes in FileHandle.standardOutput.write(Data(bytes)) }
        return
      }
      let output = try NewFile(file)
      let done = try place.exportJournal { bytes throws(MigrationError) in
        try output.write(bytes)
      }
      try output.finish()
      print(
        "\(place.name) → \(file): \(done.records) records to seq \(done.lastSequence). The secrets "
          + "stay in the database: a session of the file must log in again.")
    } catch {
      throw Stop(text: "\(error)", code: code(of: error))
    }
  }

  private static func delete(_ key: String, _ database: PostgresDatabase) throws {
    let place = PostgresLogPlace(key, in: database)
    do throws(JournalError) { try place.delete() } catch {
      throw Stop(text: "\(error)", code: 69)
    }
    print("\(place.name) is removed")
  }

  private static func code(of error: MigrationError) -> Int32 {
    switch error {
    case .output: 73
    case .keyInUse, .alreadyMoved, .notWhole: 65
    case .secrets, .uncertain: 69
    case .inUse: 75
    case .otherStore: 64
    case .log(let error):
      switch error {
      case .missing, .folderMissing, .isDirectory, .permissionDenied, .emptyPath: 66
      case .unavailable, .busy: 69
      default: 65
      }
    }
  }
}

/// A file that did not exist, of mode 0600; it is removed again unless it is finished.
final class NewFile {
  private let path: String
  private let descriptor: Int32
  private var isFinished = false

  init(_ path: String) throws(MigrationError) {
    self.path = path
    descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw .output(path: path, code: errno) }
  }

  deinit {
    guard descriptor >= 0 else { return }
    close(descriptor)
    if !isFinished { unlink(path) }
  }

  func write(_ bytes: [UInt8]) throws(MigrationError) {
    var rest = bytes[...]
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes { Foundation.write(descriptor, $0.baseAddress, $0.count) }
      guard count > 0 else { throw .output(path: path, code: errno) }
      rest = rest.dropFirst(count)
    }
  }

  func finish() throws(MigrationError) {
    guard fsync(descriptor) == 0 else { throw .output(path: path, code: errno) }
    isFinished = true
  }
}
