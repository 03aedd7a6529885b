package import Foundation

extension URL {
  package var isWeb: Bool {
    let scheme = scheme?.lowercased()
    return (scheme == "https" || scheme == "http") && host?.isEmpty == false
  }

  /// Whether data sent to the address cannot be read on the way: it uses HTTPS, or is this machine
  /// itself.
  package var isSecure: Bool {
    guard isWeb, let host = host?.lowercased() else { return false }
    return scheme?.lowercased() == "https" || host == "localhost" || host == "::1"
      || host == "[::1]" || URL.isLoopbackIPv4(host)
  }

  /// Returns whether the host is four numbers of which the first is 127.
  ///
  /// A shorter spelling is not accepted.
  private static func isLoopbackIPv4(_ host: String) -> Bool {
    let parts = host.split(separator: ".", omittingEmptySubsequences: false)
    return parts.count == 4 && parts[0] == "127"
      && parts.allSatisfy { part in
        part.utf8.allSatisfy { (48...57).contains($0) } && UInt8(part) != nil
      }
  }
}
