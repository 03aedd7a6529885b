// A short program that keeps its token in a JSON file: what `launchsession` is compared with.

internal import Foundation

#if canImport(FoundationNetworking)
internal import FoundationNetworking
#endif

struct StoredToken: Codable {
  var access: String
  var refresh: String
  var end: Date
}

let file = URL(filePath: CommandLine.arguments[1]).appending(path: "token.json")
if CommandLine.arguments.count > 2 {
  let token = StoredToken(access: "access-1", refresh: "refresh-1", end: Date() + 86_400)
  try JSONEncoder().encode(token).write(to: file)
} else {
  let token = try JSONDecoder().decode(StoredToken.self, from: try Data(contentsOf: file))
  guard token.end > Date(), let address = URL(string: "http://127.0.0.1/") else { exit(1) }
  var request = URLRequest(url: address)
  request.setValue("Bearer \(token.access)", forHTTPHeaderField: "Authorization")
  print(request.allHTTPHeaderFields?.count ?? 0)
}
