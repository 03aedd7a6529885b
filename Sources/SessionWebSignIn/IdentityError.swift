import Foundation
public import SessionCore
import SessionJSON
import SessionKit

/// Finds out what an identity SDK's error says, however deep it says so.
///
/// Looks through the error, its user info, what lies under it, addresses, and JSON within texts, also where
/// that is escaped once more. Of all that is found the most telling counts; `Specs/WebSignIn.md` has the
/// order. Bounded in depth, number and size, so that an error that holds itself ends too.
///
/// - Requirement: WEB-3
public enum IdentityError {
  /// How deep errors, user infos and JSON are followed.
  static let deepest = 24
  /// How many errors and user infos are looked at.
  static let mostErrors = 64
  /// How many texts and objects are looked at of those whose names say that they tell something; and how
  /// many of the others.
  static let mostTexts = 96
  /// Longer texts are looked at to here, in bytes.
  static let longest = 65_536
  /// How many bytes are read in all; what is read again counts again.
  package static let mostBytes = 262_144

  /// What an error says; `nil` where it says nothing that is known.
  public static func problem(in error: any Error) -> WebSignInProblem? {
    if let problem = error as? WebSignInProblem { return problem }
    var search = IdentityErrorSearch()
    return search.run(from: .error(error))
  }

  /// What a text says, as one in an error's user info; `nil` where it says nothing that is known.
  public static func problem(inText text: String) -> WebSignInProblem? {
    var search = IdentityErrorSearch()
    return search.run(from: .text(text))
  }

  /// How many bytes are read to find that out.
  package static func bytesRead(in error: any Error) -> Int {
    var search = IdentityErrorSearch()
    _ = search.run(from: .error(error))
    return mostBytes - search.budget
  }
}

/// One look through an error: what lies under it first, then what tells something by its name, then the rest;
/// breadth first each.
struct IdentityErrorSearch {
  /// What is looked at.
  enum Item {
    case error(any Error)
    case members([String: Any])
    case list([Any], name: String)
    case json(JSONValue)
    case text(String)
    /// What stands where a code belongs.
    case code(String)
    /// An address that a view went to.
    case address(String)
  }

  /// How telling what was found is.
  private enum Rank: Int {
    case unreachable, number, code, codeNumber, interaction, telling
  }

  /// What waits to be looked at.
  private struct Queue {
    let most: Int
    private var items: [(item: Item, depth: Int)] = []
    private var index = 0

    init(_ most: Int) { self.most = most }

    mutating func add(_ item: Item, _ depth: Int) {
      if items.count < most { items.append((item, depth)) }
    }

    mutating func next() -> (item: Item, depth: Int)? {
      guard index < items.count else { return nil }
      index += 1
      return items[index - 1]
    }
  }

  private var errors = Queue(IdentityError.mostErrors)
  private var named = Queue(IdentityError.mostTexts)
  private var others = Queue(IdentityError.mostTexts)
  private var seen: Set<ObjectIdentifier> = []
  private var best: (rank: Rank, depth: Int, problem: WebSignInProblem)?
  /// How many bytes may still be read.
  private(set) var budget = IdentityError.mostBytes

  /// OAuth's and B2C's names, and MSAL's keys of a user info, which are spelled like their constants
  /// (`MSAL/src/MSALError.m`).
  private static let codeNames: Set<String> = [
    "b2c_error_code", "error", "error_code", "errorCode", "suberror", "MSALOAuthErrorKey",
    "MSALOAuthSubErrorKey",
  ]

  /// Texts that say what went wrong.
  private static let textNames: Set<String> = [
    "error_description", "MSALErrorDescriptionKey", "NSLocalizedDescription",
    "NSLocalizedFailureReason", "NSDebugDescription", "NSErrorFailingURLKey",
    "NSErrorFailingURLStringKey",
  ]

  /// Timed out, no such host, no way to it, lost, no name service, no network.
  private static let unreached: Set<Int> = [-1_001, -1_003, -1_004, -1_005, -1_006, -1_009]

  mutating func run(from item: Item) -> WebSignInProblem? {
    errors.add(item, 0)
    while let (item, depth) = errors.next() ?? named.next() ?? others.next() {
      look(at: item, depth)
    }
    return best?.problem
  }

  private mutating func found(_ rank: Rank, _ problem: WebSignInProblem, _ depth: Int) {
    if let best, (best.rank.rawValue, -best.depth) >= (rank.rawValue, -depth) { return }
    best = (rank, depth, problem)
  }

  private mutating func found(_ code: IdentityCode, _ depth: Int) {
    let problem = WebSignInProblem(code)
    let rank: Rank =
      switch problem {
      case .cancelledByUser, .forgottenPassword: .telling
      case .noAccount: .interaction
      default: code.isNumber ? .codeNumber : .code
      }
    found(rank, problem, depth)
  }

  private mutating func add(_ item: Item, isNamed: Bool = false, _ depth: Int) {
    guard depth < IdentityError.deepest else { return }
    switch item {
    case .error, .members, .list: errors.add(item, depth + 1)
    case .json, .code, .address: named.add(item, depth + 1)
    case .text: isNamed ? named.add(item, depth + 1) : others.add(item, depth + 1)
    }
  }

  private mutating func add(_ text: String, named name: String, _ depth: Int) {
    guard !Self.codeNames.contains(name) else { return add(.code(text), depth) }
    add(.text(text), isNamed: Self.textNames.contains(name), depth)
  }

  private mutating func look(at item: Item, _ depth: Int) {
    switch item {
    case .error(let error): look(at: error, depth)
    case .members(let members):
      for name in members.keys.sorted() {
        if let value = members[name] { add(value, named: name, depth) }
      }
    case .list(let values, let name): for value in values { add(value, named: name, depth) }
    case .json(let value): look(at: value, depth)
    case .code(let text):
      if let code = IdentityCode(text) { found(code, depth) }
      look(at: text, depth)
    case .address(let address): look(atAddress: address, depth)
    case .text(let text): look(at: text, depth)
    }
  }

  // MARK: Errors

  // The same on every system: where each error is an `NSError`, a Swift error's words are not in its user
  // info, and where it is none, its number is.
  private mutating func look(at error: any Error, _ depth: Int) {
    if let problem = error as? WebSignInProblem { return found(.code, problem, depth) }
    if error is CancellationError { return found(.number, .cancelled, depth) }
    if type(of: error) is AnyClass {
      guard seen.insert(ObjectIdentifier(error as AnyObject)).inserted else { return }
    }
    if let error = error as? any LocalizedError {
      for text in [error.errorDescription, error.failureReason] {
        if let text { add(.text(text), isNamed: true, depth) }
      }
    }
    if let error = error as? any CustomNSError {
      note(type(of: error).errorDomain, error.errorCode, depth)
      return add(.members(error.errorUserInfo), depth)
    }
    // Through `Any`: where every error is one, a plain cast is said to be needless.
    if let error = (error as Any) as? NSError {
      note(error.domain, error.code, depth)
      add(.members(error.userInfo), depth)
    }
  }

  /// What an error's domain and number mean.
  ///
  /// Of MSAL, `MSALErrorUserCanceled` and `MSALErrorInteractionRequired` (`MSAL/src/public/MSALError.h` of
  /// AzureAD/microsoft-authentication-library-for-objc, 87bbb62c); of Apple's `ASWebAuthenticationSession`,
  /// `canceledLogin`.
  private mutating func note(_ domain: String, _ number: Int, _ depth: Int) {
    switch (domain, number) {
    case ("MSALErrorDomain", -50_005),
      ("com.apple.AuthenticationServices.WebAuthenticationSession", 1):
      found(.number, .cancelledByUser, depth)
    case ("MSALErrorDomain", -50_002): found(.interaction, .noAccount, depth)
    case (URLError.errorDomain, _) where Self.unreached.contains(number):
      found(.unreachable, .unreachable, depth)
    default: break
    }
  }

  private mutating func add(_ value: Any, named name: String, _ depth: Int) {
    switch value {
    case let text as String: add(text, named: name, depth)
    case let address as URL: add(.address(address.absoluteString), depth)
    case let members as [String: Any]: add(.members(members), depth)
    case let values as [Any]: add(.list(values, name: name), depth)
    case let error as any Error: add(.error(error), depth)
    case let bytes as Data:
      add(String(decoding: bytes.prefix(IdentityError.longest), as: UTF8.self), named: name, depth)
    default: break
    }
  }

  // MARK: Texts

  private mutating func look(at value: JSONValue, _ depth: Int) {
    switch value {
    case .object(let members):
      for name in members.keys.sorted() {
        switch members[name] {
        case .string(let text)?: add(text, named: name, depth)
        case .object?, .array?: members[name].map { add(.json($0), depth) }
        default: continue
        }
      }
    case .array(let elements): for element in elements { add(.json(element), depth) }
    case .string(let text): add(.text(text), depth)
    case .null, .bool, .number, .unreadable: break
    }
  }

  private mutating func look(at text: String, _ depth: Int) {
    let room = min(text.utf8.count, IdentityError.longest, budget)
    budget -= room
    let bytes = Array(text.utf8.prefix(room))
    if let code = IdentityCode(within: bytes) { found(code, depth) }
    for address in EmbeddedAddress.addresses(in: bytes) { look(atAddress: address, depth) }
    for object in EmbeddedJSON.objects(in: bytes, budget: &budget) { add(.json(object), depth) }
    if let plain = EmbeddedJSON.unescaped(bytes) {
      add(.text(String(decoding: plain, as: UTF8.self)), isNamed: true, depth)
    }
  }

  /// What the observer would have seen.
  ///
  /// - Requirement: WEB-2
  private mutating func look(atAddress address: String, _ depth: Int) {
    guard address.utf8.count <= budget else { return }
    budget -= address.utf8.count
    switch RedirectReader.problem(in: address) {
    case .refused(let code?)?: found(code, depth)
    case .cancelledByUser?: found(.telling, .cancelledByUser, depth)
    case .forgottenPassword?: found(.telling, .forgottenPassword, depth)
    case .noAccount?: found(.interaction, .noAccount, depth)
    default: return
    }
  }
}
