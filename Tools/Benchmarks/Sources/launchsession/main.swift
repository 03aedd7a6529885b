// A short program that finds a good token in its session, and goes; with a second argument it logs in.

internal import Foundation
internal import SessionHTTP
internal import SessionKit

#if canImport(FoundationNetworking)
internal import FoundationNetworking
#endif

guard let address = URL(string: "http://127.0.0.1/") else { exit(1) }
let folder = URL(filePath: CommandLine.arguments[1])
let session = try await Session.open(
  SessionConfiguration(
    directory: folder.appending(path: "session"),
    backend: HTTPBackend.oauth(
      token: address.appending(path: "token"), client: .form(id: "launch")),
    secrets: FileSecretStore(folder: folder.appending(path: "secrets").path)))
if CommandLine.arguments.count > 2 {
  _ = try await session.adopt(
    AdoptedTokens(
      access: Secret("access-1"), refresh: Secret("refresh-1"), lifetime: .seconds(86_400),
      user: UserProfile(id: "ada")))
} else {
  var request = URLRequest(url: address)
  let token = try await session.accessToken()
  request.setValue("Bearer \(token.plaintext)", forHTTPHeaderField: "Authorization")
  print(request.allHTTPHeaderFields?.count ?? 0)
}
try await session.close()
