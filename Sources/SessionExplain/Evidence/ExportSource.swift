@_spi(Internals) package import SessionCore

/// The app and the kind of system of the last opening.
package struct ExportSource: Equatable, Sendable {
  package let app: AppVersion?
  package let platform: Platform?

  package init(app: AppVersion?, platform: Platform?) {
    (self.app, self.platform) = (app, platform)
  }
}
