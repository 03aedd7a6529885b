import Foundation
import Hummingbird

/// The cookie of a browser: the key of an account, and a secret that proves it.
///
/// The key is the name of a folder and may be logged. The secret is kept in that folder, which is private to the
/// server. So a stolen log or an error message opens no session. The cookie itself has no token.
struct Cookies {
  /// The prefix makes browsers require `Secure`, no `Domain` and the path `/`.
  static let name = "__Host-session"

  let accounts: Accounts

  /// Returns a new key, which no account has.
  func newKey() -> String { Self.random(bytes: 16) }

  /// Makes the cookie of an account, and stores its secret.
  func issue(for key: String) throws -> Cookie {
    let secret = Self.random(bytes: 32)
    let file = accounts.folder(of: key).appending(path: "cookie")
    try Data(secret.utf8).write(to: file)
    try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: file.path)
    return cookie("\(key).\(secret)", maxAge: nil)
  }

  /// A cookie that removes the browser's cookie.
  var removal: Cookie { cookie("none", maxAge: 0) }

  /// Returns the key of the account whose secret the request has.
  func key(of request: Request) throws -> String {
    let parts = request.cookies[Self.name]?.value.split(separator: ".").map(String.init) ?? []
    // The key becomes a path, so every other character is refused.
    guard parts.count == 2, parts[0].count == 32, parts[0].allSatisfy(\.isHexDigit) else {
      throw HTTPError(.unauthorized)
    }
    let file = accounts.folder(of: parts[0]).appending(path: "cookie")
    let stored: Data
    do { stored = try Data(contentsOf: file) } catch { throw HTTPError(.unauthorized) }
    let given = Data(parts[1].utf8)
    // The comparison takes the same time wherever the first difference is.
    guard stored.count == given.count, zip(stored, given).reduce(0, { $0 | $1.0 ^ $1.1 }) == 0
    else {
      throw HTTPError(.unauthorized)
    }
    return parts[0]
  }

  private func cookie(_ value: String, maxAge: Int?) -> Cookie {
    Cookie(
      name: Self.name, value: value, maxAge: maxAge, path: "/", secure: true, httpOnly: true,
      sameSite: .strict)
  }

  private static func random(bytes: Int) -> String {
    var generator = SystemRandomNumberGenerator()
    return (0..<bytes).map { _ in
      let byte = String(UInt8.random(in: .min ... .max, using: &generator), radix: 16)
      return byte.count == 1 ? "0" + byte : byte
    }.joined()
  }
}
