import SessionJSON

/// The members that any EDU request may have; each endpoint checks which of them are required.
struct RequestBody {
  let email: String?
  let password: String?
  let refreshToken: String?
  let accessToken: String?
  let roleID: String?
  let schoolID: String?
  let unitID: String?

  /// Parses a JSON object; `nil` if the bytes are not one, or if a member is not a string.
  init?(_ bytes: [UInt8]) {
    let value: JSONValue
    do throws(JSONReader.Problem) { value = try JSONReader.read(bytes) } catch {
      // The caller answers 400, and the client needs to know no more.
      return nil
    }
    guard case .object(let members) = value else { return nil }
    var isComplete = true
    func text(_ name: String) -> String? {
      switch members[name] {
      case nil, .null?: return nil
      case .string(let text)?: return text
      default:
        isComplete = false
        return nil
      }
    }
    email = text("email")
    password = text("password")
    refreshToken = text("refresh_token")
    accessToken = text("access_token")
    roleID = text("role_id")
    schoolID = text("school_id")
    unitID = text("academic_unit_id")
    guard isComplete else { return nil }
  }

  var secrets: [String] {
    [email, password, refreshToken, accessToken].compactMap(\.self)
  }
}
