/// What a wire's rules look at in an answer.
struct AnswerSigns {
  let status: Int
  /// The server's code, where there is one.
  let code: String?
  private let first: UInt8?
  private let isHTML: Bool

  init(_ response: HTTPResponse, code: String?) {
    status = response.status
    self.code = code
    first = AnswerSigns.first(response.body)
    let type = response.header("Content-Type")?.prefix { $0 != ";" && $0 != " " }.lowercased()
    isHTML = type == "text/html" || type == "application/xhtml+xml"
  }

  func looksLike(_ body: FailureRule.Body) -> Bool {
    switch body {
    case .empty: first == nil
    case .page: first == UInt8(ascii: "<")
    case .html: isHTML && first != nil && first != UInt8(ascii: "{") && first != UInt8(ascii: "[")
    }
  }

  /// The first byte that is neither white space nor of a byte order mark.
  static func first(_ body: [UInt8]) -> UInt8? {
    let bare = body.starts(with: [0xEF, 0xBB, 0xBF]) ? body.dropFirst(3) : body[...]
    return bare.first { !" \n\r\t".utf8.contains($0) }
  }
}
