#if URLSession
package import Foundation

#if canImport(FoundationNetworking)
package import FoundationNetworking
#endif

// What every use of `URLSession` has in common.
extension URLAuthenticationChallenge {
  /// Refuses a server that asks for a name and a password.
  ///
  /// Questions of TLS are left to the system.
  ///
  /// It calls `refused` with the server's response, if the challenge has one. On Linux, a request
  /// whose 401 names a scheme (RFC 9110 §11.6.1) would never end if the challenge were not
  /// answered.
  package func withoutPassword(
    _ refused: (URLResponse?) -> Void
  ) -> URLSession.AuthChallengeDisposition {
    switch protectionSpace.authenticationMethod {
    case NSURLAuthenticationMethodDefault, NSURLAuthenticationMethodHTTPBasic,
      NSURLAuthenticationMethodHTTPDigest:
      refused(failureResponse)
      return .rejectProtectionSpace
    default:
      return .performDefaultHandling
    }
  }
}

extension URLSessionConfiguration {
  /// A configuration that keeps only connections between requests: no cookies, responses or
  /// credentials.
  package static var withoutMemory: URLSessionConfiguration {
    let configuration = URLSessionConfiguration.ephemeral
    configuration.httpCookieStorage = nil
    configuration.httpShouldSetCookies = false
    configuration.httpCookieAcceptPolicy = .never
    configuration.urlCache = nil
    configuration.urlCredentialStorage = nil
    configuration.requestCachePolicy = .reloadIgnoringLocalCacheData
    return configuration
  }
}

extension URL {
  /// The same address with its scheme in lower case.
  ///
  /// Linux does not accept capitals, which RFC 3986 §3.1 allows.
  package var withSmallScheme: URL {
    guard let scheme, scheme != scheme.lowercased(),
      var parts = URLComponents(url: self, resolvingAgainstBaseURL: true)
    else { return self }
    parts.scheme = scheme.lowercased()
    return parts.url ?? self
  }
}
#endif
