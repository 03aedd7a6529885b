import Foundation
public import SessionCore

/// Finds out what an identity SDK's error says, however deep it says so (WEB-3).
///
/// Looks through the error, its user info, what lies under it, and JSON within texts, also where that is
/// escaped once more. Of all that is found the most telling counts: a code of Azure AD B2C, then another
/// code where a code belongs, then what the error's own domain and number mean, then that nothing was
/// reached. Bounded in depth, number and size, so that an error that holds itself ends too.
public enum IdentityError {
  /// How deep errors, user infos and JSON are followed.
  static let deepest = 24
  /// How many errors, objects and texts are looked at.
  static let most = 256
  /// Longer texts are looked at to here, in bytes.
  static let longest = 65_536

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
}

/// One look through an error, breadth first.
struct IdentityErrorSearch {
  /// What is looked at.
  enum Item {
    case error(any Error)
    case members([String: Any])
    case json(JSONValue)
    case text(String)
    /// What stands where a code belongs.
    case code(String)
  }

  /// How telling what was found is.
  private enum Rank: Int {
    case unreachable, number, code, codeOfB2C
  }

  private var queue: [(item: Item, depth: Int)] = []
  private var seen: Set<ObjectIdentifier> = []
  private var best: (rank: Rank, problem: WebSignInProblem)?

  /// OAuth's and B2C's names, and MSAL's keys of a user info, which are spelled like their constants
  /// (`MSAL/src/MSALError.m`).
  private static let codeNames: Set<String> = [
    "b2c_error_code", "error", "error_code", "errorCode", "suberror", "MSALOAuthErrorKey",
    "MSALOAuthSubErrorKey",
  ]

  /// Timed out, no such host, no way to it, lost, no name service, no network.
  private static let unreached: Set<Int> = [-1_001, -1_003, -1_004, -1_005, -1_006, -1_009]

  mutating func run(from item: Item) -> WebSignInProblem? {
    queue = [(item, 0)]
    var index = 0
    while index < queue.count, index < IdentityError.most {
      let (item, depth) = queue[index]
      index += 1
      look(at: item, depth)
      if best?.rank == .codeOfB2C { break }
    }
    return best?.problem
  }

  private mutating func found(_ rank: Rank, _ problem: WebSignInProblem) {
    if let best, best.rank.rawValue >= rank.rawValue { return }
    best = (rank, problem)
  }

  private mutating func add(_ item: Item, _ depth: Int) {
    guard depth < IdentityError.deepest, queue.count < IdentityError.most else { return }
    queue.append((item, depth + 1))
  }

  private mutating func look(at item: Item, _ depth: Int) {
    switch item {
    case .error(let error): look(at: error, depth)
    case .members(let members):
      for name in members.keys.sorted() {
        if let value = members[name] { add(value, named: name, depth) }
      }
    case .json(let value): look(at: value, depth)
    case .code(let text):
      if let code = IdentityCode(text) { found(rank(code), WebSignInProblem(code)) }
      look(at: text, depth)
    case .text(let text): look(at: text, depth)
    }
  }

  private func rank(_ code: IdentityCode) -> Rank {
    IdentityCode(within: code.description) == nil ? .code : .codeOfB2C
  }

  // MARK: Errors

  private mutating func look(at error: any Error, _ depth: Int) {
    if let problem = error as? WebSignInProblem { return found(.code, problem) }
    if error is CancellationError { return found(.number, .cancelled) }
    if let error = error as? URLError {
      note(URLError.errorDomain, error.code.rawValue)
      return add(.members(error.errorUserInfo), depth)
    }
    // Through `Any`: where every error is one, a plain cast is said to be needless.
    if let error = (error as Any) as? NSError {
      guard seen.insert(ObjectIdentifier(error)).inserted else { return }
      note(error.domain, error.code)
      return add(.members(error.userInfo), depth)
    }
    if let error = error as? any CustomNSError {
      note(type(of: error).errorDomain, error.errorCode)
      add(.members(error.errorUserInfo), depth)
    }
    if let error = error as? any LocalizedError {
      for text in [error.errorDescription, error.failureReason] {
        if let text { add(.text(text), depth) }
      }
    }
  }

  /// What an error's domain and number mean.
  ///
  /// Of MSAL, `MSALErrorUserCanceled` and `MSALErrorInteractionRequired` (`MSAL/src/public/MSALError.h` of
  /// AzureAD/microsoft-authentication-library-for-objc, 87bbb62c); of Apple's `ASWebAuthenticationSession`,
  /// `canceledLogin`.
  private mutating func note(_ domain: String, _ number: Int) {
    switch (domain, number) {
    case ("MSALErrorDomain", -50_005),
      ("com.apple.AuthenticationServices.WebAuthenticationSession", 1):
      found(.number, .cancelledByUser)
    case ("MSALErrorDomain", -50_002): found(.number, .noAccount)
    case (URLError.errorDomain, _) where Self.unreached.contains(number):
      found(.unreachable, .unreachable)
    default: break
    }
  }

  private mutating func add(_ value: Any, named name: String, _ depth: Int) {
    switch value {
    case let text as String: add(Self.codeNames.contains(name) ? .code(text) : .text(text), depth)
    case let members as [String: Any]: add(.members(members), depth)
    case let values as [Any]: for value in values { add(value, named: name, depth) }
    case let error as any Error: add(.error(error), depth)
    case let bytes as Data:
      add(.text(String(decoding: bytes.prefix(IdentityError.longest), as: UTF8.self)), depth)
    default: break
    }
  }

  // MARK: Texts

  private mutating func look(at value: JSONValue, _ depth: Int) {
    switch value {
    case .object(let members):
      for name in members.keys.sorted() {
        switch members[name] {
        case .string(let text)?:
          add(Self.codeNames.contains(name) ? .code(text) : .text(text), depth)
        case .object?, .array?: members[name].map { add(.json($0), depth) }
        default: continue
        }
      }
    case .array(let elements): for element in elements { add(.json(element), depth) }
    case .string(let text): add(.text(text), depth)
    case .null, .bool, .number: break
    }
  }

  private mutating func look(at text: String, _ depth: Int) {
    let bytes = Array(text.utf8.prefix(IdentityError.longest))
    let start = String(decoding: bytes, as: UTF8.self)
    if let code = IdentityCode(within: start) { found(.codeOfB2C, WebSignInProblem(code)) }
    for object in EmbeddedJSON.objects(in: bytes) { add(.json(object), depth) }
    if let plain = EmbeddedJSON.unescaped(start) { add(.text(plain), depth) }
  }
}
