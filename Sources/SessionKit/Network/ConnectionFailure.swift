import Foundation

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// Why `URLSession` brought no response, in a short sentence; tells apart whether the server may have acted.
package enum ConnectionFailure: Error, Hashable {
  /// Certainly nothing was sent.
  case nothingSent(String)
  /// The server's certificate is not trusted, and nothing was sent.
  case notTrusted(String)
  /// It was or may have been sent.
  case mayHaveActed(String)

  /// What is certain only: an error that does not prove that nothing was sent is `mayHaveActed`.
  package init(_ error: any Error, hasAnswer: Bool) {
    guard let code = (error as? URLError)?.code else {
      self = .mayHaveActed("the connection failed")
      return
    }
    if hasAnswer {
      self = .mayHaveActed("the connection ended in the middle of the answer")
      return
    }
    switch code {
    case .cannotFindHost, .dnsLookupFailed:
      self = .nothingSent("the server's name is not found")
    case .cannotConnectToHost:
      self = .nothingSent("the server does not accept connections")
    case .notConnectedToInternet, .dataNotAllowed, .internationalRoamingOff, .callIsActive:
      self = .nothingSent("there is no network")
    case .serverCertificateUntrusted, .serverCertificateHasBadDate,
      .serverCertificateHasUnknownRoot, .serverCertificateNotYetValid:
      self = .notTrusted(ConnectionFailure.untrusted)
    case .unknown where ConnectionFailure.isCertificate(error):
      self = .notTrusted(ConnectionFailure.untrusted)
    case .badURL:
      // Of an address of the right form too, such as one of an IPv6 that the device has not.
      self = .nothingSent("the address cannot be used")
    case .fileDoesNotExist, .fileIsDirectory, .noPermissionsToReadFile:
      self = .nothingSent("the file with the body cannot be read")
    default:
      self = .mayHaveActed(ConnectionFailure.words(code))
    }
  }

  private static let untrusted = "the server's certificate is not trusted"

  /// Whether the certificate is the problem, by the words of curl, which on Linux are all that there is.
  ///
  /// Curl checks it in the handshake, before it sends anything of a request.
  private static func isCertificate(_ error: any Error) -> Bool {
    let words = error.localizedDescription
    return words.hasPrefix("SSL certificate problem")
      || words.hasPrefix("SSL: no alternative certificate subject name")
      || words.hasPrefix("SSL: certificate subject name")
  }

  /// What an error says that leaves it open whether something was sent.
  private static func words(_ code: URLError.Code) -> String {
    switch code {
    case .timedOut: "the server did not answer in time"
    case .networkConnectionLost: "the connection was lost before an answer"
    // The address's protocol is checked before anything is sent; it is the answer's that is not known.
    case .unsupportedURL: "what came is not HTTP"
    case .badServerResponse, .cannotParseResponse, .cannotDecodeRawData, .cannotDecodeContentData:
      "nothing came that can be read"
    case .secureConnectionFailed: "no secure connection came about"
    case .clientCertificateRequired, .clientCertificateRejected:
      "the server asks for a certificate of this device"
    case .appTransportSecurityRequiresSecureConnection:
      "the system does not allow a connection that is not secure"
    case .cancelled: "the system ended the exchange"
    default: "the connection failed"
    }
  }
}
