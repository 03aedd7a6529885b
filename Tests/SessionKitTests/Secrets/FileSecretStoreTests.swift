import ChildProcesses
import Foundation
import SessionKit
import Testing

@Suite("Secrets in files")
final class FileSecretStoreTests {
  let parent = FileManager.default.temporaryDirectory
    .appending(path: "secrets-\(UUID().uuidString)")
  var folder: String { parent.appending(path: "store").path }
  var store: FileSecretStore { FileSecretStore(folder: folder) }

  init() throws {
    try FileManager.default.createDirectory(at: parent, withIntermediateDirectories: true)
  }

  deinit {
    do { try FileManager.default.removeItem(at: parent) } catch {}
  }

  private func mode(_ path: String) throws -> Int? {
    try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
  }

  private func names() throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: folder).sorted()
  }

  @Test("STO-2 a process without standard input writes and reads items, with descriptor 0")
  func noStandardInput() async {
    await #expect(processExitsWith: .success) { [folder = folder as String] in
      close(0)
      let store = FileSecretStore(folder: folder)
      try store.write(.token, [1, 2, 3])
      exit(try store.read(.token) == [1, 2, 3] ? 0 : 1)
    }
  }

  @Test("STO-2 an item is read back as written, and a missing item or folder reads as nil")
  func roundTrip() throws {
    #expect(try store.read(.token) == nil)
    try store.remove(.token)
    for bytes in [[], [1, 2, 3], [UInt8](repeating: 7, count: 100_000)] {
      try store.write(.token, bytes)
      #expect(try store.read(.token) == bytes)
    }
    try store.write(.user, [9])
    try store.remove(.token)
    #expect(try store.read(.token) == nil)
    #expect(try store.read(.user) == [9])
    #expect(try names() == ["user"])
  }

  @Test("STO-2 files have mode 0600 in a folder with 0700, and wider modes are corrected")
  func modes() throws {
    try store.write(.token, [1])
    #expect(try mode(folder) == 0o700)
    #expect(try mode(folder + "/token") == 0o600)
    chmod(folder, 0o755)
    chmod(folder + "/token", 0o644)
    #expect(try store.read(.token) == [1])
    #expect(try mode(folder + "/token") == 0o600)
    try store.write(.user, [2])
    #expect(try mode(folder) == 0o700)
  }

  @Test("STO-1 the app chooses the names of the items")
  func ownNames() throws {
    var names = FileSecretStore.Names()
    names.token = "edugo_auth_token"
    let store = FileSecretStore(folder: folder, names: names)
    try store.write(.token, [1])
    #expect(try self.names() == ["edugo_auth_token"])
    #expect(try store.read(.token) == [1])
  }

  @Test("STO-2 the rest of an interrupted write is no item, and is removed with its item")
  func leftover() throws {
    try store.write(.token, [1])
    try Data([6, 6, 6]).write(to: URL(filePath: folder + "/token.new"))
    #expect(try store.read(.token) == [1])
    try store.write(.token, [2])
    #expect(try names() == ["token"])
    try Data([6, 6, 6]).write(to: URL(filePath: folder + "/token.new"))
    try store.remove(.token)
    #expect(try names() == [])
  }

  @Test(
    "REF-20 on a full disk an item fits into its reserve, and a longer one keeps the reserve",
    .enabled(if: MountedDisk.isAllowed, "mounting takes root"))
  func reserve() throws {
    let disk = try MountedDisk()
    let store = FileSecretStore(folder: disk.folder + "/store")
    let draft = disk.folder + "/store/token.new"
    func size() throws -> UInt64? {
      try FileManager.default.attributesOfItem(atPath: draft)[.size] as? UInt64
    }
    func item(_ length: Int) -> [UInt8] { [UInt8](repeating: 7, count: length) }
    #expect(store.reservesRoom)
    try store.write(.token, [1])
    for length in [100_000, 20_000] {
      try store.reserve(.token, bytes: length)
      #expect(try size() == UInt64(length) && mode(draft) == 0o600)
    }
    try disk.fill()
    // A longer reserve is refused, and the one that another request may need stays.
    let longer = SecretStoreError.noRoomForNext(
      item: .token, place: disk.folder + "/store/token", bytes: 40_000)
    #expect(throws: longer) { try store.reserve(.token, bytes: 40_000) }
    #expect(try size() == 20_000)
    #expect(throws: SecretStoreError.noSpace(item: .token, place: disk.folder + "/store/token")) {
      try store.write(.token, item(40_000))
    }
    #expect(try store.read(.token) == [1])
    try store.write(.token, item(20_000))
    #expect(try store.read(.token) == item(20_000))
    #expect(try FileManager.default.contentsOfDirectory(atPath: store.folder) == ["token"])
    try disk.fill()
    #expect(throws: SecretStoreError.self) { try store.reserve(.token, bytes: 20_000) }
    #expect(try FileManager.default.contentsOfDirectory(atPath: store.folder) == ["token"])
    try disk.empty()
    try store.reserve(.token, bytes: 20_000)
    try store.remove(.token)
    #expect(try FileManager.default.contentsOfDirectory(atPath: store.folder).isEmpty)
  }

  @Test("REF-20 STO-3 no secret is written into a second name of a draft, nor through a link")
  func foreignDraft() throws {
    try store.write(.user, [1])
    for isLink in [false, true] {
      let (draft, other) = (folder + "/token.new", folder + "/other")
      try Data([6, 6]).write(to: URL(filePath: other))
      #expect((isLink ? symlink(other, draft) : link(other, draft)) == 0)
      try store.reserve(.token, bytes: 9)
      try store.write(.token, [2])
      #expect(try store.read(.token) == [2])
      #expect(try Data(contentsOf: URL(filePath: other)) == Data([6, 6]))
    }
  }

  @Test("STO-2 a folder, a link or a pipe in an item's place is a typed error at once")
  func obstructed() throws {
    try store.write(.user, [1])
    try FileManager.default.createDirectory(
      atPath: folder + "/token", withIntermediateDirectories: false)
    try FileManager.default.createSymbolicLink(
      atPath: folder + "/context", withDestinationPath: folder + "/user")
    #expect(mkfifo(folder + "/revocation", 0o600) == 0)
    for item in [SecretItem.token, .context, .revocation] {
      let error = #expect(throws: SecretStoreError.self) { try self.store.read(item) }
      guard case .obstructed(let place, _) = error else {
        Issue.record("\(String(describing: error))")
        continue
      }
      #expect(place == folder + "/\(item)")
    }
    #expect(throws: SecretStoreError.self) { try self.store.write(.token, [1]) }
    #expect(try names() == ["context", "revocation", "token", "user"])
  }

  @Test("STO-2 a file in the folder's place, a missing parent or a huge item is an error")
  func bad() throws {
    try Data([1]).write(to: URL(filePath: folder))
    #expect(throws: SecretStoreError.obstructed(place: folder, by: "not a folder")) {
      try self.store.write(.token, [1])
    }
    let orphan = FileSecretStore(folder: parent.path + "/no/such")
    #expect(try orphan.read(.token) == nil)
    #expect(throws: SecretStoreError.self) { try orphan.write(.token, [1]) }
    let large = FileSecretStore(folder: parent.path + "/large")
    #expect(throws: SecretStoreError.self) {
      try large.write(.token, [UInt8](repeating: 0, count: (1 << 20) + 1))
    }
    let largest = [UInt8](repeating: 1, count: 1 << 20)
    try large.write(.token, largest)
    #expect(try large.read(.token) == largest)
  }

  @Test("RES-2 an item that was set aside reads as absent, and its bytes are kept with mode 0600")
  func setAside() throws {
    try store.setAside(.token)
    try store.write(.token, [1, 2])
    try store.setAside(.token)
    #expect(try store.read(.token) == nil)
    #expect(try Data(contentsOf: URL(filePath: folder + "/token.unreadable")) == Data([1, 2]))
    #expect(try mode(folder + "/token.unreadable") == 0o600)
    try store.write(.token, [3])
    try store.setAside(.token)
    #expect(try Data(contentsOf: URL(filePath: folder + "/token.unreadable")) == Data([3]))
  }

  @Test(
    "RES-3 LOG-13 an item without permission to read names owner and mode, and is not missing")
  func refused() async throws {
    try store.write(.token, [1])
    chmod(parent.path, 0o755)
    // Root can open every file, so a child process without that right must check.
    await #expect(processExitsWith: .success) { [folder = folder as String] in
      guard getuid() != 0 || setuid(65_534) == 0 else { exit(2) }
      do throws(SecretStoreError) {
        _ = try FileSecretStore(folder: folder).read(.token)
        exit(3)
      } catch {
        guard case .accessDenied(.token, folder + "/token", let rights, EACCES) = error else {
          exit(4)
        }
        // The folder may not be searched, so its item has no status.
        let denial =
          "\(folder) belongs to user 0 and has the mode 0700, and this process is user 65534"
        exit(getuid() != 65_534 || rights == denial ? 0 : 5)
      }
    }
  }
}
