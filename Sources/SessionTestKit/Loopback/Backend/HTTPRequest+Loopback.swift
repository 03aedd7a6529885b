import Foundation
public import SessionHTTP
public import SessionKit

extension HTTPRequest {
  /// Returns a request for a protected resource of the simulated server (`world.server.send`).
  ///
  /// The answer has status 200 while the token is valid, else 401.
  public static func materials(_ token: AccessToken) -> HTTPRequest {
    HTTPRequest(
      method: "GET", url: URL(filePath: "/materials"),
      headers: [HTTPHeader("Authorization", "Bearer \(token.plaintext)")])
  }
}
