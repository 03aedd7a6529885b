internal import Foundation
internal import SessionCore
internal import SessionHTTP
internal import SessionKit
internal import SessionWebSignIn

/// A check of addresses and errors of identity SDKs: reading does not trap, and shows at most a
/// code.
///
/// The result does not depend on how they are wrapped.
public enum IdentityTarget {
  /// Checks one input; its first byte selects an address, fields by line, the text of an error, or
  /// a token.
  public static func check(_ input: [UInt8]) {
    guard let kind = input.first else { return }
    let text = String(decoding: input.dropFirst(), as: UTF8.self)
    switch kind % 4 {
    case 0: checkAddress(text)
    case 1: checkFields(input.dropFirst())
    case 2: checkError(text, named: Int(kind / 4))
    default: checkToken(text)
    }
  }

  private static func seen(_ address: String) -> WebSignInProblem? {
    let observer = RedirectObserver()
    observer.see(address)
    checkForm(observer.lastError)
    return observer.lastError
  }

  /// Checks that the result is a code with a valid form, or nothing.
  private static func checkForm(_ problem: WebSignInProblem?) {
    guard case .refused(let code?) = problem else { return }
    require(IdentityCode(code.description) == code, "a code that is none")
    require(code.description.utf8.count <= 48, "a code of \(code.description.utf8.count) bytes")
  }

  private static func checkAddress(_ address: String) {
    let problem = seen(address)
    // A neutral field at the end changes nothing, and neither does text before the query.
    if address.contains("?") || address.contains("#") {
      require(seen(address + "&state=1") == problem, "a field behind it changes what is seen")
    }
    if !address.contains("#"), let query = address.firstIndex(of: "?") {
      require(seen(String(address[query...])) == problem, "what is before the query counts")
      require(
        seen("#" + address[address.index(after: query)...]) == problem,
        "the fragment is read otherwise than the query")
    }
  }

  /// Checks that the same fields give the same result if each of their bytes is escaped.
  private static func checkFields(_ bytes: ArraySlice<UInt8>) {
    var (plain, escaped) = ("?", "?")
    for line in bytes.split(separator: 0x0A) {
      let sides = line.split(separator: 0x3D, maxSplits: 1, omittingEmptySubsequences: false)
      guard sides.count == 2, sides.allSatisfy({ $0.allSatisfy(isPlain) }) else { continue }
      plain += sides.map { String(decoding: $0, as: UTF8.self) }.joined(separator: "=") + "&"
      escaped += sides.map { $0.map(hex).joined() }.joined(separator: "=") + "&"
    }
    require(seen(plain) == seen(escaped), "escapes change what is seen")
  }

  private static func isPlain(_ byte: UInt8) -> Bool {
    (0x21...0x7E).contains(byte) && !"#&+%?=".utf8.contains(byte)
  }

  private static func hex(_ byte: UInt8) -> String {
    "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16)
  }

  private static func checkError(_ text: String, named: Int) {
    let found = IdentityError.problem(inText: text)
    checkForm(found)
    let under = NSError(domain: "a", code: 1, userInfo: [NSLocalizedDescriptionKey: text])
    let over = NSError(domain: "b", code: 2, userInfo: [NSUnderlyingErrorKey: under])
    // Two levels deeper the result is the same, unless that is beyond the bound.
    let nested = IdentityError.problem(in: over)
    checkForm(nested)
    require(
      found == nil || nested == nil || nested == found, "an error is read otherwise than its text")
    let names = ["error", "error_description", "b2c_error_code", "MSALOAuthErrorKey", "x"]
    let coded = NSError(
      domain: "MSALErrorDomain", code: [-50_005, -50_002, 0][named % 3],
      userInfo: [names[named % names.count]: text, "more": [text, ["error": text]]])
    checkForm(IdentityError.problem(in: coded))
  }

  private static func checkToken(_ text: String) {
    do {
      let claims = try IdentityClaims(Secret(text))
      _ = (claims.subject, claims.email, claims.userFlow, claims.time("exp"), claims.flag("a"))
      _ = (claims.texts("a"), claims.texts("a.b.0"), claims.text("a.0"))
      require("\(claims)" == "claims of a token", "claims are shown")
    } catch {
      require(!error.description.isEmpty, "an error without words")
    }
  }
}
