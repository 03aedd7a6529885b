import Foundation

/// The members of the responses that the tests examine.
struct TokenReply: Decodable, Equatable, Sendable {
  struct Context: Decodable, Equatable, Sendable {
    var roleName: String
    var schoolId: String
    var academicUnitId: String?
    var permissions: [String]
  }

  struct User: Decodable, Equatable, Sendable {
    var id: String
    var email: String
    var firstName: String
    var lastName: String
  }

  struct Failure: Decodable, Equatable, Sendable {
    var code: String
    var message: String
  }

  struct Claims: Decodable, Equatable, Sendable {
    var sub: String
    var email: String
    var jti: String
    var iat: Int
    var nbf: Int
    var exp: Int
    var iss: String
    var activeContext: Context?
  }

  var accessToken: String?
  var refreshToken: String?
  var expiresIn: Int?
  var tokenType: String?
  var user: User?
  var activeContext: Context?
  var context: Context?
  var error: Failure?

  private static var decoder: JSONDecoder {
    let decoder = JSONDecoder()
    decoder.keyDecodingStrategy = .convertFromSnakeCase
    return decoder
  }

  static func read(_ bytes: some Sequence<UInt8>) throws -> TokenReply {
    try decoder.decode(TokenReply.self, from: Data(bytes))
  }

  /// The claims of the access token.
  func claims() throws -> Claims {
    let parts = (accessToken ?? "").split(separator: ".")
    var text = String(parts.dropFirst().first ?? "").replacingOccurrences(of: "-", with: "+")
      .replacingOccurrences(of: "_", with: "/")
    text += String(repeating: "=", count: (4 - text.count % 4) % 4)
    return try Self.decoder.decode(Claims.self, from: Data(base64Encoded: text) ?? Data())
  }
}
