#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The members that any EDU request may carry; which of them it must is the endpoint's business.
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

  /// Reads a JSON object; nil when the bytes are none, or a member is of another type than text.
  init?(_ bytes: [UInt8]) {
    do {
      self = try JSONDecoder().decode(RequestBody.self, from: Data(bytes))
    } catch {
      // The reason would quote the body; the caller answers 400, which is all a client may learn.
      return nil
    }
  }

  var secrets: [String] {
    [email, password, refreshToken, accessToken].compactMap(\.self)
  }
}
