@_spi(Internals) public import SessionCore
public import SessionHTTP
import SessionJSON
public import SessionKit

/// What a token of an identity provider says of its user, by path: hints, **never verified**.
///
/// No signature is checked, no issuer, no audience and no time: who holds the token could have written it. A
/// claim may decide what a screen shows, never what somebody may do. A claim of another type than is asked
/// for is as if it were missing.
///
/// A path is the claim of that very name where there is one, dots and all (`https://app.test/roles`), and
/// else names from the outside in.
///
/// - Requirement: WEB-5
public struct IdentityClaims: Sendable {
  private let members: JSONMembers

  /// Reads the claims of a token of three parts, whose second is base64url with or without padding.
  public init(_ token: Secret) throws(TokenClaims.Problem) {
    members = try TokenClaims.payload(of: token)
  }

  /// Whom the token is about (`sub`).
  public var subject: Identifier? { members.identifierHint("sub") }
  /// The user's e-mail address: `email`, or the first of B2C's `emails`.
  public var email: String? { members.hint(["email", "emails.0"]) }
  /// The user's name as shown (`name`).
  public var name: String? { text("name") }
  /// The first name (`given_name`).
  public var givenName: String? { text("given_name") }
  /// The family name (`family_name`).
  public var familyName: String? { text("family_name") }
  /// Which user flow of B2C it was, which tells a sign-in from a new password (`tfp`, or `acr`).
  public var userFlow: String? { members.hint(["tfp", "acr"]) }

  /// A text that is not empty.
  public func text(_ path: MemberPath) -> String? { members.hint([whole(path)]) }

  /// Texts; empty where there are none.
  ///
  /// Of an array those that are texts; a single text is split at its spaces, as a scope is
  /// (RFC 6749 §3.3).
  public func texts(_ path: MemberPath) -> [String] {
    do throws(Unreadable) {
      switch try members.value(whole(path)) {
      case .array(let elements):
        return elements.compactMap { if case .string(let text) = $0 { text } else { nil } }
      case .string(let text): return text.split(separator: " ").map(String.init)
      case .bool, .number, .object, .null, .unreadable, nil: return []
      }
    } catch {
      // On the way there is something that has no members.
      return []
    }
  }

  /// A boolean, or a text that is one (`"true"`), as B2C writes it.
  public func flag(_ path: MemberPath) -> Bool? {
    do throws(Unreadable) {
      switch try members.word(whole(path)) {
      case "true": return true
      case "false": return false
      default: return nil
      }
    } catch {
      return nil
    }
  }

  /// The path as one name, where there is a claim of that name.
  private func whole(_ path: MemberPath) -> MemberPath {
    guard path.steps.count > 1, case .object(let claims) = members.root else { return path }
    let name = path.steps.joined(separator: ".")
    return claims[name] == nil ? path : MemberPath(steps: [name])
  }

  /// A time in seconds since 1970, such as `auth_time`.
  public func time(_ claim: String) -> Timestamp? { members.time(claim) }
}

extension IdentityClaims: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  /// Nothing of the claims.
  public var description: String { "claims of a token" }

  /// The same as the description.
  public var debugDescription: String { description }

  /// A mirror without children.
  public var customMirror: Mirror { Mirror(self, children: [:]) }
}
