@_spi(Internals) import SessionCore
import SessionKit

/// The parts of a response that a backend's rules examine.
struct AnswerSigns {
  let status: Int
  /// The server's code, if there is one.
  let code: String?
  /// The meaning of the code, if it is known.
  let meaning: ErrorMeaning?
  /// Whether the configuration names the code.
  let isNamed: Bool
  private let first: UInt8?
  private let isHTML: Bool

  init(
    _ response: HTTPResponse, code: String?, meaning: ErrorMeaning? = nil, isNamed: Bool = false
  ) {
    status = response.status
    (self.code, self.meaning, self.isNamed) = (code, meaning, isNamed)
    first = JSONMembers.firstByte(of: response.body)
    let type = response.header("Content-Type")?.prefix { $0 != ";" && $0 != " " }.lowercased()
    isHTML = type == "text/html" || type == "application/xhtml+xml"
  }

  func looksLike(_ body: FailureRule.Body) -> Bool {
    switch body {
    case .empty: first == nil
    case .page: first == UInt8(ascii: "<")
    case .html: isHTML && isText
    case .text: isText && !hasKnownCode
    case .uncoded: !hasKnownCode
    }
  }

  /// Whether the body is neither empty nor an object or array of JSON.
  private var isText: Bool {
    first != nil && first != UInt8(ascii: "{") && first != UInt8(ascii: "[")
  }

  /// Whether there is a code that is kept.
  private var hasKnownCode: Bool {
    code.map { isNamed || RequestFailure.keeps($0) } == true
  }
}
