// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation, AlwaysUseLowerCamelCase

// The part of Apple's AuthenticationServices that SessionWebSignIn uses, as its headers declare it.
@_exported import Foundation

#if canImport(UIKit)
@_exported import UIKit

public typealias ASPresentationAnchor = UIWindow
#else
@_exported import AppKit

public typealias ASPresentationAnchor = NSWindow
#endif

@MainActor
public protocol ASWebAuthenticationPresentationContextProviding: AnyObject {
  func presentationAnchor(for session: ASWebAuthenticationSession) -> ASPresentationAnchor
}

open class ASWebAuthenticationSession: NSObject {
  public typealias CompletionHandler = (URL?, (any Error)?) -> Void

  public final class Callback: NSObject {
    public class func customScheme(_ customScheme: String) -> Callback { Callback() }
    public class func https(host: String, path: String) -> Callback { Callback() }
  }

  public init(
    url: URL, callback: Callback, completionHandler: @escaping CompletionHandler
  ) {}

  public weak var presentationContextProvider:
    (any ASWebAuthenticationPresentationContextProviding)?
  public var prefersEphemeralWebBrowserSession = false
  public func start() -> Bool { false }
  public func cancel() {}
}
