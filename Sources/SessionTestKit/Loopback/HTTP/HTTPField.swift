/// One header field of an HTTP message; its name is stored in lower case (RFC 9110 §5.1).
package struct HTTPField: Sendable, Equatable {
  package let name: String
  package let value: String

  package init(_ name: String, _ value: String) {
    self.name = name.lowercased()
    self.value = value
  }
}

extension [HTTPField] {
  /// Returns all values of the named field, in order of arrival.
  package func values(of name: String) -> [String] {
    filter { $0.name == name }.map(\.value)
  }

  /// Returns the comma-separated members of the named field, in lower case (RFC 9110 §5.6.1).
  package func tokens(of name: String) -> [String] {
    values(of: name)
      .flatMap { $0.split(separator: ",") }
      .map { member in
        let bare = member.drop { $0 == " " || $0 == "\t" }
        return bare.prefix { $0 != " " && $0 != "\t" }.lowercased()
      }
  }
}
