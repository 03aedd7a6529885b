#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The members that any EDU request may have; each endpoint checks which of them are required.
struct RequestBody: Decodable {
  var email: String?
  var password: String?
  var refreshToken: String?
  var accessToken: String?
  var roleID: String?
  var schoolID: String?
  var unitID: String?

  private enum CodingKeys: String, CodingKey {
    case email
    case password
    case refreshToken = "refresh_token"
    case accessToken = "access_token"
    case roleID = "role_id"
    case schoolID = "school_id"
    case unitID = "academic_unit_id"
  }

  /// Parses a JSON object; `nil` if the bytes are not one, or if a member is not a string.
  init?(_ bytes: [UInt8]) {
    do {
      self = try JSONDecoder().decode(RequestBody.self, from: Data(bytes))
    } catch {
      // The error could quote the body. The caller answers 400, and the client needs to know no
      // more.
      return nil
    }
  }

  var secrets: [String] {
    [email, password, refreshToken, accessToken].compactMap(\.self)
  }
}
