#if URLSession
import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Why `URLSession` returned no response, as a short sentence.
///
/// The case says whether the server may have acted.
package enum ConnectionFailure: Error, Hashable {
  /// It is certain that nothing was sent.
  case nothingSent(String)
  /// The server's certificate is not trusted, and nothing was sent.
  case notTrusted(String)
  /// The request was sent, or may have been.
  case mayHaveActed(String)

  /// Classifies an error.
  ///
  /// If it does not prove that nothing was sent, the result is `mayHaveActed`.
  package init(_ error: any Error, hasAnswer: Bool) {
    guard let code = (error as? URLError)?.code else {
      self = .mayHaveActed("the connection failed")
      return
    }
    if hasAnswer {
      self = .mayHaveActed("the connection ended in the middle of the response")
      return
    }
    switch code {
    case .cannotFindHost, .dnsLookupFailed:
      self = .nothingSent("the server's name was not found")
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
      // This includes well-formed addresses, such as one of IPv6 on a device without IPv6.
      self = .nothingSent("the address cannot be used")
    case .fileDoesNotExist, .fileIsDirectory, .noPermissionsToReadFile:
      self = .nothingSent("the file with the body cannot be read")
    default:
      self = .mayHaveActed(ConnectionFailure.words(code))
    }
  }

  #if canImport(FoundationNetworking)
  // As seen with swift-corelibs-foundation of Swift 6.3.1.
  private static let untrusted =
    "the server's certificate is not trusted by the system's bundle, the only one that counts: "
    + "SSL_CERT_FILE, SSL_CERT_DIR and CURL_CA_BUNDLE have no effect"
  #else
  private static let untrusted = "the server's certificate is not trusted"
  #endif

  /// Returns whether the certificate is the problem, by the text of curl, the only information on
  /// Linux.
  ///
  /// Curl checks the certificate in the handshake, before it sends any part of a request.
  private static func isCertificate(_ error: any Error) -> Bool {
    let words = error.localizedDescription
    return words.hasPrefix("SSL certificate problem")
      || words.hasPrefix("SSL: no alternative certificate subject name")
      || words.hasPrefix("SSL: certificate subject name")
  }

  /// Returns a text for an error that does not show whether something was sent.
  private static func words(_ code: URLError.Code) -> String {
    switch code {
    case .timedOut: "the server did not answer in time"
    case .networkConnectionLost: "the connection was lost before the response"
    // The request's URL scheme is checked before anything is sent. This is the unknown protocol of
    // the response.
    case .unsupportedURL: "the response is not HTTP"
    case .badServerResponse, .cannotParseResponse, .cannotDecodeRawData, .cannotDecodeContentData:
      "the response cannot be read"
    case .secureConnectionFailed: "no secure connection was established"
    case .clientCertificateRequired, .clientCertificateRejected:
      "the server asks for a client certificate"
    case .appTransportSecurityRequiresSecureConnection:
      "the system does not allow an insecure connection"
    case .cancelled: "the system cancelled the request"
    default: "the connection failed"
    }
  }
}

extension SessionError {
  /// Creates the error of a call to which `URLSession` returned no response.
  init(connection failure: ConnectionFailure) {
    switch failure {
    case .nothingSent(let reason): self = .noConnection(reason)
    case .notTrusted(let reason): self = .notTrusted(reason)
    case .mayHaveActed(let reason): self = .noReply(reason)
    }
  }
}
#endif
