import SessionJSON

/// The place of the session's token in calls.
///
/// It is never in an address.
///
/// - Requirement: INT-5, STO-3
public enum CallTokenPlace: Hashable, Sendable {
  /// A header field with this name.
  ///
  /// Its value is the scheme, a space and the token. Without a scheme it is the token alone, as in
  /// the requests of an `HTTPBackend`.
  case header(String, scheme: String? = nil)
  /// A member with this name in the body, which must be a JSON object.
  case member(String)

  /// The field `Authorization: Bearer …` (RFC 6750 §2.1).
  public static let bearer = CallTokenPlace.header("Authorization", scheme: "Bearer")

  /// Returns whether a JSON body already has the token's member; `false` if the token is in a
  /// header field.
  public func isMember(of body: @autoclosure () -> [UInt8]) -> Bool {
    guard case .member(let name) = self else { return false }
    return CallBody.object(body())?[name] != nil
  }

  /// Returns whether this header field is the token's.
  public func isHeader(_ name: String) -> Bool {
    guard case .header(let own, _) = self else { return false }
    return own.lowercased() == name.lowercased()
  }

  /// Returns whether a server reads both places as one: names of fields and of schemes have no case
  /// (RFC 9110 §5.1 and §11.1).
  func isSame(as other: CallTokenPlace) -> Bool {
    guard case .header(let name, let scheme) = self, case .header(_, let second) = other else {
      return self == other
    }
    return other.isHeader(name) && scheme?.lowercased() == second?.lowercased()
  }

  /// The place in a sentence, such as `Authorization: Bearer …`.
  var words: String {
    switch self {
    case .header(let name, let scheme): "\(name): \(scheme.map { "\($0) " } ?? "")…"
    case .member(let name): "the member \(name) of the body"
    }
  }
}

/// The session's token in the form in which a call carries it.
///
/// - Requirement: INT-5
public struct CallToken: Sendable {
  /// The place of the token.
  public let place: CallTokenPlace
  private let secret: Secret
  /// The proofs that the token needs; `nil` for a bearer token.
  var proofs: CallProofs?

  /// The text of the member, or of the header field with its scheme.
  ///
  /// - Requirement: STO-3
  public var plaintext: String { secret.plaintext }

  /// The length of the header field with its name, in bytes; `nil` if the token is in the body.
  var fieldLength: Int? {
    guard case .header(let name, _) = place else { return nil }
    return name.utf8.count + 2 + plaintext.utf8.count
  }

  init(place: CallTokenPlace, secret: Secret) {
    (self.place, self.secret) = (place, secret)
  }

  /// Returns the body with the token as its first member.
  ///
  /// Every other byte is unchanged.
  ///
  /// Throws `refused` if the body is no JSON object.
  public func body(_ body: [UInt8], of call: String) throws(SessionError) -> [UInt8] {
    guard case .member(let name) = place else { return body }
    guard let object = CallBody.object(body),
      let start = body.firstIndex(of: UInt8(ascii: "{"))
    else {
      throw .unusableCall(
        call: call,
        problem: body.isEmpty
          ? "its token belongs in the body, but it has no body"
          : "its token belongs in the body, which is not a JSON object")
    }
    let member =
      "\(JSONValue.quoted(name)):\(JSONValue.quoted(plaintext))\(object.isEmpty ? "" : ",")"
    return body[...start] + Array(member.utf8) + body[(start + 1)...]
  }
}

/// Reads the body of a call as JSON.
private enum CallBody {
  /// Returns the members of the object; `nil` if the body is something else.
  static func object(_ body: [UInt8]) -> [String: JSONValue]? {
    // A body that is no JSON is allowed. Callers that need an object throw an error.
    do {
      guard case .object(let members) = try JSONReader.read(body) else { return nil }
      return members
    } catch { return nil }
  }
}
