@_spi(Internals) public import SessionCore
public import SessionHTTP
import SessionJSON
public import SessionKit

/// The claims of an identity provider's token about its user, by path.
///
/// They are hints, **never verified**.
///
/// No signature, issuer, audience or time is checked: the owner of the token could have written it.
/// A claim may decide what a screen shows, but never what a user is allowed to do. A claim of
/// another type than requested counts as missing.
///
/// If there is a claim with the complete name, including dots, the path is that claim
/// (`https://app.test/roles`). Otherwise the path is a list of names from the outermost to the
/// innermost.
///
/// - Requirement: WEB-5
public struct IdentityClaims: Sendable {
  private let members: JSONMembers

  /// Reads the claims of a token of three parts.
  ///
  /// The second one is base64url with or without padding.
  public init(_ token: Secret) throws(TokenClaims.Problem) {
    members = try TokenClaims.payload(of: token)
  }

  /// The user of the token (`sub`).
  public var subject: Identifier? { members.identifierHint("sub") }
  /// The user's e-mail address: `email`, or the first of B2C's `emails`.
  public var email: String? { members.hint(["email", "emails.0"]) }
  /// The user's displayed name (`name`).
  public var name: String? { text("name") }
  /// The first name (`given_name`).
  public var givenName: String? { text("given_name") }
  /// The family name (`family_name`).
  public var familyName: String? { text("family_name") }
  /// The user flow of B2C (`tfp`, or `acr`), which distinguishes a sign-in from a new password.
  public var userFlow: String? { members.hint(["tfp", "acr"]) }

  /// Returns a text that is not empty.
  public func text(_ path: MemberPath) -> String? { members.hint([whole(path)]) }

  /// Returns texts; empty if there are none.
  ///
  /// Of an array, it returns the elements that are texts. A single text is split at its spaces,
  /// like a scope (RFC 6749 §3.3).
  public func texts(_ path: MemberPath) -> [String] {
    do throws(Unreadable) {
      switch try members.value(whole(path)) {
      case .array(let elements):
        return elements.compactMap { if case .string(let text) = $0 { text } else { nil } }
      case .string(let text): return text.split(separator: " ").map(String.init)
      case .bool, .number, .object, .null, .unreadable, nil: return []
      }
    } catch {
      // A value on the path has no members.
      return []
    }
  }

  /// Returns a boolean, or a text such as `"true"`, as B2C writes it.
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

  /// Returns the path as one name, if there is a claim with that name.
  private func whole(_ path: MemberPath) -> MemberPath {
    guard path.steps.count > 1 else { return path }
    let name = path.steps.joined(separator: ".")
    return members.contains(name) ? MemberPath(steps: [name]) : path
  }

  /// Returns a time in seconds since 1970, such as `auth_time`.
  public func time(_ claim: String) -> Timestamp? { members.time(claim) }
}

extension IdentityClaims: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  /// A text without the claims.
  public var description: String { "claims of a token" }

  /// The same as the description.
  public var debugDescription: String { description }

  /// A mirror without children.
  public var customMirror: Mirror { Mirror(self, children: [:]) }
}
