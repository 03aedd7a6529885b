import Foundation
package import SessionHTTP
package import SessionKit

extension SessionConfiguration {
  /// The backend as one of HTTP, to change it; one without an address if it is another one.
  package var http: HTTPBackend {
    get { backend as? HTTPBackend ?? HTTPBackend(baseURL: URL(fileURLWithPath: "/")) }
    set { backend = newValue }
  }
}
