import Foundation
public import SessionCore
import SessionJSON
import SessionKit

/// Finds the cause in an identity SDK's error, at any depth.
///
/// It searches the error, its user info, underlying errors, addresses, and JSON within texts,
/// including escaped JSON. The most specific finding counts. `Specs/WebSignIn.md` has the order.
/// The search is limited in depth, number and size, so that it also ends for an error that contains
/// itself.
///
/// - Requirement: WEB-3
public enum IdentityError {
  /// The maximum depth of errors, user infos and JSON.
  static let deepest = 24
  /// The maximum number of errors and user infos.
  static let mostErrors = 64
  /// The maximum number of texts and objects with telling names, and separately of all others.
  static let mostTexts = 96
  /// The maximum number of bytes of a text.
  ///
  /// The rest of a longer text is ignored.
  static let longest = 65_536
  /// The maximum number of bytes in total.
  ///
  /// A byte that is read again counts again.
  package static let mostBytes = 262_144

  /// Returns the problem that an error states; `nil` if it states none that is known.
  public static func problem(in error: any Error) -> WebSignInProblem? {
    if let problem = error as? WebSignInProblem { return problem }
    // A failed request says more than a code: its status, its wait, and whether the server acted.
    if let error = error as? BackendError {
      return .requestFailed(error.failure(), detail: error.message)
    }
    var search = IdentityErrorSearch()
    return search.run(from: .error(error))
  }

  /// Returns the problem that a text states, like one in an error's user info; `nil` if it states
  /// none that is known.
  public static func problem(inText text: String) -> WebSignInProblem? {
    var search = IdentityErrorSearch()
    return search.run(from: .text(text))
  }

  /// Returns the number of bytes that the search reads.
  package static func bytesRead(in error: any Error) -> Int {
    var search = IdentityErrorSearch()
    _ = search.run(from: .error(error))
    return mostBytes - search.budget
  }
}

/// One search through an error.
///
/// It reads underlying errors first, then values with telling names, then the rest. Each group is
/// searched breadth first.
private struct IdentityErrorSearch {
  /// A part of an error to search.
  enum Item {
    case error(any Error)
    case members([String: Any])
    case list([Any], name: String)
    case json(JSONValue)
    case text(String)
    /// A text at the place of a code.
    case code(String)
    /// An address that a view navigated to.
    case address(String)
  }

  /// The rank of a finding.
  ///
  /// A more specific finding has a higher rank.
  private enum Rank: Int {
    case unreachable, number, code, codeNumber, interaction, telling
  }

  /// The parts that are still to be searched.
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
  /// The number of bytes that may still be read.
  private(set) var budget = IdentityError.mostBytes

  /// The names of codes in OAuth and B2C, and MSAL's keys of a user info.
  ///
  /// The keys are spelled like their constants (`MSAL/src/MSALError.m`).
  private static let codeNames: Set<String> = [
    "b2c_error_code", "error", "error_code", "errorCode", "suberror", "MSALOAuthErrorKey",
    "MSALOAuthSubErrorKey",
  ]

  /// The names of texts that describe the problem.
  private static let textNames: Set<String> = [
    "error_description", "MSALErrorDescriptionKey", "NSLocalizedDescription",
    "NSLocalizedFailureReason", "NSDebugDescription", "NSErrorFailingURLKey",
    "NSErrorFailingURLStringKey",
  ]

  /// The numbers of `URLError` for: timed out, unknown host, cannot connect, connection lost, no
  /// name service, no network.
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

  // Every system gives the same result. If each error is an `NSError`, its user info lacks the texts
  // of a Swift error. If not, the cast fails, and only the protocols give the number and the texts.
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
    // The cast goes through `Any`, because a direct cast causes a warning if every error is an
    // `NSError`.
    if let error = (error as Any) as? NSError {
      note(error.domain, error.code, depth)
      add(.members(error.userInfo), depth)
    }
  }

  /// Records the meaning of an error's domain and number.
  ///
  /// For MSAL, they are `MSALErrorUserCanceled` and `MSALErrorInteractionRequired`
  /// (`MSAL/src/public/MSALError.h` of AzureAD/microsoft-authentication-library-for-objc,
  /// 87bbb62c). For Apple's `ASWebAuthenticationSession`, it is `canceledLogin`.
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

  /// Searches an address as the observer would.
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

/// Finds JSON within a text.
private enum EmbeddedJSON {
  /// The maximum number of opening braces to try.
  static let mostTries = 32

  /// Returns the outermost objects in a text.
  ///
  /// `budget` is the number of bytes that may still be read. A byte that is read again counts
  /// again.
  static func objects(in bytes: [UInt8], budget: inout Int) -> [JSONValue] {
    var (objects, tries, index): ([JSONValue], Int, Int) = ([], 0, 0)
    while tries < mostTries, budget > 0,
      let start = bytes[index...].firstIndex(of: UInt8(ascii: "{"))
    {
      tries += 1
      index = start + 1
      let last = min(bytes.count, start + budget)
      guard let end = end(ofObjectAt: start, before: last, bytes) else {
        budget -= last - start
        continue
      }
      budget -= end - start + 1
      guard budget > end - start else { break }
      budget -= end - start + 1
      do {
        objects.append(try JSONReader.read(Array(bytes[start...end])))
        index = end + 1
      } catch {
        // This is not JSON, but a later brace may begin an object.
        continue
      }
    }
    return objects
  }

  /// Returns the end of the object that begins here.
  ///
  /// Braces within its texts do not count.
  private static func end(ofObjectAt start: Int, before last: Int, _ bytes: [UInt8]) -> Int? {
    var (depth, isText, isEscaped) = (0, false, false)
    for index in start..<last {
      let byte = bytes[index]
      if isText {
        if isEscaped {
          isEscaped = false
        } else if byte == UInt8(ascii: "\\") {
          isEscaped = true
        } else if byte == UInt8(ascii: "\"") {
          isText = false
        }
        continue
      }
      switch byte {
      case UInt8(ascii: "\""): isText = true
      case UInt8(ascii: "{"): depth += 1
      case UInt8(ascii: "}"):
        depth -= 1
        if depth == 0 { return index }
      default: break
      }
    }
    return nil
  }

  /// Removes one layer of escapes, as in JSON within a text of JSON.
  ///
  /// Returns `nil` if the text has no escaped quote.
  static func unescaped(_ bytes: [UInt8]) -> [UInt8]? {
    var plain: [UInt8] = []
    var (isEscaped, hasQuote, last) = (false, false, UInt8(0))
    for byte in bytes {
      if byte == UInt8(ascii: "\""), last == UInt8(ascii: "\\") { hasQuote = true }
      last = byte
      guard isEscaped else {
        isEscaped = byte == UInt8(ascii: "\\")
        if !isEscaped { plain.append(byte) }
        continue
      }
      isEscaped = false
      switch byte {
      case UInt8(ascii: "n"), UInt8(ascii: "r"), UInt8(ascii: "t"):
        plain.append(UInt8(ascii: " "))
      default: plain.append(byte)
      }
    }
    return hasQuote ? plain : nil
  }
}

/// Finds addresses within a text.
private enum EmbeddedAddress {
  /// Returns the words that contain `://` and a query or a fragment, without punctuation at their
  /// ends.
  static func addresses(in bytes: [UInt8]) -> [String] {
    bytes.split(whereSeparator: isOutside).compactMap { word in
      var word = word
      while let last = word.last, ".,;:".utf8.contains(last) { word.removeLast() }
      guard word.contains(where: { $0 == UInt8(ascii: "?") || $0 == UInt8(ascii: "#") }),
        let colon = word.firstIndex(of: UInt8(ascii: ":")), word[colon...].starts(with: "://".utf8)
      else { return nil }
      return String(decoding: word, as: UTF8.self)
    }
  }

  /// Returns whether a byte cannot be part of an address: a space, a quote, a bracket or an escape.
  private static func isOutside(_ byte: UInt8) -> Bool {
    switch byte {
    case 0...0x20, 0x7F, UInt8(ascii: "\""), UInt8(ascii: "'"), UInt8(ascii: "`"),
      UInt8(ascii: "\\"),
      UInt8(ascii: "<"), UInt8(ascii: ">"), UInt8(ascii: "("), UInt8(ascii: ")"),
      UInt8(ascii: "{"), UInt8(ascii: "}"):
      true
    default: false
    }
  }
}
