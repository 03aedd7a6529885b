import Backend
import Foundation
import SessionHTTP
import SessionKit

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// An app that moves from `LegacyTokens` to a session.
@main
struct Migrate {
  let folder: URL
  let service: URL

  var tokenFile: URL { folder.appending(path: "tokens.json") }

  /// Starts the new version of the app.
  func start() async throws -> Session {
    // configuration
    let session = try await Session.open(
      SessionConfiguration(
        directory: folder, backend: HTTPBackend.camelCaseJSON(service),
        service: "org.example.migrate"))
    // end of configuration
    guard FileManager.default.fileExists(atPath: tokenFile.path) else {
      say("no old tokens")
      return session
    }
    let old = try JSONDecoder().decode(
      LegacyTokens.Tokens.self, from: Data(contentsOf: tokenFile))
    say("adopted: \(try await session.adopt(old.forAdoption))")
    // The file is not needed after either answer. After a crash before this line, the next start adopts
    // nothing and removes it.
    try FileManager.default.removeItem(at: tokenFile)
    return session
  }

  static func main() async throws {
    let arguments = CommandLine.arguments.dropFirst()
    guard let path = arguments.first, arguments.count == 1, !path.hasPrefix("-") else {
      say("Usage: migrate FOLDER\n\nMoves an app from tokens in a JSON file to a session.")
      exit(64)
    }
    let backend = Service()
    let app = Migrate(folder: URL(filePath: path), service: try Server(backend.answer).url)
    try FileManager.default.createDirectory(at: app.folder, withIntermediateDirectories: true)

    // The old version ran last.
    let pair = backend.issueTokens()
    let tokens = LegacyTokens.Tokens(
      accessToken: pair.access, refreshToken: pair.refresh, expiresAt: .now + 3600, userID: "ana")
    let file = try JSONEncoder().encode(tokens)
    try file.write(to: app.tokenFile)
    say("old: \(try await LegacyTokens(file: app.tokenFile, service: app.service).accessToken())")

    say("first start")
    var session = try await app.start()
    try await app.call(session)
    try await session.close()

    // This is the state after a crash before the file was removed.
    try file.write(to: app.tokenFile)
    say("second start")
    session = try await app.start()
    try await app.call(session)
    try await session.logout()
    try await session.close()

    // A backup restores the file after a logout.
    try file.write(to: app.tokenFile)
    say("third start")
    session = try await app.start()
    say("signed in: \(session.isAuthenticated)")
    try await session.close()
    let counts = ["/auth/refresh", "/auth/login"].map(backend.count)
    say("refreshes: \(counts[0]), logins: \(counts[1])")
  }

  func call(_ session: Session) async throws {
    let request = URLRequest(url: service.appending(path: "notes"))
    let (data, _) = try await session.data(for: request)
    let notes = try JSONDecoder().decode([String].self, from: data)
    say("\(session.state.user?.description ?? "nobody") has \(notes.count) notes")
  }
}

extension LegacyTokens.Tokens {
  var forAdoption: AdoptedTokens {
    AdoptedTokens(
      access: Secret(accessToken), refresh: Secret(refreshToken),
      lifetime: .seconds(expiresAt.timeIntervalSinceNow),
      user: UserProfile(id: Identifier(userID)))
  }
}
