import Foundation
public import SessionHTTP
public import SessionKit

extension HTTPRequest {
  /// Asks the simulated service for what only those may see who are signed in (`world.server.send`).
  ///
  /// The answer has status 200 while the token counts, and else 401.
  public static func materials(_ token: AccessToken) -> HTTPRequest {
    HTTPRequest(
      method: "GET", url: URL(filePath: "/materials"),
      headers: [HTTPHeader("Authorization", "Bearer \(token.plaintext)")])
  }
}
