import Foundation
@_spi(Internals) import SessionCore
import SessionHTTP
import SessionJournal
import SessionKit
import SessionTestKit
import Testing

@testable import SessionAccounts

/// Accounts in real folders, with a real server on loopback.
@Suite("Accounts")
struct AccountsTests {
  private let bench: Bench
  private var directory: URL { bench.folder.appending(path: "accounts") }

  init() throws { bench = try Bench(users: [.sample, .bob]) }

  private func open(_ prepare: @escaping @Sendable (inout SessionConfiguration) -> Void = { _ in })
    async throws -> Accounts
  {
    let (backend, clock) = (HTTPBackend.snakeCaseJSON(bench.server.baseURL), bench.clock)
    return try await Accounts.open(directory: directory) { _, directory in
      var configuration = SessionConfiguration(
        directory: directory, backend: backend,
        secrets: FileSecretStore(folder: directory.path), policy: .bench, clock: clock)
      prepare(&configuration)
      return configuration
    }
  }

  private func names(_ id: Account.ID? = nil) throws -> [String] {
    let folder = id.map { directory.appending(path: "\($0)") } ?? directory
    return try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
  }

  private func credentials(_ user: LoopbackUser) -> Credential {
    .password(user.email, user.password)
  }

  @Test(
    "ACC-1 two accounts are independent, switch, survive a restart, and a removed one leaves nothing"
  )
  func whole() async throws {
    let accounts = try await open()
    let (first, second) = (try await accounts.add(), try await accounts.add())
    #expect(accounts.list.all == [first, second] && accounts.list.current == nil)
    #expect(try names() == ["accounts.journal", "accounts.journal.lock"])
    for (account, user) in [(first, LoopbackUser.sample), (second, .bob)] {
      try await accounts.session(of: account.id).login(credentials(user))
    }
    let session = try await accounts.session(of: first.id)
    #expect(try await accounts.session(of: first.id) === session)
    try await accounts.select(first.id)
    try await accounts.close()

    let again = try await open()
    #expect(again.list.current?.id == first.id && again.list.all.count == 2)
    #expect(
      try await again.session(of: second.id).currentUser?.id == Identifier(LoopbackUser.bob.id))
    #expect(try await again.remove(first.id) == .success)
    #expect(again.list.all.map(\.id) == [second.id] && again.list.leaving == [])
    #expect(again.list.current == nil)
    #expect(try !names().contains("\(first.id)"))
    #expect(bench.server.count(of: .logout) == 1)
    #expect(try await again.session(of: second.id).isAuthenticated)
    await #expect(throws: AccountsError.unknown(first.id)) { try await again.session(of: first.id) }
    await #expect(throws: AccountsError.unknown(first.id)) { try await again.remove(first.id) }
    try await again.close()
    await #expect(
      throws: AccountsError.journal(.closed(path: directory.path + "/accounts.journal"))
    ) {
      try await again.add()
    }
  }

  @Test("ACC-1 OUT-5 a removal that the server cannot be told of goes on at the next opening")
  func offline() async throws {
    let accounts = try await open()
    let account = try await accounts.add()
    try await accounts.session(of: account.id).login(bench.credentials)
    bench.server.failNext(.logout, with: .status(503))
    #expect(try await accounts.remove(account.id) == .partial(.serverNotTold(status: 503)))
    #expect(accounts.list.all == [] && accounts.list.leaving.map(\.id) == [account.id])
    await #expect(throws: AccountsError.leaving(account.id)) {
      try await accounts.session(of: account.id)
    }
    await #expect(throws: AccountsError.leaving(account.id)) {
      try await accounts.select(account.id)
    }
    try await accounts.close()

    let again = try await open()
    for await list in again.lists where list.leaving.isEmpty { break }
    #expect(try names() == ["accounts.journal", "accounts.journal.lock"])
    #expect(bench.server.count(of: .logout) == 2)
    try await again.close()
  }

  @Test("ACC-1 OUT-3 unsent changes keep an account, unless they may be discarded")
  func pending() async throws {
    let accounts = try await open { $0.add(host: BusyHost()) }
    let account = try await accounts.add()
    try await accounts.session(of: account.id).login(bench.credentials)
    await #expect(throws: AccountsError.self) { try await accounts.remove(account.id) }
    #expect(accounts.list.all.count == 1)
    #expect(try await accounts.session(of: account.id).isAuthenticated)
    #expect(try await accounts.remove(account.id, discardingPendingChanges: true) == .success)
    #expect(accounts.list.all == [])
    try await accounts.close()
  }

  @Test("ACC-1 RES-7 files of a user who is logged in, or whose logout is pending, are not removed")
  func keptFiles() async throws {
    let session = try await bench.signedIn()
    let configuration = bench.configuration()
    #expect(try await Session.remove(configuration) == .loggedIn)
    bench.server.failNext(.logout, with: .status(503))
    try await session.logout()
    #expect(try await Session.remove(configuration) == .pending)
    #expect(FileManager.default.fileExists(atPath: bench.journal))
    try await session.close()
    let again = try await Session.open(configuration)
    await again.untilSettled()
    try await again.close()
    #expect(try await Session.remove(configuration) == .removed)
    #expect(try await Session.remove(configuration) == .removed)
    #expect(try bench.files() == [] && !FileManager.default.fileExists(atPath: bench.journal))
  }

  @Test("ACC-1 what the app keeps in an account's directory stays, and so does the directory")
  func appFiles() async throws {
    let accounts = try await open()
    let account = try await accounts.add()
    _ = try await accounts.session(of: account.id)
    try Data("note".utf8).write(to: directory.appending(path: "\(account.id)/note.txt"))
    #expect(try await accounts.remove(account.id) == .alreadyLoggedOut)
    #expect(try names(account.id) == ["note.txt"])
    try await accounts.close()
  }

  @Test(
    "ACC-1 JRN-1 another object sees each change, and its session of a removed account is logged out"
  )
  func two() async throws {
    let (one, two) = (try await open(), try await open())
    let account = try await one.add()
    try await one.session(of: account.id).login(bench.credentials)
    for await list in two.lists where list.all.count == 1 { break }
    let other = try await two.session(of: account.id)
    #expect(other.isAuthenticated)
    try await one.remove(account.id)
    for await list in two.lists where list.all.isEmpty { break }
    // It has not read the end yet: its journal is gone, and no user can log in to it.
    await #expect(throws: SessionError.self) { try await other.login(bench.credentials) }
    #expect(try names() == ["accounts.journal", "accounts.journal.lock"])
    try await one.close()
    try await two.close()
  }

  @Test(
    "ACC-1 RES-6 a damaged list is moved aside, and the accounts that are there are listed again")
  func damaged() async throws {
    let accounts = try await open()
    let account = try await accounts.add()
    try await accounts.session(of: account.id).login(bench.credentials)
    try await accounts.close()
    let file = directory.appending(path: "accounts.journal")
    var bytes = try Data(contentsOf: file)
    bytes[0] ^= 0xFF
    try bytes.write(to: file)
    let again = try await open()
    #expect(again.list.all.map(\.id) == [account.id])
    #expect(try await again.session(of: account.id).isAuthenticated)
    try await again.close()
    #expect(try await open().list.all.count == 1)
  }

  @Test("ACC-1 a file or a directory that cannot be used is a typed error that says what to do")
  func refused() async throws {
    for place in ["https://example.test/accounts", "data:,x"] {
      let url = try #require(URL(string: place))
      await #expect(throws: AccountsError.wrongDirectory) {
        try await Accounts.open(directory: url) { _, _ in bench.configuration() }
      }
    }
    let session = try await bench.signedIn()
    try await session.close()
    let setup = Accounts.Setup(path: bench.journal) { _ in bench.configuration() }
    await #expect {
      try await Accounts.open(setup)
    } throws: { error in
      guard case AccountsError.notAccounts(bench.journal, 1, _) = error else { return false }
      return "\(error)".contains("directory of their own")
    }
  }

  @Test("ACC-1 JRN-4 a long list is compacted, and is the same afterwards")
  func compacted() async throws {
    let accounts = try await open()
    let ids = [try await accounts.add().id, try await accounts.add().id]
    for number in 0..<600 { try await accounts.select(ids[number % 2]) }
    let list = accounts.list
    try await accounts.close()
    var reader = try JournalReader(path: directory.path + "/accounts.journal")
    #expect(try reader.next()?.isSnapshot == true)
    let again = try await open()
    #expect(again.list == list && again.list.current?.id == ids[1])
    try await again.close()
  }
}

/// A host with one unsent change.
private struct BusyHost: SessionHost {
  func prepareForLogout(user: Identifier?, journal: Identifier) async -> Int { 1 }
}
