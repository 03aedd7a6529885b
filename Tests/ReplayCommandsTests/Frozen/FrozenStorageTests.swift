import ChildProcesses
import Foundation
@_spi(Internals) import SessionCore
import Synchronization
import Testing

@testable import ReplayCommands
@testable import SessionHTTP
@testable import SessionJournal
@testable import SessionKit
@testable import SessionTestKit

/// The names in `Specs/Frozen/names` that stored items, files and the environment have.
@Suite("Specs/Frozen/names: storage")
struct FrozenStorageTests {
  @Test("STO-1 STO-2 the members and names of stored items do not change")
  func items() throws {
    let backend = BackendIdentity(origins: ["https://api.example.com"], client: "app")
    var members = MemberPaths()
    func add(_ item: some StoredItem) throws {
      let bytes = item.encoded(for: backend)
      try members.add(Data(bytes), after: "\(type(of: item).item) ")
    }
    try add(token)
    try add(user)
    try add(StoredRefreshToken(journal: "j", fields: .init(generation: 1, refresh: "r")))
    let named = ActiveContext.Named(id: "1", name: "n")
    try add(
      StoredContext(
        journal: "j", generation: Generation(1),
        context: ActiveContext(role: named, school: named, unit: named, permissions: ["p"])
      ).continuing(["i"]))
    try add(revocations)
    let names = FileSecretStore.Names()
    let items = SecretItem.known.map { "item \($0) in \(names[$0])" }
    try FrozenNames("secrets").compare(with: members.paths.union(items + sources))
  }

  /// The possible sources of a user item.
  private var sources: [String] {
    let key = UserNameKey.random()
    let sources: [UserSource] = [
      .member("path"), .claim("path"), .claim("path", of: .identity), .digest("path", key),
      .userName(key),
    ]
    let labels = sources.map { $0.label(userID: ResponseMapping().userID) }
    return (labels + [UserOrigin.reader, UserOrigin.provider, UserOrigin.profile])
      .map { "source \($0)" }
  }

  private var use: LastActivity {
    LastActivity(at: 1, now: ClockReading(time: Timestamp(milliseconds: 1), uptime: 1), boot: "b")
  }

  private var token: StoredToken {
    StoredToken(
      journal: "j",
      fields: .init(
        continues: ["i"], missed: use, generation: 1, access: "a", refresh: "r", issuedAt: 0,
        expiresAt: 1, announcementKind: 1,
        announcement: Data([1]), boot: "b", deadline: 1,
        refreshPlace: RefreshPlace(journal: "j", generation: 1), journalPath: "p", owned: true,
        sessionEnd: 1, identity: "i"))
  }

  private var user: StoredUser {
    let fields = StoredUser.Fields(
      continues: ["i"], missed: use, id: "1", email: "e", firstName: "f", lastName: "l",
      further: ["member": "m"], used: use, source: "s", named: "n", subject: "x", journalPath: "p")
    return StoredUser(journal: "j", fields: fields)
  }

  private var revocations: StoredRevocations {
    var entry = StoredRevocations.Entry(token, of: "1", isAccount: true)
    (entry.isRefreshLost, entry.refreshingUntil, entry.isInDoubt) = (true, 1, true)
    (entry.done, entry.refusedSince) = (["d"], 1)
    (entry.isPage, entry.identity) = (true, "i")
    return StoredRevocations(
      journal: "j", fields: .init(newest: entry, earlier: [entry], journalPath: "p"))
  }

  @Test("STO-2 the attributes of keychain items do not change")
  func keychain() throws {
    // The code that calls the keychain is not compiled here, so this reads its table of constants.
    let text = try Repository.text("Sources/SessionKit/Keychain/KeychainSecretStore.swift")
    var constants: [String: String] = [:]
    for match in text.matches(of: /case \.(\w+): (kSec\w+)/) {
      constants[String(match.output.1)] = String(match.output.2)
    }
    let presence = try Repository.text("Sources/SessionKit/Keychain/UserPresence.swift")
    var names: Set<String> = ["biometry: " + (try accessControl(in: presence))]
    let protections: [(name: String, value: KeychainProtection)] = [
      ("after first unlock", .afterFirstUnlock), ("biometry", .biometry),
      ("biometry to refresh", .biometryToRefresh),
    ]
    for protection in protections {
      let door = RecordingKeychain()
      let store = KeychainItems(
        door: door, service: "S", accessGroup: "G", names: .init(), protection: protection.value)
      for item in SecretItem.known {
        try store.write(item, [1])
        _ = try store.read(item)
        try store.setAside(item)
        try store.removeSetAside(item)
        try store.remove(item)
      }
      for (call, query) in door.calls {
        for (key, value) in query.values {
          let name = try #require(constants["\(key)"])
          let said =
            switch value {
            case .text(let text): text
            case .flag(let flag): "\(flag)"
            case .bytes: "the bytes"
            default: constants["\(value)"] ?? "made by a call"
            }
          names.insert("\(protection.name): \(call) \(name) \(said)")
        }
      }
    }
    try FrozenNames("keychain").compare(with: names)
  }

  /// The arguments of the call that creates an access control; they have no constant.
  private func accessControl(in text: String) throws -> String {
    let call = /SecAccessControlCreateWithFlags\(\s*nil, (\w+), \.(\w+), nil\)/
    let match = try #require(try call.firstMatch(in: text))
    return "\(match.output.1) \(match.output.2)"
  }

  @Test(
    "STO-1 JRN-4 RPL-4 the names of files next to a journal, an item and an output do not change")
  func files() throws {
    var names = Set(FileSuffix.allCases.map(\.rawValue) + ItemSuffix.allCases.map(\.rawValue))
    names.insert(OutputFile.draftInfix)
    let aside = SetAsideJournal(of: "", number: 1, reason: "reason", time: "time")
    names.insert("form \(aside.path)")
    let folder = try TemporaryFolder()
    try Journals.write(into: folder)
    let draft = try OutputFile(folder.file("a"), overwrite: false).draft
    let own = "\(ProcessInfo.processInfo.processIdentifier)"
    names.insert("form \(draft.dropFirst(folder.file("a").count).replacing(own, with: "process"))")
    let repair = ToolRun.inProcess(
      ["repair", folder.file("damaged.journal"), "--in-place", "--json"])
    let backup = try #require(try repair.objects().first?["backup"] as? String)
    let form = backup.dropFirst(folder.file("damaged.journal").count)
    names.insert("form \(form.replacing(/\d{8}T\d{6}Z/, with: "time"))")
    let path = folder.file("torn.journal")
    let journal = try Journal.open(at: path)
    let tail = try #require(journal.recovery.repair?.keptAside)
    names.insert("form \(tail.dropFirst(path.count).replacing(/-\d+/, with: "-number"))")
    try journal.close()
    try FrozenNames("suffixes").compare(with: names)
    // A suffix that is spelled in other code would be missing from the tables.
    let literal = /"(?:\\\([^)]*\))?(\.[a-z]{2,}-?)["\\]/
    for source in try sources(in: ["Sources/SessionJournal", "Sources/SessionKit/Secrets"]) {
      let tables = /(?s)enum (?:File|Item)Suffix\b.*?\n}\n/
      let found = try Repository.text(source).replacing(tables, with: "").matches(of: literal)
        .map { $0.output.1 }
      #expect(found.isEmpty, "\(source) spells a suffix")
    }
  }

  @Test("RPL-5 TST-1 the environment variables do not change")
  func environment() throws {
    var names = ToolContext.Variable.allCases.map(\.rawValue)
    names += PropertySettings.Variable.allCases.map(\.rawValue)
    try FrozenNames("environment").compare(with: names)
    // A variable that is read by its name would be missing from the tables.
    let literal = /(?:environment\[|getenv\(|environment\()"([A-Z_]+)"/
    for source in try sources(in: ["Sources", "Tools/ReplayCommands", "Tools/sessionreplay"]) {
      let found = try Repository.text(source).matches(of: literal).map { $0.output.1 }
      #expect(found.isEmpty, "\(source) reads \(found)")
    }
  }

  private func sources(in folders: [String]) throws -> [String] {
    try folders.flatMap { folder in
      let root = Repository.root.appending(path: folder).path(percentEncoded: false)
      return try FileManager.default.subpathsOfDirectory(atPath: root)
        .filter { $0.hasSuffix(".swift") }.map { "\(folder)/\($0)" }
    }
  }
}

/// A keychain that has every item and records what it is asked.
private final class RecordingKeychain: KeychainDoor {
  private let log = Mutex<[(String, KeychainQuery)]>([])

  var calls: [(String, KeychainQuery)] { log.withLock { $0 } }

  private func record(_ name: String, _ query: KeychainQuery) -> Int32 {
    log.withLock { $0.append((name, query)) }
    return 0
  }

  func copy(_ query: KeychainQuery) -> (status: Int32, bytes: [UInt8]?) {
    (record("copy", query), [1])
  }

  func add(_ query: KeychainQuery) -> Int32 { record("add", query) }

  func update(_ query: KeychainQuery, to changes: KeychainQuery) -> Int32 {
    _ = record("update", query)
    return record("change", changes)
  }

  func delete(_ query: KeychainQuery) -> Int32 { record("delete", query) }
}
