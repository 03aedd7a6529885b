import Foundation
import SessionHTTP
import SessionKit
import SessionTestKit

/// Valid responses of EDU, for tests to change, and their readers.
enum BackendBench {
  static let wire = HTTPBackend.snakeCaseJSON(URL(fileURLWithPath: "/"))
  static let claims: [String: WireValue] = [
    "sub": "user-1", "jti": "token-1", "email": "maria.sample@school.test",
    "active_context": ["role_id": "claimed", "role_name": "teacher"],
  ]
  static let user: WireValue = [
    "id": "user-1", "email": "maria.sample@school.test", "first_name": "María",
    "last_name": "Sample",
  ]
  static let context: WireValue = [
    "role_id": "role-1", "role_name": "teacher", "school_id": "school-1",
    "school_name": "North School", "academic_unit_id": "unit-1", "academic_unit_name": "5th, A",
    "permissions": ["materials:write", "materials:read"],
  ]

  enum Place: String, CaseIterable, Sendable {
    case login
    case refresh
    case switched = "switch"

    func read(_ response: HTTPResponse) throws(AnswerFailure) -> TokenResponse {
      switch self {
      case .login: try wire.readLogin(response)
      case .refresh: try wire.readRefresh(response)
      case .switched: try wire.readSwitch(response)
      }
    }

    /// A valid response at this place, as the texts of its members.
    var members: [String: String] {
      var members: [String: WireValue] = [
        "access_token": .string(LoopbackToken.make(claims: claims)), "token_type": "Bearer",
        "refresh_token": "rt_next", "expires_in": 3600,
      ]
      switch self {
      case .login: (members["user"], members["active_context"]) = (user, context)
      case .refresh: break
      case .switched: members["context"] = context
      }
      return members.mapValues { String(decoding: $0.bytes, as: UTF8.self) }
    }

    /// The failure that this body results in, or `nil` if it can be read.
    func failure(status: Int, headers: [HTTPHeader] = [], _ body: String) -> AnswerFailure? {
      do throws(AnswerFailure) {
        _ = try read(response(status: status, headers: headers, body))
        return nil
      } catch {
        return error
      }
    }
  }

  static func response(
    status: Int = 200, headers: [HTTPHeader] = [], _ body: String
  ) -> HTTPResponse {
    HTTPResponse(status: status, headers: headers, body: Array(body.utf8))
  }

  static func object(_ members: [String: String]) -> String {
    "{"
      + members.sorted { $0.key < $1.key }.map { "\"\($0.key)\":\($0.value)" }
      .joined(separator: ",") + "}"
  }
}
